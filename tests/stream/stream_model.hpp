// What a stream is and what it answers, as plainly as possible: what `Streams` is held against.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/stream/producer.hpp"
#include "core/stream/rows.hpp"
#include "core/stream/streams.hpp"
#include "tests/stream/memory_rows.hpp"

namespace morula {

/// A stream at one moment. A deleted one has nothing but its generation.
struct ModelStream {
  bool present = false;
  uint64_t generation = 0;
  std::string content_type;
  Expiry expiry;
  std::vector<std::string> messages;
  std::vector<size_t> appends;  // how many messages there were after each
  std::map<std::string, ProducerRow> producers;
  std::optional<std::string> sequence;

  Offset offset(size_t messages_before) const {
    Offset offset;
    for (size_t i = 0; i < messages_before; ++i) {
      offset = {offset.messages + 1, offset.bytes + messages[i].size()};
    }
    return offset;
  }
  Offset tail() const { return offset(messages.size()); }
  bool json() const { return content_type == "application/json"; }
  bool alive(WallTime now) const {
    return present && !(expiry.kind == Expiry::Kind::kAt && now >= expiry.at);
  }
  void add(const std::vector<std::string>& more) {
    if (more.empty()) return;
    messages.insert(messages.end(), more.begin(), more.end());
    appends.push_back(messages.size());
  }
  friend bool operator==(const ModelStream& a, const ModelStream& b) {
    return a.present == b.present && a.generation == b.generation &&
           a.content_type == b.content_type && a.expiry.same_as(b.expiry) &&
           a.messages == b.messages && a.appends == b.appends && a.producers == b.producers &&
           a.sequence == b.sequence;
  }
};

/// The stream after a change, as the change's rows tell.
inline ModelStream observe(const ModelStream& before, const std::vector<Row>& rows) {
  ModelStream after = before;
  for (const Row& row : rows) {  // the hot row says which generation it is
    const auto parts = *row_key::parse(row.tree, row.key);
    if (row.tree != Tree::kMeta || parts.kind != RowKind::kHot) continue;
    if (parts.generation.value != before.generation || row.deleted) after = {};
    after.generation = parts.generation.value;
    after.present = !row.deleted;
  }
  for (const Row& row : rows) {
    const auto parts = *row_key::parse(row.tree, row.key);
    MORULA_CHECK(parts.generation.value == after.generation);
    if (row.tree == Tree::kIndex) {
      MORULA_CHECK(row.deleted != after.present, "it is listed as long as it is there");
    } else if (row.tree == Tree::kData) {
      auto data = *DataRow::decode(row);
      MORULA_CHECK(data.start() == after.tail(), "an append begins at the tail");
      std::vector<std::string> messages;
      while (const auto message = *data.next()) messages.emplace_back(*message);
      after.add(messages);
    } else if (parts.kind == RowKind::kDescriptor) {
      const auto descriptor = *decode_descriptor(row.value);
      after.content_type = descriptor.content_type;
      after.expiry = descriptor.expiry;
    } else if (parts.kind == RowKind::kProducer) {
      after.producers[std::string(parts.suffix)] = *decode_producer(row.value);
    } else if (parts.kind == RowKind::kSequence) {
      after.sequence = *decode_sequence(row.value);
    } else if (after.present) {
      MORULA_CHECK(row_key::parse(row.tree, rows.back().key)->kind == RowKind::kHot);
      MORULA_CHECK(decode_hot(row.value)->tail == after.tail(), "the hot row has the tail");
    }
  }
  return after;
}

/// A request that owns what it needs, and what its body means as JSON.
struct ModelRequest {
  enum class Kind : uint8_t { kCreate, kAppend, kRead, kHead, kRemove } kind = Kind::kHead;
  StreamHash stream;
  std::string content_type;
  Expiry expiry;
  std::string body;
  std::optional<std::vector<std::string>> json_messages;  // nullopt: no JSON
  std::optional<ProducerClaim> producer;
  std::optional<std::string> sequence;
  std::optional<Offset> expected_offset;
  ReadRequest::From from = ReadRequest::From::kStart;
  Offset offset;
};

/// Answers of all kinds as text. "?": there is none.
inline std::string text_of(const Refused& refused) {
  std::string text = "refused " + std::to_string(static_cast<int>(refused.why));
  if (refused.tail) text += " tail " + std::to_string(refused.tail->bytes);
  return text + " epoch " + std::to_string(refused.producer_epoch) + " seq " +
         std::to_string(refused.expected_seq);
}
inline std::string text_of(const StreamInfo& info) {
  return "stream " + std::to_string(info.generation.value) + " " + info.content_type + " tail " +
         std::to_string(info.tail.messages) + "/" + std::to_string(info.tail.bytes);
}
inline std::string text_of(const Created& created) {
  return (created.existed ? "existed " : "created ") + text_of(created.info);
}
inline std::string text_of(const Appended& appended) {
  return std::string(appended.duplicate ? "duplicate" : "appended") + " tail " +
         std::to_string(appended.tail.messages) + "/" + std::to_string(appended.tail.bytes) +
         " epoch " + std::to_string(appended.producer_epoch) + " seq " +
         std::to_string(appended.producer_seq);
}
inline std::string text_of(const Removed&) {
  return "removed";
}
inline std::string text_of(const ReadAnswer& read) {
  return "read " + text_of(read.info) + " from " + std::to_string(read.start.messages) + "/" +
         std::to_string(read.start.bytes) + " to " + std::to_string(read.end.messages) + "/" +
         std::to_string(read.end.bytes) + (read.up_to_date ? " all " : " part ") + read.body;
}
inline std::string text_of(const Unserved&) {
  return "?";
}
inline std::string text_of(const OutcomeUnknown&) {
  return "?";
}

/// What the model lets a stream answer, and what the stream is then.
struct ModelAnswer {
  std::string text;
  std::optional<ModelStream> next;  // nullopt: unchanged
};

class Model {
 public:
  Model(const ModelStream& stream, bool alive) : stream_(stream), alive_(alive) {}

  /// The answers that `request` may get: one, or for a read one for each append that it may stop
  /// after.
  std::vector<ModelAnswer> answers(const ModelRequest& request) const {
    switch (request.kind) {
      case ModelRequest::Kind::kCreate:
        return {create(request)};
      case ModelRequest::Kind::kAppend:
        return {append(request)};
      case ModelRequest::Kind::kRead:
        return read(request);
      case ModelRequest::Kind::kHead:
        return {alive_ ? ModelAnswer{text_of(info()), {}} : refused(Refusal::kAbsent)};
      case ModelRequest::Kind::kRemove:
        if (!alive_) return {refused(Refusal::kAbsent)};
        ModelStream gone;
        gone.generation = stream_.generation;
        return {{text_of(Removed{}), gone}};
    }
    return {};
  }

 private:
  static ModelAnswer refused(Refusal why) { return {text_of(Refused{why, "", {}}), {}}; }
  StreamInfo info(const ModelStream& of) const {
    StreamInfo info;
    info.generation = Generation(of.generation);
    info.content_type = of.content_type;
    info.tail = of.tail();
    return info;
  }
  StreamInfo info() const { return info(stream_); }

  ModelAnswer create(const ModelRequest& request) const {
    const bool json = request.content_type == "application/json";
    if (json && !request.body.empty() && !request.json_messages) {
      return refused(Refusal::kInvalidJson);
    }
    if (alive_) {
      if (request.content_type != stream_.content_type || !request.expiry.same_as(stream_.expiry)) {
        return refused(Refusal::kExists);
      }
      return {text_of(Created{info(), true}), {}};
    }
    ModelStream next;
    next.present = true;
    next.generation = stream_.generation + 1;
    next.content_type = request.content_type;
    next.expiry = request.expiry;
    if (!request.body.empty()) {
      next.add(json ? *request.json_messages : std::vector<std::string>{request.body});
    }
    return {text_of(Created{info(next), false}), next};
  }

  ModelAnswer append(const ModelRequest& request) const {
    if (request.body.empty()) return refused(Refusal::kEmptyAppend);
    if (!alive_) return refused(Refusal::kAbsent);
    if (request.content_type != stream_.content_type) {
      return refused(Refusal::kContentTypeMismatch);
    }
    std::vector<std::string> messages{request.body};
    if (stream_.json()) {
      if (!request.json_messages || request.json_messages->empty()) {
        return refused(Refusal::kInvalidJson);
      }
      messages = *request.json_messages;
    }
    if (request.producer) {
      const ProducerClaim& claim = *request.producer;
      const auto known = stream_.producers.find(std::string(claim.id));
      const bool is_known = known != stream_.producers.end();
      const uint64_t next_seq = is_known ? known->second.seq + 1 : 0;
      if (is_known && claim.epoch < known->second.epoch) {
        return {text_of(Refused{Refusal::kStaleEpoch, "", {}, known->second.epoch, 0}), {}};
      }
      if (is_known && claim.epoch > known->second.epoch) {
        if (claim.seq != 0) return refused(Refusal::kEpochNotAtZero);
      } else if (claim.seq > next_seq) {
        return {text_of(Refused{Refusal::kSequenceGap, "", {}, 0, next_seq}), {}};
      } else if (claim.seq < next_seq) {
        const ProducerRow& row = known->second;
        return {text_of(Appended{row.tail, true, row.epoch, row.seq}), {}};
      }
    }
    if (request.sequence && stream_.sequence && *request.sequence <= *stream_.sequence) {
      return {text_of(Refused{Refusal::kSequenceRegression, "", stream_.tail()}), {}};
    }
    if (request.expected_offset && *request.expected_offset != stream_.tail()) {
      return {text_of(Refused{Refusal::kOffsetMismatch, "", stream_.tail()}), {}};
    }
    ModelStream next = stream_;
    next.add(messages);
    Appended appended{next.tail()};
    if (request.producer) {
      appended.producer_epoch = request.producer->epoch;
      appended.producer_seq = request.producer->seq;
      next.producers[std::string(request.producer->id)] = {appended.producer_epoch,
                                                           appended.producer_seq, next.tail()};
    }
    if (request.sequence) next.sequence = request.sequence;
    return {text_of(appended), next};
  }

  std::vector<ModelAnswer> read(const ModelRequest& request) const {
    if (!alive_) return {refused(Refusal::kAbsent)};
    size_t begin = 0;
    if (request.from == ReadRequest::From::kTail) begin = stream_.messages.size();
    if (request.from == ReadRequest::From::kOffset) {
      while (begin <= stream_.messages.size() && stream_.offset(begin) != request.offset) ++begin;
      if (begin > stream_.messages.size()) return {refused(Refusal::kInvalidOffset)};
    }
    std::vector<ModelAnswer> answers;
    if (begin == stream_.messages.size()) answers.push_back(read_range(begin, begin));
    for (const size_t end : stream_.appends) {
      if (end > begin) answers.push_back(read_range(begin, end));
    }
    return answers;
  }

  ModelAnswer read_range(size_t begin, size_t end) const {
    ReadAnswer answer;
    answer.info = info();
    answer.start = stream_.offset(begin);
    answer.end = stream_.offset(end);
    answer.up_to_date = end == stream_.messages.size();
    for (size_t i = begin; i < end; ++i) {
      if (stream_.json() && i > begin) answer.body += ",";
      answer.body += stream_.messages[i];
    }
    if (stream_.json()) answer.body = "[" + answer.body + "]";
    return {text_of(answer), {}};
  }

  const ModelStream& stream_;
  const bool alive_;
};

}  // namespace morula
