#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "bench/load/http_scanner.hpp"

namespace morula::load {
namespace {

constexpr std::string_view kContentType = "Content-Type: application/octet-stream\r\n";

void append_number(std::string& out, uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  out.append(digits, end);
}

class HttpProtocol final : public Protocol {
 public:
  HttpProtocol(const Workload& workload, const std::string& host)
      : workload_(workload),
        record_(record_of(workload.record_bytes)),
        new_path_(fmt::format("PUT {}load-{}-new-", workload.prefix, workload.nonce)),
        new_end_(fmt::format(" HTTP/1.1\r\nHost: {}\r\n{}Content-Length: {}\r\n\r\n", host,
                             kContentType, workload.record_bytes)) {
    for (size_t stream = 0; stream < workload.streams; ++stream) {
      const std::string path = fmt::format("{}load-{}-{}", workload.prefix, workload.nonce, stream);
      const std::string end = fmt::format(" HTTP/1.1\r\nHost: {}\r\n", host);
      creates_.push_back(
          fmt::format("PUT {}{}{}Content-Length: 0\r\n\r\n", path, end, kContentType));
      appends_.push_back(fmt::format("POST {}{}{}Content-Length: {}\r\n", path, end, kContentType,
                                     workload.record_bytes));
      reads_.push_back(fmt::format("GET {}?offset=-1{}\r\n", path, end));
    }
    if (!workload.producers) return;
    sequences_.resize(workload.connections * workload.streams);
    for (size_t i = 0; i < workload.connections; ++i) {
      producers_.push_back("Producer-Id: load-" + workload.nonce + "-" + std::to_string(i) +
                           "\r\nProducer-Epoch: 0\r\nProducer-Seq: ");
    }
  }

  size_t creations() const override { return creates_.size(); }

  void write(Operation operation, size_t stream, size_t connection, Request& request) override {
    std::string& head = *request.head;
    switch (operation) {
      case Operation::kCreate:
        head.assign(creates_[stream]);
        return;
      case Operation::kRead:
        head.assign(reads_[stream]);
        return;
      case Operation::kFill:
      case Operation::kAppend:
        if (workload_.creates && operation == Operation::kAppend) {
          head.assign(new_path_);
          append_number(head, created_++);
          head.append(new_end_);
          request.body = record_;
          return;
        }
        head.assign(appends_[stream]);
        if (!producers_.empty() && operation == Operation::kAppend) {
          head.append(producers_[connection]);
          append_number(head, sequences_[connection * workload_.streams + stream]++);
          head.append("\r\n");
        }
        head.append("\r\n");
        request.body = record_;
    }
  }

  std::unique_ptr<ReplyScanner> scanner() const override { return std::make_unique<HttpScanner>(); }

 private:
  Workload workload_;
  std::string record_;
  std::string new_path_;
  std::string new_end_;
  uint64_t created_ = 0;
  std::vector<std::string> creates_;
  std::vector<std::string> appends_;  // without the empty line
  std::vector<std::string> reads_;
  std::vector<std::string> producers_;
  std::vector<uint32_t> sequences_;  // next, by connection and stream
};

}  // namespace

std::unique_ptr<Protocol> http_protocol(const Workload& workload, const std::string& host) {
  return std::make_unique<HttpProtocol>(workload, host);
}

std::string record_of(size_t size) {
  std::string record(size, ' ');
  for (size_t i = 0; i < size; ++i) record[i] = static_cast<char>('a' + i % 26);
  return record;
}

}  // namespace morula::load
