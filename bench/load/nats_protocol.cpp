#include <charconv>
#include <utility>
#include <vector>

#include "bench/load/protocol.hpp"

namespace morula::load {
namespace {

constexpr size_t kLineMax = size_t{64} * 1024;

/// An answer is a message to the connection's inbox; in the greeting, the server's PONG.
class NatsScanner final : public ReplyScanner {
 public:
  size_t take(std::string_view bytes, std::optional<Reply>& reply) override {
    size_t taken = 0;
    while (taken < bytes.size() && !reply) {
      if (left_ > 0) {
        const size_t size = std::min<uint64_t>(bytes.size() - taken, left_);
        message_.append(bytes.substr(taken, size));
        left_ -= size;
        taken += size;
        if (left_ == 0) read_message(reply);
      } else {
        taken += take_line(bytes.substr(taken), reply);
      }
    }
    return taken;
  }

  std::string_view owed() override {
    const std::string_view pong = "PONG\r\n";
    return std::exchange(pinged_, false) ? pong : std::string_view();
  }

 private:
  size_t take_line(std::string_view bytes, std::optional<Reply>& reply) {
    const size_t end = bytes.find('\n');
    const size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
    held_.append(bytes.substr(0, size));
    if (held_.ends_with('\n')) {
      read_line(held_, reply);
      held_.clear();
    } else if (held_.size() > kLineMax) {
      reply = Reply{0, true, {}};
    }
    return size;
  }

  void read_line(std::string_view line, std::optional<Reply>& reply) {
    line.remove_suffix(line.ends_with("\r\n") ? 2 : 1);
    if (line.starts_with("MSG ")) {
      const std::string_view size = line.substr(line.rfind(' ') + 1);
      std::from_chars(size.data(), size.data() + size.size(), left_);
      left_ += 2;
    } else if (line == "PING") {
      pinged_ = true;
    } else if (line == "PONG") {
      reply = Reply{200, false, {}};
    } else if (line.starts_with("-ERR")) {
      reply = Reply{500, true, std::string(line)};
    }
  }

  void read_message(std::optional<Reply>& reply) {
    const bool failed = message_.find("\"error\"") != std::string::npos;
    reply = failed ? Reply{500, false, message_} : Reply{200, false, {}};
    message_.clear();
  }

  std::string held_;
  std::string message_;
  uint64_t left_ = 0;  // of a message, with its line end
  bool pinged_ = false;
};

class NatsProtocol final : public Protocol {
 public:
  explicit NatsProtocol(const Workload& workload)
      : name_("LOAD" + workload.nonce), body_(record_of(workload.record_bytes)) {
    const std::string size = " " + std::to_string(body_.size()) + "\r\n";
    body_ += "\r\n";
    for (size_t stream = 0; stream < workload.streams; ++stream) {
      subjects_.push_back("PUB " + name_ + "." + std::to_string(stream) + " ");
    }
    for (size_t i = 0; i < workload.connections; ++i) inboxes_.push_back(inbox(i) + size);
  }

  size_t creations() const override { return 1; }

  void write(Operation operation, size_t stream, size_t connection, Request& request) override {
    if (operation == Operation::kCreate) {
      const std::string config = R"({"name":")" + name_ + R"(","subjects":[")" + name_ +
                                 R"(.>"],"storage":"file","retention":"limits","num_replicas":1})";
      *request.head = "PUB $JS.API.STREAM.CREATE." + name_ + " " + inbox(connection) + " " +
                      std::to_string(config.size()) + "\r\n" + config + "\r\n";
      return;
    }
    request.head->assign(subjects_[stream]);
    request.head->append(inboxes_[connection]);
    request.body = body_;
  }

  std::unique_ptr<ReplyScanner> scanner() const override { return std::make_unique<NatsScanner>(); }
  Greeting greeting(size_t connection) const override {
    return {
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"c++\",\"version\":\"1\"}\r\n"
        "SUB " +
            inbox(connection) + " 1\r\nPING\r\n",
        1};
  }

 private:
  std::string inbox(size_t connection) const {
    return "_INBOX." + name_ + "." + std::to_string(connection);
  }

  std::string name_;
  std::string body_;
  std::vector<std::string> subjects_;
  std::vector<std::string> inboxes_;
};

}  // namespace

std::unique_ptr<Protocol> nats_protocol(const Workload& workload) {
  return std::make_unique<NatsProtocol>(workload);
}

}  // namespace morula::load
