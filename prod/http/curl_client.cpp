#include "prod/http/curl_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.hpp"
#include "core/rt/clock.hpp"
#include "prod/http/curl_transfer.hpp"

namespace morula {
namespace {

constexpr size_t kIdleHandlesMax = 32;

Error too_many(const std::string& base) {
  return {ErrorCode::kTimeout, base + ": too many calls are under way"};
}

/// Nullopt when `deadline` came first, or nothing came for `silence`.
std::optional<int> wait_for(Loop& loop, Transfer& transfer, Time deadline, Duration silence) {
  for (;;) {
    const uint64_t before = transfer.pieces;
    const Time now = loop.now();
    const Time look = silence < kNever - now ? std::min(deadline, now + silence) : deadline;
    while (!transfer.done && transfer.changed.wait_until(loop, look)) {
    }
    if (transfer.done) return transfer.done;
    if (look == deadline || transfer.pieces == before) return std::nullopt;
  }
}

}  // namespace

struct CurlClient::Impl {
  /// A socket of curl's that it wants watched.
  struct Socket final : FdEvents {
    Socket(Impl& impl, int fd)
        : client(impl),
          number(fd),
          watch(std::make_unique<FdWatch>(impl.loop, fd, static_cast<FdEvents&>(*this))) {}
    void on_readable() override { client.socket_ready(*this, CURL_CSELECT_IN); }
    void on_writable() override { client.socket_ready(*this, CURL_CSELECT_OUT); }
    void want(int what_to_want) {
      wanted = what_to_want;
      await();
    }
    void await() {
      if ((wanted & CURL_POLL_IN) != 0) watch->await_readable();
      if ((wanted & CURL_POLL_OUT) != 0) watch->await_writable();
    }

    Impl& client;
    int number;
    int wanted = 0;
    std::unique_ptr<FdWatch> watch;
  };

  Impl(Loop& l, const CurlClientConfig& c) : loop(l), config(c), multi(curl_multi_init()) {
    MORULA_CHECK(multi != nullptr, "libcurl does not start");
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Impl::on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Impl::on_timeout_change);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  }

  ~Impl() {
    MORULA_CHECK(active == 0 && bodies == 0, "a call is under way");
    idle.clear();
    curl_multi_cleanup(multi);
    loop.disarm(timer);
  }

  static int on_socket(CURL*, curl_socket_t fd, int what, void* context, void*) {
    auto& self = *static_cast<Impl*>(context);
    if (what == CURL_POLL_REMOVE) {
      // It may be this socket's event that we are in. Its number is free for another right away.
      const auto found = self.sockets.find(fd);
      if (found != self.sockets.end()) {
        found->second->watch.reset();
        self.retired.push_back(std::move(found->second));
        self.sockets.erase(found);
      }
      self.retire_later();
      return 0;
    }
    auto& socket = self.sockets[fd];
    if (!socket) socket = std::make_unique<Socket>(self, fd);
    socket->want(what);
    return 0;
  }

  static int on_timeout_change(CURLM*, long after_ms, void* context) {
    auto& self = *static_cast<Impl*>(context);
    self.loop.disarm(std::exchange(self.timer, 0));
    if (after_ms < 0) return 0;
    self.timer = self.loop.arm(
        self.loop.now() + std::chrono::milliseconds(after_ms),
        [](void* impl) { static_cast<Impl*>(impl)->act(CURL_SOCKET_TIMEOUT, 0); }, &self);
    return 0;
  }

  void socket_ready(Socket& socket, int what) {
    const int fd = socket.number;
    act(fd, what);
    // One look per ask; the socket may be another one by now, or gone.
    const auto found = sockets.find(fd);
    if (found != sockets.end()) found->second->await();
  }

  void act(curl_socket_t fd, int what) {
    int running = 0;
    curl_multi_socket_action(multi, fd, what, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      char* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      reinterpret_cast<Transfer*>(transfer)->done = message->data.result;
      reinterpret_cast<Transfer*>(transfer)->changed.wake_all();
    }
  }

  void retire_later() {
    if (retire_deferred) return;
    retire_deferred = true;
    loop.defer([this, alive = std::weak_ptr<bool>(alive)] {
      if (!alive.lock()) return;
      retire_deferred = false;
      retired.clear();
    });
  }

  class Flight;
  /// False: none was free in time.
  bool await_slot(Time deadline);

  Easy take_handle() {
    if (idle.empty()) return Easy(curl_easy_init());
    Easy easy = std::move(idle.back());
    idle.pop_back();
    curl_easy_reset(easy.get());
    return easy;
  }

  Loop& loop;
  const CurlClientConfig config;
  CURLM* multi;
  Clock::TimerId timer = 0;
  std::map<int, std::unique_ptr<Socket>> sockets;
  std::vector<std::unique_ptr<Socket>> retired;  // removed, perhaps still on the stack
  bool retire_deferred = false;
  std::vector<Easy> idle;  // handles of calls that ended well
  size_t active = 0;
  size_t bodies = 0;  // in pieces
  WaitList queue;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

/// A transfer that curl has, from construction on. Also when its fiber is cancelled, curl must not
/// touch it any more after that. A handle that was not used to its end goes with it, and its
/// connection.
class CurlClient::Impl::Flight {
 public:
  Flight(Impl& impl, const std::string& base, Transfer& transfer)
      : impl_(impl), easy_(impl.take_handle()) {
    prepare(easy_.get(), base, transfer, impl.config);
    MORULA_CHECK(curl_multi_add_handle(impl.multi, easy_.get()) == CURLM_OK);
    ++impl.active;
  }
  ~Flight() {
    curl_multi_remove_handle(impl_.multi, easy_.get());
    if (landed_ && impl_.idle.size() < kIdleHandlesMax) impl_.idle.push_back(std::move(easy_));
    leave_slot();
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  CURL* easy() const { return easy_.get(); }
  /// It has ended well.
  void landed() { landed_ = true; }
  /// It doesn't count among those under way any more.
  void leave_slot() {
    if (!std::exchange(in_slot_, false)) return;
    --impl_.active;
    impl_.queue.wake_one();
  }

 private:
  Impl& impl_;
  Easy easy_;
  bool landed_ = false;
  bool in_slot_ = true;
};

bool CurlClient::Impl::await_slot(Time deadline) {
  while (active >= config.transfers_max) {
    if (!queue.wait_until(loop, deadline)) return false;
  }
  return true;
}

CurlClient::CurlClient(Loop& loop, const CurlClientConfig& config)
    : impl_(std::make_unique<Impl>(loop, config)) {}

CurlClient::~CurlClient() = default;

Result<HttpResponse> CurlClient::call(const std::string& base, const HttpRequest& request,
                                      std::string_view body, Time deadline, Duration silence) {
  Impl& impl = *impl_;
  if (!impl.await_slot(deadline)) return fail(too_many(base));
  Transfer transfer(request, body, impl.config.response_bytes_max);
  Impl::Flight flight(impl, base, transfer);
  const auto code = wait_for(impl.loop, transfer, deadline, silence);
  if (!code) return fail(ErrorCode::kTimeout, base + ": no answer in time");
  if (*code != CURLE_OK) return fail(error_of(*code, transfer, base));
  flight.landed();
  return std::move(transfer.response);
}

/// An answer whose body is still coming, and the request that curl refers to.
class CurlClient::Body final : public BodySource {
 public:
  Body(Impl& impl, std::string base, HttpRequest request, const BodyBounds& bounds)
      : impl_(impl),
        base_(std::move(base)),
        request_(std::move(request)),
        bounds_(bounds),
        transfer_(request_, request_.body, impl.config.response_bytes_max) {
    transfer_.window = bounds.window_bytes;
    flight_.emplace(impl, base_, transfer_);
  }
  ~Body() override {
    if (counted_) --impl_.bodies;
  }

  /// The answer: whole, or its head, with no source yet.
  Result<HttpResponse> open(Time deadline) {
    while (!transfer_.done && !transfer_.in_pieces) {
      if (!transfer_.changed.wait_until(impl_.loop, deadline)) {
        return fail(ErrorCode::kTimeout, base_ + ": no answer in time");
      }
    }
    if (transfer_.done && *transfer_.done != CURLE_OK) {
      return fail(error_of(*transfer_.done, transfer_, base_));
    }
    if (!transfer_.in_pieces) {
      flight_->landed();
      return std::move(transfer_.response);
    }
    if (!transfer_.has_length && !transfer_.is_chunked) {
      return fail(ErrorCode::kInvalid, base_ + ": the answer does not say where it ends");
    }
    if (impl_.bodies >= impl_.config.bodies_max) {
      return fail(ErrorCode::kBusy, base_ + ": too many bodies are under way");
    }
    ++impl_.bodies;
    counted_ = true;
    flight_->leave_slot();
    HttpResponse head;
    head.status = transfer_.response.status;
    head.headers = std::move(transfer_.response.headers);
    if (!transfer_.is_chunked) length_ = length_in(head.headers);
    return head;
  }
  bool in_pieces() const { return transfer_.in_pieces; }

  std::optional<uint64_t> length() const override { return length_; }
  Result<std::string> next() override {
    const Time until = impl_.loop.now() + bounds_.silence;
    while (transfer_.response.body.empty() && !transfer_.done) {
      if (std::exchange(transfer_.paused, false)) {
        curl_easy_pause(flight_->easy(), CURLPAUSE_CONT);
        continue;
      }
      if (!transfer_.changed.wait_until(impl_.loop, until)) {
        return fail(ErrorCode::kTimeout, base_ + ": no more of the answer in time");
      }
    }
    if (!transfer_.response.body.empty()) return std::exchange(transfer_.response.body, {});
    if (*transfer_.done != CURLE_OK) return fail(error_of(*transfer_.done, transfer_, base_));
    flight_->landed();
    return std::string();
  }

 private:
  static std::optional<uint64_t> length_in(const Headers& headers) {
    const std::string_view text = headers.find(kContentLength).value_or("");
    uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    return error == std::errc() ? std::optional(length) : std::nullopt;
  }

  Impl& impl_;
  const std::string base_;
  const HttpRequest request_;
  const BodyBounds bounds_;
  Transfer transfer_;
  std::optional<Impl::Flight> flight_;
  std::optional<uint64_t> length_;
  bool counted_ = false;
};

Result<HttpResponse> CurlClient::call_in_pieces(const std::string& base, const HttpRequest& request,
                                                Time deadline, const BodyBounds& bounds) {
  if (!impl_->await_slot(deadline)) return fail(too_many(base));
  const auto body = std::make_shared<Body>(*impl_, base, request, bounds);
  auto answer = body->open(deadline);
  if (answer && body->in_pieces()) answer->source = body;
  return answer;
}

}  // namespace morula
