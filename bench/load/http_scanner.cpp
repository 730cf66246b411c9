#include "bench/load/http_scanner.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace morula::load {
namespace {

constexpr size_t kHeldMax = size_t{64} * 1024;
constexpr size_t kTextMax = 200;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

size_t end_of(std::string_view bytes, std::string_view mark) {
  const void* found = ::memmem(bytes.data(), bytes.size(), mark.data(), mark.size());
  if (found == nullptr) return 0;
  return static_cast<size_t>(static_cast<const char*>(found) - bytes.data()) + mark.size();
}

bool has_name(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         ::strncasecmp(line.data(), name.data(), name.size()) == 0;
}

std::string_view value_of(std::string_view line) {
  line.remove_prefix(line.find(':') + 1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

bool equals(std::string_view value, std::string_view word) {
  return value.size() == word.size() && ::strncasecmp(value.data(), word.data(), word.size()) == 0;
}

bool parse(std::string_view text, int base, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end != text.data();
}

}  // namespace

size_t HttpScanner::take(std::string_view bytes, std::optional<Reply>& reply) {
  size_t taken = 0;
  while (taken < bytes.size() && !reply) {
    const std::string_view rest = bytes.substr(taken);
    switch (state_) {
      case State::kHead:
        taken += take_head(rest, reply);
        break;
      case State::kBody:
      case State::kChunk:
        taken += take_body(rest, reply);
        break;
      case State::kChunkSize:
      case State::kTrailer:
        taken += take_line(rest, reply);
        break;
    }
  }
  return taken;
}

size_t HttpScanner::take_head(std::string_view bytes, std::optional<Reply>& reply) {
  if (held_.empty()) {
    if (const size_t size = end_of(bytes, kHeadEnd)) {
      read_head(bytes.substr(0, size), reply);
      return size;
    }
    held_.assign(bytes);
  } else {
    const size_t before = held_.size();
    held_.append(bytes);
    if (const size_t size = end_of(held_, kHeadEnd)) {
      read_head(std::string_view(held_).substr(0, size), reply);
      held_.clear();
      return size - before;
    }
  }
  if (held_.size() > kHeldMax) give_up(reply);
  return bytes.size();
}

void HttpScanner::read_head(std::string_view head, std::optional<Reply>& reply) {
  uint64_t status = 0;
  if (!head.starts_with("HTTP/1.") || head.size() < 13 || !parse(head.substr(9, 3), 10, status)) {
    return give_up(reply);
  }
  reply_.status = static_cast<int>(status);
  bool has_length = false;
  bool chunked = false;
  left_ = 0;
  for (size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const size_t end = head.find("\r\n", at);
    const std::string_view line = head.substr(at, end - at);
    at = end + 2;
    const char first = static_cast<char>(line.empty() ? 0 : line.front() | 0x20);
    if (first == 'c' && has_name(line, "content-length")) {
      has_length = parse(value_of(line), 10, left_);
    } else if (first == 'c' && has_name(line, "connection")) {
      reply_.closes = equals(value_of(line), "close");
    } else if (first == 't' && has_name(line, "transfer-encoding")) {
      chunked = equals(value_of(line), "chunked");
    }
  }
  if (status < 200) {
    reply_ = {};
    return;
  }
  if (status == 204 || status == 304) return finish(reply);
  if (chunked) {
    state_ = State::kChunkSize;
  } else if (!has_length) {
    give_up(reply);  // it would end where the connection does
  } else if (left_ == 0) {
    finish(reply);
  } else {
    state_ = State::kBody;
  }
}

size_t HttpScanner::take_body(std::string_view bytes, std::optional<Reply>& reply) {
  const size_t size = std::min<uint64_t>(bytes.size(), left_);
  keep_text(bytes.substr(0, size));
  left_ -= size;
  if (left_ > 0) return size;
  if (state_ == State::kBody) {
    finish(reply);
  } else {
    state_ = State::kChunkSize;
  }
  return size;
}

size_t HttpScanner::take_line(std::string_view bytes, std::optional<Reply>& reply) {
  const size_t line_feed = bytes.find('\n');
  const size_t size = line_feed == std::string_view::npos ? bytes.size() : line_feed + 1;
  held_.append(bytes.substr(0, size));
  if (!held_.ends_with('\n')) {
    if (held_.size() > kHeldMax) give_up(reply);
    return size;
  }
  std::string_view line = held_;
  line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
  if (state_ == State::kTrailer) {
    if (line.empty()) finish(reply);
  } else {
    read_chunk_line(line, reply);
  }
  held_.clear();
  return size;
}

void HttpScanner::read_chunk_line(std::string_view line, std::optional<Reply>& reply) {
  if (line.empty()) return;  // ends the chunk before
  if (!parse(line, 16, left_)) return give_up(reply);
  state_ = left_ == 0 ? State::kTrailer : State::kChunk;
}

void HttpScanner::keep_text(std::string_view body) {
  if (reply_.status < 300 || reply_.text.size() >= kTextMax) return;
  reply_.text.append(body.substr(0, kTextMax - reply_.text.size()));
}

void HttpScanner::finish(std::optional<Reply>& reply) {
  reply = std::move(reply_);
  reply_ = {};
  state_ = State::kHead;
}

void HttpScanner::give_up(std::optional<Reply>& reply) {
  reply_ = {};
  reply_.closes = true;
  finish(reply);
}

}  // namespace morula::load
