#include <charconv>
#include <vector>

#include "bench/load/protocol.hpp"

namespace morula::load {
namespace {

constexpr size_t kLineMax = size_t{64} * 1024;

/// Counts the values of RESP that an answer still lacks; an array adds its elements.
class RedisScanner final : public ReplyScanner {
 public:
  size_t take(std::string_view bytes, std::optional<Reply>& reply) override {
    size_t taken = 0;
    while (taken < bytes.size() && !reply) {
      if (left_ > 0) {
        const size_t size = std::min<uint64_t>(bytes.size() - taken, left_);
        left_ -= size;
        taken += size;
        if (left_ == 0) value_ended(reply);
      } else {
        taken += take_line(bytes.substr(taken), reply);
      }
    }
    return taken;
  }

 private:
  size_t take_line(std::string_view bytes, std::optional<Reply>& reply) {
    const size_t end = bytes.find('\n');
    const size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
    if (held_.empty() && end != std::string_view::npos) {
      read_line(bytes.substr(0, size), reply);
      return size;
    }
    held_.append(bytes.substr(0, size));
    if (held_.ends_with('\n')) {
      read_line(held_, reply);
      held_.clear();
    } else if (held_.size() > kLineMax) {
      finish(0, reply);
    }
    return size;
  }

  void read_line(std::string_view line, std::optional<Reply>& reply) {
    int64_t number = 0;
    std::from_chars(line.data() + 1, line.data() + line.size(), number);
    switch (line.front()) {
      case '+':
      case ':':
        return value_ended(reply);
      case '-':
        text_.assign(line.substr(1, line.find('\r') - 1));
        failed_ = true;
        return value_ended(reply);
      case '$':
        if (number < 0) return value_ended(reply);
        left_ = static_cast<uint64_t>(number) + 2;
        return;
      case '*':
        if (number > 0) wanted_ += static_cast<uint64_t>(number);
        return value_ended(reply);
      default:
        return finish(0, reply);
    }
  }

  void value_ended(std::optional<Reply>& reply) {
    if (--wanted_ == 0) finish(failed_ ? 500 : 200, reply);
  }

  void finish(int status, std::optional<Reply>& reply) {
    reply = Reply{status, status == 0, std::move(text_)};
    text_.clear();
    wanted_ = 1;
    failed_ = false;
  }

  std::string held_;
  std::string text_;
  uint64_t left_ = 0;    // of a string, with its line end
  uint64_t wanted_ = 1;  // values until the answer is complete
  bool failed_ = false;
};

std::string resp(std::initializer_list<std::string> words) {
  std::string out = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    out += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return out;
}

class RedisProtocol final : public Protocol {
 public:
  explicit RedisProtocol(const Workload& workload) : body_(record_of(workload.record_bytes)) {
    body_ += "\r\n";
    for (size_t stream = 0; stream < workload.streams; ++stream) {
      const std::string key =
          workload.prefix + "load-" + workload.nonce + "-" + std::to_string(stream);
      std::string append = "*5\r\n$4\r\nXADD\r\n$" + std::to_string(key.size()) + "\r\n" + key +
                           "\r\n$1\r\n*\r\n$1\r\nd\r\n$" + std::to_string(workload.record_bytes) +
                           "\r\n";
      appends_.push_back(std::move(append));
      reads_.push_back(resp({"XRANGE", key, "-", "+"}));
    }
  }

  size_t creations() const override { return 0; }  // XADD creates
  void write(Operation operation, size_t stream, size_t, Request& request) override {
    if (operation == Operation::kRead) {
      request.head->assign(reads_[stream]);
    } else {
      request.head->assign(appends_[stream]);
      request.body = body_;
    }
  }
  std::unique_ptr<ReplyScanner> scanner() const override {
    return std::make_unique<RedisScanner>();
  }

 private:
  std::string body_;
  std::vector<std::string> appends_;
  std::vector<std::string> reads_;
};

}  // namespace

std::unique_ptr<Protocol> redis_protocol(const Workload& workload) {
  return std::make_unique<RedisProtocol>(workload);
}

}  // namespace morula::load
