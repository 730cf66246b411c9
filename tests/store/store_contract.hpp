// What every Store promises (core/rt/store.hpp), as one suite. Each store's test file includes this
// and instantiates it:
//
//     INSTANTIATE_TEST_SUITE_P(Directory, StoreContract, testing::Values(&make_directory_bench));
//
// A bench gives an empty store without faults, and fibers to call it in.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/rt/env.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/store.hpp"

namespace morula {

class StoreBench {
 public:
  using Body = std::function<void(Store& store, Domain& domain)>;
  virtual ~StoreBench() = default;
  /// Runs `body` in a fiber to its end.
  virtual void run(const Body& body) = 0;
};

using MakeStoreBench = std::unique_ptr<StoreBench> (*)();

class StoreContract : public testing::TestWithParam<MakeStoreBench> {
 protected:
  void with_store(const StoreBench::Body& body) { GetParam()()->run(body); }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

namespace store_contract {

inline const RequestOptions kOptions;

inline Result<Etag> create(Store& store, std::string_view key, std::string body) {
  return store.put(key, make_blob(std::move(body)), Precondition::if_absent(), kOptions);
}

inline Result<Etag> swap(Store& store, std::string_view key, std::string body, const Etag& base) {
  return store.put(key, make_blob(std::move(body)), Precondition::if_match(base), kOptions);
}

/// The content, or the error's name in angle brackets.
inline std::string read(Store& store, std::string_view key,
                        std::optional<ByteRange> range = std::nullopt) {
  const auto object = store.get(key, range, kOptions);
  return object ? *object->body : "<" + std::string(to_string(object.error().code)) + ">";
}

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "none" : std::string(to_string(result.error().code));
}

/// "key:size" of each object, and "..." when there are more.
inline std::vector<std::string> list(Store& store, std::string_view prefix,
                                     std::string_view start_after = "", size_t limit = 1000) {
  const auto listing = store.list(prefix, start_after, limit, kOptions);
  if (!listing) return {"<" + error_of(listing) + ">"};
  std::vector<std::string> shown;
  for (const ObjectInfo& object : listing->objects) {
    shown.push_back(object.key + ":" + std::to_string(object.size));
  }
  if (listing->truncated) shown.push_back("...");
  return shown;
}

using Strings = std::vector<std::string>;

}  // namespace store_contract

TEST_P(StoreContract, CreatedObjectIsReadBackByteForByte) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    std::string body;
    for (int i = 0; i < 3'000'000; ++i) body.push_back(static_cast<char>(i * 7 + i / 256));
    const auto etag = create(store, "a/b", body);
    ASSERT_TRUE(etag) << etag.error().message;
    const auto object = store.get("a/b", std::nullopt, kOptions);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_TRUE(*object->body == body);
    EXPECT_EQ(object->etag, *etag);
    EXPECT_EQ(store.head("a/b", kOptions)->size, body.size());
  });
}

TEST_P(StoreContract, ObjectMayBeEmpty) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    ASSERT_TRUE(create(store, "empty", ""));
    EXPECT_EQ(read(store, "empty"), "");
    EXPECT_EQ(read(store, "empty", ByteRange{0, 10}), "");
    EXPECT_EQ(store.head("empty", kOptions)->size, 0u);
    EXPECT_EQ(list(store, ""), Strings{"empty:0"});
  });
}

TEST_P(StoreContract, SecondCreateFailsAndChangesNothing) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    const auto etag = create(store, "k", "first");
    EXPECT_EQ(error_of(create(store, "k", "second")), "precondition_failed");
    EXPECT_EQ(error_of(create(store, "k", "first")), "precondition_failed");
    EXPECT_EQ(read(store, "k"), "first");
    EXPECT_EQ(store.get("k", std::nullopt, kOptions)->etag, *etag);
  });
}

TEST_P(StoreContract, WhatIsAbsentIsNotFound) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    ASSERT_TRUE(create(store, "a/b", "x"));
    for (const char* key : {"k", "a", "a/", "a/c", "a/b/c", "a/bb"}) {
      const auto got = store.get(key, std::nullopt, kOptions);
      EXPECT_TRUE(error_of(got) == "not_found" || error_of(got) == "invalid") << key;
    }
    EXPECT_EQ(read(store, "k"), "<not_found>");
    EXPECT_EQ(read(store, "a/c"), "<not_found>");
    EXPECT_EQ(error_of(store.head("k", kOptions)), "not_found");
    EXPECT_EQ(error_of(swap(store, "k", "new", "no-etag")), "not_found");
    EXPECT_EQ(read(store, "k"), "<not_found>");
  });
}

TEST_P(StoreContract, SwapNeedsTheEtagOfWhatLiesThere) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    const Etag first = *create(store, "k", "1");
    EXPECT_EQ(error_of(swap(store, "k", "x", "no-etag")), "precondition_failed");
    const auto second = swap(store, "k", "22", first);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_NE(*second, first);
    EXPECT_EQ(read(store, "k"), "22");
    EXPECT_EQ(error_of(swap(store, "k", "x", first)), "precondition_failed");
    const auto third = swap(store, "k", "333", *second);
    ASSERT_TRUE(third);
    EXPECT_EQ(error_of(swap(store, "k", "x", first)), "precondition_failed");
    EXPECT_EQ(error_of(swap(store, "k", "x", *second)), "precondition_failed");
    EXPECT_EQ(read(store, "k"), "333");
    EXPECT_EQ(store.get("k", std::nullopt, kOptions)->etag, *third);
    EXPECT_EQ(store.head("k", kOptions)->size, 3u);
  });
}

TEST_P(StoreContract, CreateFailsOnASwappedObject) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    Etag etag = *create(store, "k", "0");
    for (int i = 1; i <= 20; ++i) {
      etag = *swap(store, "k", std::to_string(i), etag);
      EXPECT_EQ(error_of(create(store, "k", "x")), "precondition_failed");
      EXPECT_EQ(read(store, "k"), std::to_string(i));
    }
    EXPECT_EQ(list(store, ""), Strings{"k:2"});
  });
}

TEST_P(StoreContract, PutWithoutConditionReplacesWhateverIsThere) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    for (const char* body : {"a", "bb", "ccc"}) {
      const auto etag = store.put("k", make_blob(body), Precondition::none(), kOptions);
      ASSERT_TRUE(etag) << etag.error().message;
      EXPECT_EQ(read(store, "k"), body);
      EXPECT_EQ(store.get("k", std::nullopt, kOptions)->etag, *etag);
    }
  });
}

TEST_P(StoreContract, RangeIsCutAtTheEndAndRefusedBeyond) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    const Etag etag = *create(store, "k", "0123456789");
    EXPECT_EQ(read(store, "k", ByteRange{0, 4}), "0123");
    EXPECT_EQ(read(store, "k", ByteRange{3, 4}), "3456");
    EXPECT_EQ(read(store, "k", ByteRange{9, 1}), "9");
    EXPECT_EQ(read(store, "k", ByteRange{8, 100}), "89");
    EXPECT_EQ(read(store, "k", ByteRange{10, 1}), "<invalid>");
    EXPECT_EQ(read(store, "k", ByteRange{1000, 1}), "<invalid>");
    EXPECT_EQ(read(store, "absent", ByteRange{0, 1}), "<not_found>");
    EXPECT_EQ(store.get("k", ByteRange{3, 4}, kOptions)->etag, etag);
    ASSERT_TRUE(swap(store, "k", "abc", etag));
    EXPECT_EQ(read(store, "k", ByteRange{1, 100}), "bc");
  });
}

TEST_P(StoreContract, RemovedObjectIsGoneAndItsKeyIsFree) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    ASSERT_TRUE(create(store, "a/k", "1"));
    ASSERT_TRUE(create(store, "a/l", "1"));
    EXPECT_TRUE(store.remove("a/k", kOptions));
    EXPECT_EQ(read(store, "a/k"), "<not_found>");
    EXPECT_EQ(list(store, ""), Strings{"a/l:1"});
    EXPECT_TRUE(store.remove("a/k", kOptions));
    EXPECT_TRUE(store.remove("never/was", kOptions));
    ASSERT_TRUE(create(store, "a/k", "22"));
    EXPECT_EQ(read(store, "a/k"), "22");
  });
}

TEST_P(StoreContract, RemovedSwappedObjectIsGoneWithAllItsPast) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    const Etag first = *create(store, "k", "1");
    const Etag second = *swap(store, "k", "2", first);
    EXPECT_TRUE(store.remove("k", kOptions));
    EXPECT_EQ(read(store, "k"), "<not_found>");
    EXPECT_EQ(list(store, ""), Strings{});
    EXPECT_EQ(error_of(swap(store, "k", "x", second)), "not_found");
    const auto again = create(store, "k", "new");
    ASSERT_TRUE(again);
    EXPECT_EQ(error_of(swap(store, "k", "x", first)), "precondition_failed");
    EXPECT_EQ(error_of(swap(store, "k", "x", second)), "precondition_failed");
    ASSERT_TRUE(swap(store, "k", "newer", *again));
    EXPECT_EQ(read(store, "k"), "newer");
  });
}

TEST_P(StoreContract, ManyAreRemovedAtOnce) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    if (!store.abilities().batch_remove) return;
    Strings keys;
    for (int i = 0; i < 25; ++i) {
      keys.push_back("log/" + std::to_string(100 + i));
      ASSERT_TRUE(create(store, keys.back(), "x"));
    }
    ASSERT_TRUE(create(store, "log/200", "stays"));
    keys.push_back("log/absent");
    EXPECT_TRUE(store.remove_many(keys, kOptions));
    EXPECT_EQ(list(store, ""), Strings{"log/200:5"});
    EXPECT_TRUE(store.remove_many({}, kOptions));
  });
}

TEST_P(StoreContract, ListsInBytewiseOrderOfWholeKeys) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    // '-' < '.' < '/' < '0' < 'A' < '_' < 'a': folders lie between files.
    const Strings sorted = {"a-b", "a.json", "a/-", "a/b/c", "a/b0", "a/c", "a0", "aA", "a_", "ab"};
    for (size_t i = 0; i < sorted.size(); ++i) {
      ASSERT_TRUE(create(store, sorted[(i * 7 + 3) % sorted.size()], ""));
    }
    Strings expected;
    for (const std::string& key : sorted) expected.push_back(key + ":0");
    EXPECT_EQ(list(store, ""), expected);
    EXPECT_EQ(list(store, "a/"), (Strings{"a/-:0", "a/b/c:0", "a/b0:0", "a/c:0"}));
    EXPECT_EQ(list(store, "a/b"), (Strings{"a/b/c:0", "a/b0:0"}));
    EXPECT_EQ(list(store, "a/b/"), Strings{"a/b/c:0"});
    EXPECT_EQ(list(store, "a/b/c"), Strings{"a/b/c:0"});
    EXPECT_EQ(list(store, "a/b/cc"), Strings{});
    EXPECT_EQ(list(store, "x/"), Strings{});
    EXPECT_EQ(list(store, "", "a/b/"),
              (Strings{"a/b/c:0", "a/b0:0", "a/c:0", "a0:0", "aA:0", "a_:0", "ab:0"}));
    EXPECT_EQ(list(store, "a/", "a/b/c"), (Strings{"a/b0:0", "a/c:0"}));
    EXPECT_EQ(list(store, "a/", "zzz"), Strings{});
    EXPECT_EQ(list(store, "a/", "A"), list(store, "a/"));
  });
}

TEST_P(StoreContract, ListingsAndHeadsTellTheEtagThatAGetGives) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    auto etag = create(store, "members/a.json", "one");
    ASSERT_TRUE(etag);
    for (const char* next : {"", "two", "three"}) {
      if (*next != 0) etag = swap(store, "members/a.json", next, *etag);
      ASSERT_TRUE(etag);
      const auto listing = store.list("members/", "", 10, kOptions);
      ASSERT_TRUE(listing);
      ASSERT_EQ(listing->objects.size(), 1u);
      const auto head = store.head("members/a.json", kOptions);
      ASSERT_TRUE(head);
      // A store that doesn't tell leaves them empty.
      for (const ObjectInfo& told : {listing->objects[0], *head}) {
        EXPECT_TRUE(told.etag.empty() || told.etag == *etag) << told.etag;
        EXPECT_TRUE(!told.modified || told.modified->ms > 1'500'000'000'000);
      }
    }
  });
}

TEST_P(StoreContract, PagesOfAnyLengthAddUpToTheWholeList) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    Strings keys;
    for (int i = 0; i < 23; ++i) {
      keys.push_back("log/" + std::to_string(i % 3) + "/" + std::to_string(100 + i));
      ASSERT_TRUE(create(store, keys.back(), "x"));
    }
    std::sort(keys.begin(), keys.end());
    for (const size_t limit : {1u, 2u, 7u, 22u, 23u, 24u}) {
      Strings seen;
      for (bool more = true; more;) {
        const auto page = store.list("log/", seen.empty() ? "" : seen.back(), limit, kOptions);
        ASSERT_TRUE(page);
        ASSERT_LE(page->objects.size(), limit);
        ASSERT_TRUE(!page->truncated || !page->objects.empty());
        for (const ObjectInfo& object : page->objects) seen.push_back(object.key);
        more = page->truncated;
      }
      EXPECT_EQ(seen, keys) << limit;
    }
    EXPECT_EQ(list(store, "log/1/", "", 2), (Strings{"log/1/101:1", "log/1/104:1", "..."}));
  });
}

TEST_P(StoreContract, KeysOfTheBucketAndOddOnesAreToldApart) {
  with_store([](Store& store, Domain&) {
    using namespace store_contract;
    Strings keys = {"cell.json",
                    "members/node-1.json",
                    "log/node-1-0000000000000G000000000002/00000000000000000017",
                    "shards/root/0-1-00000000000000000000000005.manifest",
                    "x/..",
                    "x/.",
                    "x/...",
                    "x/.hidden",
                    "x/a b",
                    "x/a%20b",
                    "x/a@",
                    "x/@tmp",
                    "x/\xc3\xa4",
                    "x/A",
                    "x/a",
                    "x/a\\b",
                    "x/a:b",
                    "x/*"};
    for (const std::string& key : keys) ASSERT_TRUE(create(store, key, key)) << key;
    for (const std::string& key : keys) EXPECT_EQ(read(store, key), key);
    std::sort(keys.begin(), keys.end());
    Strings expected;
    for (const std::string& key : keys) expected.push_back(key + ":" + std::to_string(key.size()));
    EXPECT_EQ(list(store, ""), expected);
    for (const std::string& key : keys) {
      const auto object = store.get(key, std::nullopt, kOptions);
      ASSERT_TRUE(swap(store, key, key + "!", object->etag)) << key;
    }
    for (const std::string& key : keys) EXPECT_EQ(read(store, key), key + "!");
  });
}

namespace store_contract {

/// A put that ended with its outcome unknown is repeated until it is known, as core does it: some
/// stores answer 409 or 500 to who has lost a race. True
/// when it landed, or when what lies there is its own.
inline bool lands(Store& store, const std::string& key, const std::string& body,
                  const Precondition& precondition) {
  for (;;) {
    const auto put = store.put(key, make_blob(body), precondition, kOptions);
    if (put) return true;
    const ErrorCode code = put.error().code;
    if (code == ErrorCode::kPreconditionFailed) return read(store, key) == body;
    EXPECT_TRUE(outcome_unknown(code)) << put.error().message;
    if (!outcome_unknown(code)) return false;
  }
}

}  // namespace store_contract

TEST_P(StoreContract, OneOfManyFibersCreates) {
  with_store([](Store& store, Domain& domain) {
    using namespace store_contract;
    for (int round = 0; round < 10; ++round) {
      const std::string key = "k" + std::to_string(round);
      Strings winners;
      with_scope(domain, [&](Scope& scope) {
        for (int i = 0; i < 16; ++i) {
          scope.spawn("racer", [&, i] {
            const std::string name = std::to_string(i);
            if (lands(store, key, name, Precondition::if_absent())) winners.push_back(name);
          });
        }
        scope.join();
      });
      ASSERT_EQ(winners.size(), 1u);
      EXPECT_EQ(read(store, key), winners.front());
    }
  });
}

TEST_P(StoreContract, CountingFibersLoseNoSwap) {
  with_store([](Store& store, Domain& domain) {
    using namespace store_contract;
    constexpr size_t kFibers = 8;
    constexpr int kSwapsEach = 5;
    // Each fiber counts in a place of its own, so that the content tells whose swaps have landed.
    ASSERT_TRUE(create(store, "count", std::string(kFibers, '0')));
    with_scope(domain, [&](Scope& scope) {
      for (size_t i = 0; i < kFibers; ++i) {
        scope.spawn("counter", [&, i] {
          for (int done = 0; done < kSwapsEach;) {
            const auto object = store.get("count", std::nullopt, kOptions);
            ASSERT_TRUE(object) << object.error().message;
            ASSERT_EQ((*object->body)[i], static_cast<char>('0' + done)) << "lost, or done twice";
            std::string next = *object->body;
            ++next[i];
            (void)lands(store, "count", next, Precondition::if_match(object->etag));
            const std::string now = read(store, "count");
            ASSERT_EQ(now.size(), kFibers) << now;
            done = now[i] - '0';
          }
        });
      }
      scope.join();
    });
    EXPECT_EQ(read(store, "count"), std::string(kFibers, '0' + kSwapsEach));
  });
}

namespace store_contract {

/// The store beside a model that is a map; etags are the model's handle on earlier versions.
class ModelRun {
 public:
  explicit ModelRun(Store& store) : store_(store) {}

  void step() {
    // Few keys, so that they meet; nested ones and neighbours in the order.
    static const Strings kKeys = {"a", "b/1", "b/2", "b-", "c/d/e"};
    const std::string key = *rc::gen::elementOf(kKeys);
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        put(key, create(store_, key, body()), !model_.contains(key), "precondition_failed");
        break;
      case 1: {
        const Etag base = *rc::gen::elementOf(etags_);
        const bool holds = model_.contains(key) && model_[key].etag == base;
        put(key, swap(store_, key, body(), base), holds,
            model_.contains(key) ? "precondition_failed" : "not_found");
        break;
      }
      case 2:
        if (model_.contains(key)) {
          put(key, swap(store_, key, body(), model_[key].etag), true, "");
        }
        break;
      case 3:
        RC_ASSERT(store_.remove(key, kOptions).has_value());
        model_.erase(key);
        break;
      case 4:
        RC_ASSERT(read(store_, key) == (model_.contains(key) ? model_[key].body : "<not_found>"));
        break;
      case 5:
        check_list(*rc::gen::elementOf(Strings{"", "b", "b/", "c/d"}),
                   *rc::gen::elementOf(Strings{"", "a", "b-", "b/1", "b/z"}));
        break;
    }
  }

 private:
  struct Entry {
    std::string body;
    Etag etag;
  };

  std::string body() { return "content " + std::to_string(++bodies_); }

  void put(const std::string& key, const Result<Etag>& outcome, bool expected,
           const std::string& error) {
    if (expected) {
      RC_ASSERT(outcome.has_value());
      RC_ASSERT(std::find(etags_.begin(), etags_.end(), *outcome) == etags_.end());
      model_[key] = {"content " + std::to_string(bodies_), *outcome};
      etags_.push_back(*outcome);
    } else {
      RC_ASSERT(error_of(outcome) == error);
    }
  }

  void check_list(const std::string& prefix, const std::string& start_after) {
    Strings expected;
    for (const auto& [key, entry] : model_) {
      if (key.starts_with(prefix) && key > start_after) {
        expected.push_back(key + ":" + std::to_string(entry.body.size()));
      }
    }
    RC_ASSERT(list(store_, prefix, start_after) == expected);
  }

  Store& store_;
  std::map<std::string, Entry> model_;
  Strings etags_ = {"none"};
  int bodies_ = 0;
};

}  // namespace store_contract

TEST_P(StoreContract, BehavesAsAMapWithEtags) {
  const bool held = rc::check([this] {
    const int steps = *rc::gen::inRange(1, 60);
    std::exception_ptr thrown;
    with_store([&](Store& store, Domain&) {
      try {
        store_contract::ModelRun run(store);
        for (int i = 0; i < steps; ++i) run.step();
      } catch (const rc::detail::CaseResult&) {
        thrown = std::current_exception();  // a failed assertion, told outside the fiber
      }
    });
    if (thrown) std::rethrow_exception(thrown);
  });
  EXPECT_TRUE(held);
}

}  // namespace morula
