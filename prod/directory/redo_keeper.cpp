#include "prod/directory/redo_keeper.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "prod/directory/directory_names.hpp"
#include "prod/posix_file.hpp"

namespace morula {
namespace {

std::string redo_path(std::string_view name) {
  return fmt::format("{}/{}", kRedoFolder, name);
}

/// Its owner may be about to lock it.
bool is_young(int file) {
  constexpr time_t kYoung = 60;  // s
  struct stat info {};
  return ::fstat(file, &info) == 0 && ::time(nullptr) - info.st_mtim.tv_sec < kYoung;
}

}  // namespace

RedoKeeper::RedoKeeper(const DirectoryRoot& root, Options options)
    : root_(root), options_(std::move(options)) {}

RedoKeeper::~RedoKeeper() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  close_log();
}

RedoLog* RedoKeeper::log() {
  RedoLog* const log = ready_.load(std::memory_order_acquire);
  if (log != nullptr || !options_.use) return log;
  if (!wanted_.exchange(true)) start_thread();
  return nullptr;
}

void RedoKeeper::lay_out_log() {
  auto log = RedoLog::create(root_, options_.boot, options_.segment_bytes, [this] {
    const std::lock_guard lock(mutex_);
    changed_ = true;
    wake_.notify_all();
  });
  if (!log) {
    given_up_ = true;
    options_.trouble(root_.full(kRedoFolder),
                     "each put waits for the disk several times: " + log.error().message);
    return;
  }
  log_ = std::move(*log);
  ready_.store(log_.get(), std::memory_order_release);
}

void RedoKeeper::begin_at_once() {
  wanted_ = true;
  lay_out_log();
  start_thread();
}

void RedoKeeper::clean_after_the_dead() {
  std::vector<FolderEntry> entries;
  if (read_folder(root_.fd.get(), kRedoFolder, entries) == 0 && !entries.empty()) start_thread();
}

void RedoKeeper::start_thread() {
  const std::lock_guard lock(mutex_);
  wake_.notify_all();
  if (thread_.joinable() || closing_) return;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "morula-redo");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void RedoKeeper::run() {
  auto next_cleaning = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!closing_) {
    changed_ = false;
    lock.unlock();
    if (wanted_ && !log_ && !given_up_) lay_out_log();
    if (ready_.load(std::memory_order_relaxed) != nullptr) look_after_log();
    if (const auto now = std::chrono::steady_clock::now(); now >= next_cleaning) {
      delete_logs_of_the_dead();
      next_cleaning = now + options_.idle_after;
    }
    lock.lock();
    wake_.wait_for(lock, options_.idle_after,
                   [&] { return closing_ || changed_ || (wanted_ && !log_ && !given_up_); });
  }
}

void RedoKeeper::look_after_log() {
  if (const auto failure = log_->failure()) {
    ready_ = nullptr;
    options_.trouble(root_.full(log_->path()),
                     "from now on each put waits for the disk several times: " + failure->message);
    return;
  }
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::chrono::nanoseconds quiet(nanoseconds(now) - log_->last_append());
  const auto freed = free_full_segments(quiet >= options_.idle_after);
  if (!freed) keep_for_good(freed.error());
}

Result<> RedoKeeper::free_full_segments(bool also_unfinished) {
  while (const auto segment = log_->segment_to_free(also_unfinished)) {
    also_unfinished = false;
    log_->wait_until_let_go(*segment);
    if (const int error = root_.sync_all()) {
      return fail(unknown_file_error(error, "sync the file system of " + root_.path));
    }
    MORULA_TRY(log_->free_segment(*segment));
  }
  return {};
}

void RedoKeeper::keep_for_good(const Error& error) {
  ready_ = nullptr;
  kept_ = true;
  const std::string kept = log_->path() + ".kept";
  ::renameat(root_.fd.get(), log_->path().c_str(), root_.fd.get(), kept.c_str());
  (void)root_.sync_folder(kRedoFolder);
  options_.trouble(root_.full(kept),
                   "kept until the machine has started again, and each put waits for the disk "
                   "several times: " +
                       error.message);
}

void RedoKeeper::delete_logs_of_the_dead() {
  std::vector<FolderEntry> entries;
  if (read_folder(root_.fd.get(), kRedoFolder, entries) != 0) return;
  std::vector<std::pair<std::string, UniqueFd>> dead;
  for (const FolderEntry& entry : entries) {
    const auto name = parse_redo_file_name(entry.name);
    if (!name || name->boot != options_.boot || name->suffix == ".kept") continue;
    const std::string path = redo_path(entry.name);
    if (log_ && path == log_->path()) continue;
    UniqueFd file(::openat(root_.fd.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
    // One that is being laid out need not be locked yet, and must find its lock free.
    if (!file || (name->suffix == ".new" && is_young(file.get()))) continue;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    dead.emplace_back(path, std::move(file));
  }
  if (dead.empty()) return;
  const int error = root_.sync_all();
  for (const auto& [path, file] : dead) {
    if (error == 0 || path.ends_with(".new")) {
      ::unlinkat(root_.fd.get(), path.c_str(), 0);
    } else {
      ::renameat(root_.fd.get(), path.c_str(), root_.fd.get(), (path + ".kept").c_str());
    }
  }
  (void)root_.sync_folder(kRedoFolder);
  if (error != 0) {
    options_.trouble(root_.full(kRedoFolder),
                     unknown_file_error(error, "sync the file system").message);
  }
}

void RedoKeeper::close_log() {
  if (!log_ || kept_) return;
  ready_ = nullptr;
  if (log_->any_record()) {
    if (const int error = root_.sync_all()) {
      keep_for_good(unknown_file_error(error, "sync the file system of " + root_.path));
      return;
    }
  }
  ::unlinkat(root_.fd.get(), log_->path().c_str(), 0);
  (void)root_.sync_folder(kRedoFolder);
}

}  // namespace morula
