// Finds the end of HTTP/1.1 responses to anything but HEAD.
#pragma once

#include "bench/load/protocol.hpp"

namespace morula::load {

class HttpScanner final : public ReplyScanner {
 public:
  size_t take(std::string_view bytes, std::optional<Reply>& reply) override;

 private:
  enum class State : uint8_t { kHead, kBody, kChunkSize, kChunk, kTrailer };

  size_t take_head(std::string_view bytes, std::optional<Reply>& reply);
  size_t take_line(std::string_view bytes, std::optional<Reply>& reply);
  size_t take_body(std::string_view bytes, std::optional<Reply>& reply);
  void read_head(std::string_view head, std::optional<Reply>& reply);
  void read_chunk_line(std::string_view line, std::optional<Reply>& reply);
  void keep_text(std::string_view body);
  void finish(std::optional<Reply>& reply);
  void give_up(std::optional<Reply>& reply);

  State state_ = State::kHead;
  std::string held_;   // a head or a line that is not complete
  uint64_t left_ = 0;  // of the body or the chunk
  Reply reply_;
};

}  // namespace morula::load
