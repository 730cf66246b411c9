#include "core/rt/store.hpp"

namespace morula {

std::string_view to_string(Purpose purpose) {
  switch (purpose) {
    case Purpose::kLog:
      return "log";
    case Purpose::kHeartbeat:
      return "heartbeat";
    case Purpose::kOwnership:
      return "ownership";
    case Purpose::kMetaRead:
      return "meta_read";
    case Purpose::kDataRead:
      return "data_read";
    case Purpose::kIndexRead:
      return "index_read";
    case Purpose::kFlush:
      return "flush";
    case Purpose::kCompaction:
      return "compaction";
    case Purpose::kTrim:
      return "trim";
    case Purpose::kGc:
      return "gc";
  }
  return "unknown";
}

std::string_view to_string(StoreCall call) {
  switch (call) {
    case StoreCall::kGet:
      return "get";
    case StoreCall::kHead:
      return "head";
    case StoreCall::kPut:
      return "put";
    case StoreCall::kRemove:
      return "remove";
    case StoreCall::kRemoveMany:
      return "remove_many";
    case StoreCall::kList:
      return "list";
  }
  return "unknown";
}

}  // namespace morula
