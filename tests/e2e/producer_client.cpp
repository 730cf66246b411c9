// A client that can tell what a cell has promised: idempotent producers that repeat each record
// until it is acknowledged, whoever dies meanwhile, and a reader that then accounts for every one.
//
//   producer_client run --url URL... --journal FILE [--stream NAME] [--streams N] [--producers N]
//                       [--seconds S]
//       Produces until S seconds are over or SIGTERM arrives, writes what was acknowledged to FILE,
//       and verifies. Asks all URLs in turn.
//   producer_client verify --url URL... --journal FILE
//       Verifies again what FILE says was acknowledged.
//
// Verified: each acknowledged record is read exactly once; those of a producer in order; at most
// one more of each producer, the one under way at the end; nothing else. While it runs: no answer
// shows a tail below one that was acknowledged before the question was asked.
//
// The last line is `ok ...` or `WRONG ...`; exit code 0 or 1.
#include <curl/curl.h>
#include <signal.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Longer than an append takes on a busy machine; some of the time, nobody answers.
constexpr long kAttemptMs = 700;
constexpr auto kPause = milliseconds(20);
constexpr auto kLastRecordPatience = std::chrono::seconds(60);

std::atomic<bool> stopping = false;

struct Settings {
  std::vector<std::string> urls;
  std::string journal;
  std::string stream = "e2e";
  int streams = 3;
  int producers = 6;
  int seconds = 0;  // 0: until SIGTERM
};

/// What went wrong, for all threads; the first few are printed.
class Wrongs {
 public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (++count_ <= 10) std::printf("wrong: %s\n", what.c_str());
  }
  int count() const { return count_; }

 private:
  std::mutex mutex_;
  int count_ = 0;
};

struct Answer {
  long status = 0;  // 0: none came
  int sent = 0;     // curl repeats a request by itself when a kept connection was closed
  std::string next_offset;
  std::string up_to_date;
  std::string body;
};

/// One connection after another to the cell's instances.
class Caller {
 public:
  explicit Caller(const std::vector<std::string>& urls) : urls_(urls), easy_(curl_easy_init()) {}
  ~Caller() { curl_easy_cleanup(easy_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void next_url() { ++url_; }

  Answer call(const std::string& method, const std::string& target,
              const std::vector<std::string>& headers, const std::string* body) {
    Answer answer;
    curl_easy_reset(easy_);
    const std::string url = urls_[url_ % urls_.size()] + target;
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");
    curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, kAttemptMs);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, &answer);
    curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &on_send);
    curl_easy_setopt(easy_, CURLOPT_PREREQDATA, &answer);
    curl_slist* list = curl_slist_append(nullptr, "Expect:");
    for (const std::string& header : headers) list = curl_slist_append(list, header.c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, list);
    if (method == "HEAD") {
      curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
    } else if (body != nullptr) {
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body->data());
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body->size()));
    }
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method.c_str());
    if (curl_easy_perform(easy_) == CURLE_OK) {
      curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer.status);
    }
    curl_slist_free_all(list);
    return answer;
  }

 private:
  static size_t on_body(char* data, size_t, size_t size, void* answer) {
    static_cast<Answer*>(answer)->body.append(data, size);
    return size;
  }
  static int on_send(void* answer, char*, char*, int, int) {
    ++static_cast<Answer*>(answer)->sent;
    return CURL_PREREQFUNC_OK;
  }
  static size_t on_header(char* data, size_t, size_t size, void* context) {
    auto& answer = *static_cast<Answer*>(context);
    std::string line(data, size);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.pop_back();
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) return size;
    const std::string name = line.substr(0, colon);
    if (::strcasecmp(name.c_str(), "Stream-Next-Offset") == 0) {
      answer.next_offset = line.substr(colon + 2);
    }
    if (::strcasecmp(name.c_str(), "Stream-Up-To-Date") == 0) {
      answer.up_to_date = line.substr(colon + 2);
    }
    return size;
  }

  const std::vector<std::string>& urls_;
  size_t url_ = 0;
  CURL* easy_;
};

std::string path_of(const std::string& stream) {
  return "/v1/stream/" + stream;
}

/// The longest time in which nobody was acknowledged anything.
class Gap {
 public:
  void acknowledged() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (counted_++ > 0 && now - last_ > longest_) longest_ = now - last_;
    last_ = now;
  }
  long longest_ms() const { return std::chrono::duration_cast<milliseconds>(longest_).count(); }

 private:
  std::mutex mutex_;
  Clock::time_point last_;
  Clock::duration longest_{};
  long counted_ = 0;
};

/// One producer: its records are "<id> <seq>\n" with seq 0, 1, 2, ...
struct Producer {
  int id = 0;
  std::string stream;
  long acknowledged = 0;  // records 0 to this - 1
  bool one_more = false;  // the next may have been carried out
  long attempts = 0;
  long duplicates = 0;
};

/// Asks somebody, perhaps somebody else, for the tail; it may not be below `least`.
void check_tail(Caller& caller, const Producer& producer, const std::string& least,
                std::mt19937& random, Wrongs& wrongs) {
  if (random() % 2 == 0) caller.next_url();
  const Answer head = caller.call("HEAD", path_of(producer.stream), {}, nullptr);
  if (head.status == 200 && head.next_offset < least) {
    wrongs.add("stale read of " + producer.stream + ": " + head.next_offset + " after " + least +
               " was acknowledged");
  }
  if (head.status == 404) wrongs.add(producer.stream + " is not there");
}

/// Repeats record `seq` until it is acknowledged; false when that did not happen in time.
bool produce_one(Caller& caller, Producer& producer, std::mt19937& random, Wrongs& wrongs) {
  const long seq = producer.acknowledged;
  const std::string body = std::to_string(producer.id) + " " + std::to_string(seq) + "\n";
  const std::vector<std::string> headers = {
      "Content-Type: text/plain", "Producer-Id: producer-" + std::to_string(producer.id),
      "Producer-Epoch: 0", "Producer-Seq: " + std::to_string(seq)};
  const auto give_up = Clock::now() + kLastRecordPatience;
  for (bool unknown = false;;) {
    ++producer.attempts;
    const Answer answer = caller.call("POST", path_of(producer.stream), headers, &body);
    if (answer.status == 200 || answer.status == 204) {
      if (answer.status == 204) {
        ++producer.duplicates;
        if (!unknown && answer.sent == 1)
          wrongs.add("a record that was sent once is called a duplicate");
      }
      ++producer.acknowledged;
      if (random() % 4 == 0 && !answer.next_offset.empty()) {
        check_tail(caller, producer, answer.next_offset, random, wrongs);
      }
      return true;
    }
    if (answer.status >= 400 && answer.status < 500) {
      wrongs.add("append answered " + std::to_string(answer.status) + ": " + answer.body);
      return false;
    }
    // No answer, or one that leaves it open: perhaps it was carried out.
    unknown = true;
    producer.one_more = true;
    if (Clock::now() > give_up) return false;
    caller.next_url();
    std::this_thread::sleep_for(kPause);
  }
}

void produce(const Settings& settings, Producer& producer, Gap& gap, Wrongs& wrongs) {
  Caller caller(settings.urls);
  std::mt19937 random(static_cast<unsigned>(producer.id));
  for (int i = 0; i < producer.id; ++i) caller.next_url();
  while (!stopping) {
    producer.one_more = false;
    if (!produce_one(caller, producer, random, wrongs)) return;
    gap.acknowledged();
  }
  producer.one_more = false;
}

bool create_stream(const Settings& settings, const std::string& stream) {
  Caller caller(settings.urls);
  const auto give_up = Clock::now() + kLastRecordPatience;
  while (Clock::now() < give_up) {
    const Answer answer =
        caller.call("PUT", path_of(stream), {"Content-Type: text/plain"}, nullptr);
    if (answer.status == 201 || answer.status == 200) return true;
    caller.next_url();
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

/// The whole stream, from its start to where it is up to date.
bool read_stream(const Settings& settings, const std::string& stream, std::string& content) {
  Caller caller(settings.urls);
  std::string offset = "-1";
  const auto give_up = Clock::now() + kLastRecordPatience;
  while (Clock::now() < give_up) {
    const Answer answer = caller.call("GET", path_of(stream) + "?offset=" + offset, {}, nullptr);
    if (answer.status != 200 || answer.next_offset.empty()) {
      caller.next_url();
      std::this_thread::sleep_for(kPause);
      continue;
    }
    content += answer.body;
    offset = answer.next_offset;
    if (answer.up_to_date == "true") return true;
  }
  return false;
}

void verify_stream(const Settings& settings, const std::string& stream,
                   const std::vector<Producer>& producers, Wrongs& wrongs) {
  std::string content;
  if (!read_stream(settings, stream, content)) return wrongs.add(stream + " can't be read");
  std::map<int, long> next;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    int id = -1;
    long seq = -1;
    if (std::sscanf(line.c_str(), "%d %ld", &id, &seq) != 2) {
      wrongs.add(stream + " holds \"" + line + "\", which nobody wrote");
    } else if (seq != next[id]) {
      wrongs.add(stream + ": producer " + std::to_string(id) + " has record " +
                 std::to_string(seq) + " where " + std::to_string(next[id]) + " belongs");
      next[id] = seq + 1;
    } else {
      ++next[id];
    }
  }
  for (const Producer& producer : producers) {
    if (producer.stream != stream) continue;
    const long found = next[producer.id];
    if (found < producer.acknowledged || found > producer.acknowledged + producer.one_more) {
      wrongs.add(stream + ": producer " + std::to_string(producer.id) + " has " +
                 std::to_string(found) + " records, " + std::to_string(producer.acknowledged) +
                 " were acknowledged");
    }
    next.erase(producer.id);
  }
  if (!next.empty()) wrongs.add(stream + " holds records of an unknown producer");
}

int verify(const Settings& settings, const std::vector<Producer>& producers, Wrongs& wrongs,
           const std::string& summary) {
  std::vector<std::string> streams;
  for (const Producer& producer : producers) streams.push_back(producer.stream);
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  for (const std::string& stream : streams) verify_stream(settings, stream, producers, wrongs);
  std::printf("%s %s\n", wrongs.count() == 0 ? "ok" : "WRONG", summary.c_str());
  return wrongs.count() == 0 ? 0 : 1;
}

std::vector<Producer> read_journal(const std::string& file) {
  std::vector<Producer> producers;
  std::ifstream in(file);
  Producer producer;
  while (in >> producer.id >> producer.stream >> producer.acknowledged >> producer.one_more) {
    producers.push_back(producer);
  }
  return producers;
}

void write_journal(const std::string& file, const std::vector<Producer>& producers) {
  std::ofstream out(file);
  for (const Producer& producer : producers) {
    out << producer.id << ' ' << producer.stream << ' ' << producer.acknowledged << ' '
        << producer.one_more << '\n';
  }
}

int run(const Settings& settings) {
  Wrongs wrongs;
  Gap gap;
  std::vector<Producer> producers(static_cast<size_t>(settings.producers));
  for (int i = 0; i < settings.producers; ++i) {
    producers[static_cast<size_t>(i)].id = i;
    producers[static_cast<size_t>(i)].stream =
        settings.stream + "-" + std::to_string(i % settings.streams);
  }
  for (const Producer& producer : producers) {
    if (!create_stream(settings, producer.stream)) {
      wrongs.add(producer.stream + " can't be created");
      std::printf("WRONG\n");
      return 1;
    }
  }
  std::printf("producing\n");
  std::fflush(stdout);
  std::vector<std::thread> threads;
  for (Producer& producer : producers) {
    threads.emplace_back([&] { produce(settings, producer, gap, wrongs); });
  }
  const auto end = Clock::now() + std::chrono::seconds(settings.seconds);
  while (!stopping && (settings.seconds == 0 || Clock::now() < end)) {
    std::this_thread::sleep_for(kPause);
  }
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  write_journal(settings.journal, producers);
  long acknowledged = 0;
  long attempts = 0;
  long duplicates = 0;
  for (const Producer& producer : producers) {
    acknowledged += producer.acknowledged;
    attempts += producer.attempts;
    duplicates += producer.duplicates;
  }
  std::ostringstream summary;
  summary << "acknowledged=" << acknowledged << " attempts=" << attempts
          << " duplicates=" << duplicates << " longest_gap_ms=" << gap.longest_ms();
  return verify(settings, producers, wrongs, summary.str());
}

int verify_journal(const Settings& settings) {
  Wrongs wrongs;
  const std::vector<Producer> producers = read_journal(settings.journal);
  if (producers.empty()) wrongs.add("the journal " + settings.journal + " is empty");
  return verify(settings, producers, wrongs, "verified");
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  ::signal(SIGTERM, [](int) { stopping = true; });
  Settings settings;
  const std::string mode = argc > 1 ? argv[1] : "";
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--url") settings.urls.push_back(value);
    if (name == "--journal") settings.journal = value;
    if (name == "--stream") settings.stream = value;
    if (name == "--streams") settings.streams = std::atoi(value.c_str());
    if (name == "--producers") settings.producers = std::atoi(value.c_str());
    if (name == "--seconds") settings.seconds = std::atoi(value.c_str());
  }
  const bool usable = !settings.urls.empty() && !settings.journal.empty();
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (usable && mode == "run") return run(settings);
  if (usable && mode == "verify") return verify_journal(settings);
  std::fprintf(stderr, "usage: producer_client run|verify --url URL... --journal FILE ...\n");
  return 2;
}
