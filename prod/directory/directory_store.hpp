// The Store in a directory: DirectoryFiles on threads, so that the loop never waits for a disk.
#pragma once

#include <memory>
#include <string>

#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "prod/directory/directory_files.hpp"
#include "prod/loop.hpp"
#include "prod/worker_pool.hpp"

namespace morula {

/// Several requests run at a time: the fsyncs of puts that are under way together share the disk's
/// flushes. A request whose deadline passes while it is queued is dropped; one that has begun goes
/// on, and may land after its caller got kTimeout.
class DirectoryStore final : public Store {
 public:
  /// More threads than processors: most of them wait for the disk.
  static constexpr size_t kThreads = 8;

  /// `files` as DirectoryFiles::open gave it.
  DirectoryStore(Loop& loop, std::unique_ptr<DirectoryFiles> files);
  /// Waits for requests that have begun.
  ~DirectoryStore() override;

  StoreAbilities abilities() const override;
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override;
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override;
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override;
  Result<> remove(std::string_view key, const RequestOptions& options) override;
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override;
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override;

 private:
  template <class Work>
  auto on_thread(const RequestOptions& options, Work work);

  Loop& loop_;
  std::unique_ptr<DirectoryFiles> files_;
  WorkerPool workers_;  // last: its threads use the files until it is gone
};

}  // namespace morula
