// A server of streams that keeps them in memory and speaks just enough of the protocol for the
// simulated clients: what they must find nothing wrong with, and what they must find out when it
// lies.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "core/api/target.hpp"
#include "core/base/json.hpp"
#include "core/rt/network.hpp"
#include "core/rt/random.hpp"
#include "core/stream/offset.hpp"
#include "invariants/observer.hpp"

namespace morula::sim {

enum class Lie : uint8_t {
  kNone,
  kForgetsAppends,
  kRepeatsAppends,
  kShowsOldReads,
  kIgnoresSequence,
  kListsTooLittle,
  kListsTheDeleted
};

class ModelServer {
 public:
  ModelServer(invariants::Observer& observer, Lie lie) : observer_(observer), lie_(lie) {}

  HttpResponse handle(const HttpRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path == kListPath) return list(request);
    Stream& stream = streams_[tenant_of(request) + path];
    HttpResponse response;
    if (request.method == "PUT") {
      response = create(stream, request);
    } else if (!stream.exists) {
      return refuse(404, "stream_not_found");
    } else if (request.method == "POST") {
      response = append(stream, request);
    } else if (request.method == "DELETE") {
      stream.exists = false;
      response.status = 204;
    } else {
      response = read(stream, request);
    }
    if (response.status < 300) {
      response.headers.set("Stream-Generation", std::to_string(stream.generation));
    }
    return response;
  }

 private:
  struct Producer {
    uint64_t epoch = 0;
    uint64_t seq = 0;
    Offset tail;
  };
  struct Stream {
    bool exists = false;
    uint64_t generation = 0;
    std::string type;
    std::vector<std::string> messages;
    std::map<std::string, Producer> producers;
    std::string sequence = {};

    invariants::Framing framing() const {
      return type == "application/json" ? invariants::Framing::kJson : invariants::Framing::kBytes;
    }
    Offset tail() const {
      Offset at;
      for (const std::string& message : messages) at = {at.messages + 1, at.bytes + message.size()};
      return at;
    }
  };

  static std::string tenant_of(const HttpRequest& request) {
    const auto tenant = request.headers.find("Morula-Tenant");
    return std::string(tenant.value_or(""));
  }
  static HttpResponse refuse(int status, const std::string& code) {
    HttpResponse response;
    response.status = status;
    response.headers.add("Streams-Error", code);
    response.body = R"({"error":{"code":")" + code + R"("}})";
    return response;
  }
  static uint64_t number(const HttpRequest& request, std::string_view name) {
    uint64_t value = 0;
    const std::string_view text = *request.headers.find(name);
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  HttpResponse list(const HttpRequest& request) {
    const RequestTarget target = *RequestTarget::parse(request.target);
    const auto asked = [&](const char* name) { return target.parameter(name)->value_or(""); };
    const std::string front = tenant_of(request) + std::string(kStreamPrefix);
    Json::Array listed;
    Json::Object body;
    for (const auto& [name, stream] : streams_) {
      if (!name.starts_with(front + asked("prefix"))) continue;
      const std::string path = name.substr(front.size());
      if (path <= asked("after") || (!stream.exists && lie_ != Lie::kListsTheDeleted)) continue;
      if (lie_ == Lie::kListsTooLittle && path == "b") continue;
      if (listed.size() == std::stoul(asked("limit"))) {
        body["next"] = *listed.back().string_at("path");
        break;
      }
      listed.push_back(Json::Object{{"path", path},
                                    {"generation", stream.generation},
                                    {"content_type", stream.type},
                                    {"created", "2026-11-30T00:00:00.000Z"}});
    }
    body["streams"] = std::move(listed);
    HttpResponse response;
    response.body = Json(std::move(body)).compact();
    return response;
  }

  /// What lies in a stream lies in the log first.
  void put(Stream& stream, const std::string& body) {
    observer_.object_written("log/model/" + std::to_string(++log_), body);
    std::vector<invariants::Message> parts;
    bool bare = stream.framing() == invariants::Framing::kJson && body.starts_with("{");
    invariants::parse_body(bare ? "[" + body + "]" : body, stream.framing(), parts);
    for (const invariants::Message& part : parts) {
      stream.messages.push_back(invariants::message_text(part, stream.framing()));
    }
  }

  HttpResponse create(Stream& stream, const HttpRequest& request) {
    const std::string type(*request.headers.find("Content-Type"));
    HttpResponse response;
    if (stream.exists) {
      if (stream.type != type) return refuse(409, "stream_exists");
    } else {
      response.status = 201;
      stream = {true, stream.generation + 1, type, {}, {}};
      if (!request.body.empty()) put(stream, request.body);
    }
    response.headers.set("Content-Type", stream.type);
    response.headers.set("Stream-Next-Offset", offset_text(stream.tail()));
    return response;
  }

  HttpResponse append(Stream& stream, const HttpRequest& request) {
    if (stream.type != *request.headers.find("Content-Type")) {
      return refuse(409, "content_type_mismatch");
    }
    HttpResponse response;
    response.status = 204;
    const auto producer = request.headers.find("Producer-Id");
    if (producer) {
      uint64_t epoch = number(request, "Producer-Epoch");
      uint64_t seq = number(request, "Producer-Seq");
      auto known = stream.producers.find(std::string(*producer));
      bool same = known != stream.producers.end() && known->second.epoch == epoch;
      response.headers.set("Producer-Seq", std::to_string(same ? known->second.seq : seq));
      if (same && seq <= known->second.seq) {
        response.headers.set("Stream-Next-Offset", offset_text(known->second.tail));
        return response;
      }
      if (seq != (same ? known->second.seq + 1 : 0)) return refuse(409, "sequence_gap");
      response.status = 200;
      response.headers.set("Producer-Seq", std::to_string(seq));
    }
    const auto sequence = request.headers.find("Stream-Seq");
    if (sequence && *sequence <= stream.sequence && lie_ != Lie::kIgnoresSequence) {
      return refuse(409, "sequence_regression");
    }
    const auto expected = request.headers.find("Stream-Expected-Offset");
    if (expected && *expected != offset_text(stream.tail())) {
      HttpResponse refusal = refuse(409, "offset_mismatch");
      refusal.headers.set("Stream-Next-Offset", offset_text(stream.tail()));
      return refusal;
    }
    if (sequence) stream.sequence = std::string(*sequence);
    std::vector<std::string> before = stream.messages;
    put(stream, request.body);
    Offset tail = stream.tail();
    response.headers.set("Stream-Next-Offset", offset_text(tail));
    if (producer) {
      stream.producers[std::string(*producer)] = {number(request, "Producer-Epoch"),
                                                  number(request, "Producer-Seq"), tail};
    }
    if (++appends_ % 40 == 0 && lie_ == Lie::kForgetsAppends) stream.messages = before;
    if (appends_ % 40 == 0 && lie_ == Lie::kRepeatsAppends) put(stream, request.body);
    return response;
  }

  HttpResponse read(Stream& stream, const HttpRequest& request) {
    HttpResponse response;
    response.headers.set("Content-Type", stream.type);
    response.headers.set("Stream-Up-To-Date", "true");
    size_t from = 0;
    size_t end = stream.messages.size();
    if (lie_ == Lie::kShowsOldReads && ++reads_ % 10 == 0 && end > 0) --end;
    Offset at;
    size_t query = request.target.find("?offset=");
    std::string wanted = query == std::string::npos ? "" : request.target.substr(query + 8);
    while (!wanted.empty() && from < end && wanted != offset_text(at)) {
      at = {at.messages + 1, at.bytes + stream.messages[from++].size()};
    }
    if (!wanted.empty() && wanted != "now" && wanted != offset_text(at)) {
      return refuse(400, "invalid_offset");
    }
    bool json = stream.framing() == invariants::Framing::kJson;
    for (size_t i = from; i < end; ++i) {
      if (json && i > from) response.body += ",";
      response.body += stream.messages[i];
      at = {at.messages + 1, at.bytes + stream.messages[i].size()};
    }
    if (json) response.body = "[" + response.body + "]";
    response.headers.set("Stream-Next-Offset", offset_text(at));
    if (request.method == "HEAD") response.body.clear();
    return response;
  }

  invariants::Observer& observer_;
  Lie lie_;
  std::map<std::string, Stream> streams_;
  uint64_t log_ = 0;
  uint64_t appends_ = 0;
  uint64_t reads_ = 0;
};

}  // namespace morula::sim
