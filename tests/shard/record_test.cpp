#include "core/shard/record.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/base/damage.hpp"
#include "tests/lsm/changed_rows_of.hpp"
#include "tests/shard/owner.hpp"

namespace morula {
namespace {

const StreamId kStream{1, 2};

std::vector<Row> sample() {
  const Generation generation(3);
  return {
      {Tree::kMeta, row_key::meta(kStream, generation, RowKind::kHot), ChangeNumber(4), false, "v"},
      {Tree::kMeta, row_key::meta(kStream, generation, RowKind::kProducer, "p"), ChangeNumber(4),
       true, ""},
      {Tree::kData, row_key::data(kStream, generation, Offset{5, 6}), ChangeNumber(300), false,
       std::string(200, 'x')},
  };
}

std::string record_of(const std::vector<Row>& rows) {
  std::string record;
  encode_record(kStream, changed_rows_of(rows), record);
  return record;
}

RC_GTEST_PROP(Record, ReadsBackAndRefusesEveryTruncation, ()) {
  const StreamId id{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()};
  std::vector<Row> rows;
  const auto count = *rc::gen::inRange<uint64_t>(0, 5);
  for (uint64_t i = 0; i < count; ++i) {
    rows.push_back(i % 2 == 0 ? hot(id, i + 1, i, *rc::gen::arbitrary<std::string>())
                              : data(id, i + 1, i, i * 1000));
    rows.back().deleted = *rc::gen::arbitrary<bool>();
  }
  std::string payload;
  encode_record(id, changed_rows_of(rows), payload);
  const auto read = decode_record(id, payload);
  RC_ASSERT(read.has_value());
  std::string again;
  encode_record(id, changed_rows_of(*read), again);
  RC_ASSERT(again == payload);
  for (size_t cut = 0; cut < payload.size(); ++cut) {
    RC_ASSERT(!decode_record(id, std::string_view(payload).substr(0, cut)).has_value());
  }
}

TEST(Record, IsReadBack) {
  const std::string record = record_of(sample());
  const auto read = decode_record(kStream, record);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Row written = sample()[i];
    EXPECT_EQ((*read)[i].tree, written.tree);
    EXPECT_EQ((*read)[i].key, written.key);
    EXPECT_EQ((*read)[i].change, written.change);
    EXPECT_EQ((*read)[i].deleted, written.deleted);
    EXPECT_EQ((*read)[i].value, written.value);
  }
}

TEST(Record, DamageIsRefusedOrHarmless) {
  with_damage(record_of(sample()), 20'000, [](const std::string& wrong) {
    const auto read = decode_record(kStream, wrong);
    if (read) {
      EXPECT_EQ(record_of(*read), wrong);
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    }
  });
}

}  // namespace
}  // namespace morula
