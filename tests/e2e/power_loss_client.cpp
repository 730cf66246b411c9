// Writes to a directory store from several threads until the file system is shut down under it, as
// a loss of power would, and checks after a new mount that everything answered is there.
//
//   power_loss_client write DIR JOURNAL SEED MILLISECONDS
//       Creates, removes and swaps objects for so long, shuts the file system of DIR down (all that
//       was not synced is lost), and writes what was answered to JOURNAL, which lies elsewhere.
//   power_loss_client run DIR JOURNAL SEED MILLISECONDS
//       The same, but the process just ends, as if killed.
//   power_loss_client check DIR JOURNAL
//       Opens DIR as after another start of the machine. The last line is `ok ...` or `WRONG ...`;
//       exit code 0 or 1.
//
// An object's content follows from its key, so that a torn one is noticed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/codec.hpp"
#include "core/rt/random.hpp"
#include "prod/directory/directory_files.hpp"

namespace morula {
namespace {

constexpr int kThreads = 4;
constexpr int kKeysPerFolder = 200;
constexpr const char* kSwapped = "swapped/";

std::string content_of(const std::string& key) {
  Random random(checksum(key));
  // Some are too large for a redo log.
  const size_t size = random.chance(1, 50) ? 300 * kKiB : random.below(9000);
  std::string content = key + " ";
  while (content.size() < size) content.push_back(static_cast<char>('a' + random.below(26)));
  return content;
}

enum class State : int { kCreated = 1, kBeingRemoved = 2, kRemoved = 3 };

/// What was answered.
struct Journal {
  std::mutex mutex;
  std::map<std::string, State> objects;
  std::map<std::string, int> swaps;

  void write(const std::string& path) {
    const std::lock_guard lock(mutex);
    std::ofstream file(path);
    for (const auto& [key, state] : objects) file << key << ' ' << static_cast<int>(state) << '\n';
    for (const auto& [key, number] : swaps) file << key << ' ' << number << '\n';
  }
  void read(const std::string& path) {
    std::ifstream file(path);
    std::string key;
    int number = 0;
    while (file >> key >> number) {
      if (key.starts_with(kSwapped)) {
        swaps[key] = number;
      } else {
        objects[key] = State{number};
      }
    }
  }
};

class Writer {
 public:
  Writer(DirectoryFiles& files, Journal& journal, int thread, uint64_t seed)
      : files_(files), journal_(journal), thread_(thread), random_(seed * kThreads + thread) {}

  void write_until(const std::atomic<bool>& stop) {
    for (int i = 0; !stop; ++i) {
      if (!create(fmt::format("log/{}-{}/{:06}", thread_, i / kKeysPerFolder, i))) return;
      if (random_.chance(1, 3) && !remove(created_[random_.below(created_.size())])) return;
      if (random_.chance(1, 30) && !swap(kSwapped + std::to_string(thread_))) return;
    }
  }

 private:
  bool create(const std::string& key) {
    if (!files_.put(key, content_of(key), Precondition::if_absent())) return false;
    created_.push_back(key);
    tell(key, State::kCreated);
    return true;
  }

  bool remove(const std::string& key) {
    {
      const std::lock_guard lock(journal_.mutex);
      if (journal_.objects[key] != State::kCreated) return true;
    }
    tell(key, State::kBeingRemoved);
    const std::string keys[] = {key};
    if (!files_.remove(keys)) return false;
    tell(key, State::kRemoved);
    return true;
  }

  bool swap(const std::string& key) {
    const auto object = files_.get(key, std::nullopt);
    if (!object) {
      return object.error().code == ErrorCode::kNotFound &&
             files_.put(key, "0", Precondition::if_absent()).has_value();
    }
    const int number = std::stoi(*object->body) + 1;
    if (!files_.put(key, std::to_string(number), Precondition::if_match(object->etag))) {
      return false;
    }
    const std::lock_guard lock(journal_.mutex);
    journal_.swaps[key] = number;
    return true;
  }

  void tell(const std::string& key, State state) {
    const std::lock_guard lock(journal_.mutex);
    journal_.objects[key] = state;
  }

  DirectoryFiles& files_;
  Journal& journal_;
  const int thread_;
  Random random_;
  std::vector<std::string> created_;
};

std::unique_ptr<DirectoryFiles> open(const std::string& directory, char boot) {
  DirectoryFiles::Options options;
  options.boot = std::string(32, boot);
  options.redo = RedoUse::kAtOnce;
  options.redo_segment_bytes = kMiB;  // so that there are checkpoints
  auto files = DirectoryFiles::open(directory, std::move(options));
  if (files) return std::move(*files);
  std::printf("WRONG %s\n", files.error().message.c_str());
  std::exit(1);
}

bool shut_down(const std::string& directory) {
  constexpr unsigned long kShutDown = _IOR('X', 125, uint32_t);  // of ext4 and xfs
  uint32_t without_flush = 2;
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 && ::ioctl(fd, kShutDown, &without_flush) == 0;
}

int write(const std::string& directory, const std::string& path, uint64_t seed, int milliseconds,
          bool power_fails) {
  const auto files = open(directory, '1');
  Journal journal;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { Writer(*files, journal, i, seed).write_until(stop); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const bool shut = !power_fails || shut_down(directory);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  journal.write(path);
  const bool wrote = !journal.objects.empty();
  std::printf("%s %zu objects\n",
              !shut    ? "WRONG cannot shut it down;"
              : !wrote ? "WRONG nothing could be written:"
                       : "ok",
              journal.objects.size());
  std::fflush(stdout);
  ::_exit(shut && wrote ? 0 : 1);  // without the store's clean end
}

int check(const std::string& directory, const std::string& path) {
  Journal journal;
  journal.read(path);
  const auto files = open(directory, '2');
  int wrong = 0;
  const auto complain = [&](const std::string& what) {
    if (++wrong <= 10) std::printf("%s\n", what.c_str());
  };
  const auto get = [&](const std::string& key) -> std::string {
    const auto object = files->get(key, std::nullopt);
    return object ? *object->body : std::string(to_string(object.error().code));
  };
  std::string after;
  size_t listed = 0;
  for (bool more = true; more;) {
    const auto listing = files->list("log/", after, 1000);
    if (!listing) {
      complain(listing.error().message);
      break;
    }
    for (const ObjectInfo& info : listing->objects) {
      after = info.key;
      ++listed;
      if (get(info.key) != content_of(info.key)) complain("torn: " + info.key);
      const auto known = journal.objects.find(info.key);
      if (known != journal.objects.end() && known->second == State::kRemoved) {
        complain("came back: " + info.key);
      }
    }
    more = listing->truncated;
  }
  for (const auto& [key, state] : journal.objects) {
    if (state == State::kCreated && get(key) != content_of(key)) complain("lost: " + key);
  }
  for (const auto& [key, number] : journal.swaps) {
    const std::string there = get(key);
    if (there.find_first_not_of("0123456789") != std::string::npos || std::stoi(there) < number) {
      complain("went back: " + key + " to " + there);
    }
  }
  std::printf("%s %zu of %zu objects are there\n", wrong == 0 ? "ok" : "WRONG", listed,
              journal.objects.size());
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace morula

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "check" && argc == 4) return morula::check(argv[2], argv[3]);
  if ((mode == "write" || mode == "run") && argc == 6) {
    return morula::write(argv[2], argv[3], std::strtoull(argv[4], nullptr, 10), std::atoi(argv[5]),
                         mode == "write");
  }
  std::fprintf(stderr,
               "usage: power_loss_client write|run DIR JOURNAL SEED MILLISECONDS\n"
               "       power_loss_client check DIR JOURNAL\n");
  return 2;
}
