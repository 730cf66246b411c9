#include "prod/directory/directory_store.hpp"

#include <vector>

#include "core/rt/sync.hpp"

namespace morula {
namespace {

constexpr size_t kRemoveMax = 1000;
// A purpose is a priority.
static_assert(static_cast<size_t>(Purpose::kGc) < WorkerPool::kPriorities);

}  // namespace

DirectoryStore::DirectoryStore(Loop& loop, std::unique_ptr<DirectoryFiles> files)
    : loop_(loop), files_(std::move(files)), workers_(kThreads, "morula-files") {}

DirectoryStore::~DirectoryStore() = default;

template <class Work>
auto DirectoryStore::on_thread(const RequestOptions& options, Work work) {
  using Answer = decltype(work());
  Completion<Answer> done;
  workers_.submit(static_cast<size_t>(options.purpose),
                  [this, done, deadline = options.deadline, work = std::move(work)]() mutable {
                    Answer answer = fail(ErrorCode::kTimeout, "the deadline passed in the queue");
                    if (loop_.now() < deadline) answer = work();
                    loop_.post([done = std::move(done), answer = std::move(answer)]() mutable {
                      done.complete(std::move(answer));
                    });
                  });
  auto answer = done.wait_until(loop_, options.deadline);
  if (answer) return std::move(*answer);
  return Answer(fail(ErrorCode::kTimeout, "the disk did not answer in time"));
}

StoreAbilities DirectoryStore::abilities() const {
  return {.ranges = true, .batch_remove = true};
}

// The lambdas own what they use: they outlive a caller that gave up.

Result<StoredObject> DirectoryStore::get(std::string_view key, std::optional<ByteRange> range,
                                         const RequestOptions& options) {
  return on_thread(options, [files = files_.get(), key = std::string(key), range] {
    return files->get(key, range);
  });
}

Result<ObjectInfo> DirectoryStore::head(std::string_view key, const RequestOptions& options) {
  return on_thread(options,
                   [files = files_.get(), key = std::string(key)] { return files->head(key); });
}

Result<Etag> DirectoryStore::put(std::string_view key, Blob body, const Precondition& precondition,
                                 const RequestOptions& options) {
  return on_thread(options, [files = files_.get(), key = std::string(key), body = std::move(body),
                             precondition] { return files->put(key, *body, precondition); });
}

Result<> DirectoryStore::remove(std::string_view key, const RequestOptions& options) {
  const std::string keys[] = {std::string(key)};
  return remove_many(keys, options);
}

Result<> DirectoryStore::remove_many(std::span<const std::string> keys,
                                     const RequestOptions& options) {
  if (keys.size() > kRemoveMax) return fail(ErrorCode::kInvalid, "more than 1000 keys");
  return on_thread(
      options, [files = files_.get(), owned = std::vector<std::string>(keys.begin(), keys.end())] {
        return files->remove(owned);
      });
}

Result<Listing> DirectoryStore::list(std::string_view prefix, std::string_view start_after,
                                     size_t limit, const RequestOptions& options) {
  return on_thread(options, [files = files_.get(), prefix = std::string(prefix),
                             start_after = std::string(start_after),
                             limit] { return files->list(prefix, start_after, limit); });
}

}  // namespace morula
