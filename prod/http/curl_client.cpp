#include "prod/http/curl_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.hpp"
#include "core/rt/sync.hpp"

namespace morula {
namespace {

constexpr size_t kIdleHandlesMax = 32;
constexpr std::string_view kContentLength = "Content-Length";

template <class... Arguments>
void set_option(CURL* easy, CURLoption option, Arguments... arguments) {
  MORULA_CHECK(curl_easy_setopt(easy, option, arguments...) == CURLE_OK);
}

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;

struct FreeHeaders {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeHeaders>;

/// Headers that are curl's to set.
bool is_curls_own(std::string_view name) {
  for (const std::string_view own :
       {"Content-Length", "Transfer-Encoding", "Connection", "Expect", "Host", "Keep-Alive", "TE",
        "Trailer", "Upgrade", "Proxy-Connection"}) {
    if (name.size() == own.size() && ::strncasecmp(name.data(), own.data(), own.size()) == 0) {
      return true;
    }
  }
  return false;
}

/// One request on its way, and its answer.
struct Transfer {
  Transfer(const HttpRequest& r, std::string_view b, uint64_t bytes_max)
      : request(r), body(b), response_bytes_max(bytes_max) {}

  const HttpRequest& request;
  const std::string_view body;
  const uint64_t response_bytes_max;
  HeaderList headers;
  HttpResponse response;
  Completion<CURLcode> done;
  bool sent = false;               // the request may have left this machine
  bool too_long = false;           // the answer
  uint64_t pieces = 0;             // of the answer so far
  char why[CURL_ERROR_SIZE] = {};  // curl's words for a failure
};

size_t on_body(char* data, size_t, size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  ++transfer.pieces;
  std::string& body = transfer.response.body;
  if (body.size() + size > transfer.response_bytes_max) {
    transfer.too_long = true;
    return 0;
  }
  body.append(data, size);
  return size;
}

/// Makes room for a body of `length` at once.
void expect_body(Transfer& transfer, std::string_view length) {
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (error != std::errc() || transfer.request.method == "HEAD") return;
  if (bytes <= transfer.response_bytes_max) transfer.response.body.reserve(bytes);
}

size_t on_header(char* data, size_t, size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  ++transfer.pieces;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // also after an interim answer
    transfer.response.headers = Headers();
    return size;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  const std::string_view name = line.substr(0, colon);
  if (name.size() == kContentLength.size() &&
      ::strncasecmp(name.data(), kContentLength.data(), name.size()) == 0) {
    expect_body(transfer, value);
  }
  transfer.response.headers.add(name, value);
  return size;
}

/// Curl has a connection and is about to send. The second time it would repeat the request.
int on_connected(void* context, char*, char*, int, int) {
  auto& transfer = *static_cast<Transfer*>(context);
  if (transfer.sent) return CURL_PREREQFUNC_ABORT;
  transfer.sent = true;
  return CURL_PREREQFUNC_OK;
}

HeaderList make_headers(const HttpRequest& request) {
  curl_slist* list = nullptr;
  const auto append = [&](const std::string& line) {
    list = curl_slist_append(list, line.c_str());
  };
  for (const auto [name, value] : request.headers) {
    if (is_curls_own(name)) continue;
    std::string line(name);
    line.append(value.empty() ? ";" : ": ").append(value);
    append(line);
  }
  // What curl would add by itself.
  append("Expect:");
  if (!request.headers.contains("Content-Type")) append("Content-Type:");
  if (!request.headers.contains("Accept")) append("Accept:");
  return HeaderList(list);
}

void prepare(CURL* easy, const std::string& base, Transfer& transfer,
             const CurlClientConfig& config) {
  const HttpRequest& request = transfer.request;
  using std::chrono::duration_cast;
  set_option(easy, CURLOPT_URL, (base + "/").c_str());
  set_option(easy, CURLOPT_REQUEST_TARGET, request.target.c_str());
  set_option(easy, CURLOPT_PATH_AS_IS, 1L);
  set_option(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set_option(easy, CURLOPT_PROXY, "");
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_USERAGENT, "morula");
  set_option(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(duration_cast<std::chrono::milliseconds>(config.connect_timeout).count()));
  set_option(
      easy, CURLOPT_MAXAGE_CONN,
      static_cast<long>(duration_cast<std::chrono::seconds>(config.connection_idle_max).count()));
  set_option(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set_option(easy, CURLOPT_WRITEDATA, &transfer);
  set_option(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set_option(easy, CURLOPT_HEADERDATA, &transfer);
  set_option(easy, CURLOPT_PREREQFUNCTION, &on_connected);
  set_option(easy, CURLOPT_PREREQDATA, &transfer);
  set_option(easy, CURLOPT_PRIVATE, &transfer);
  set_option(easy, CURLOPT_ERRORBUFFER, transfer.why);
  if (!config.ca_file.empty()) set_option(easy, CURLOPT_CAINFO, config.ca_file.c_str());
  if (request.method == "HEAD") {
    set_option(easy, CURLOPT_NOBODY, 1L);
  } else if (!transfer.body.empty() || request.method == "POST" || request.method == "PUT") {
    set_option(easy, CURLOPT_POST, 1L);
    set_option(easy, CURLOPT_POSTFIELDS, transfer.body.data());
    set_option(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
  }
  set_option(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  transfer.headers = make_headers(request);
  set_option(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
}

Error error_of(CURLcode code, const Transfer& transfer, const std::string& base) {
  const std::string why = fmt::format(
      "{}: {}", base, transfer.why[0] != '\0' ? transfer.why : curl_easy_strerror(code));
  if (transfer.too_long) return {ErrorCode::kInvalid, base + ": the answer is too long"};
  const bool no_address = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
  if (no_address && !transfer.sent) return {ErrorCode::kInvalid, why};
  // Nothing has left before there was a connection.
  return {transfer.sent ? ErrorCode::kUnavailable : ErrorCode::kNotFound, why};
}

/// Nullopt when `deadline` came first, or nothing came for `silence`.
std::optional<CURLcode> wait_for(Loop& loop, const Transfer& transfer, Time deadline,
                                 Duration silence) {
  for (;;) {
    const uint64_t before = transfer.pieces;
    const Time now = loop.now();
    const Time look = silence < kNever - now ? std::min(deadline, now + silence) : deadline;
    if (const auto code = transfer.done.wait_until(loop, look)) return code;
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
    MORULA_CHECK(active == 0, "a call is under way");
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
      const CURLcode code = message->data.result;
      reinterpret_cast<Transfer*>(transfer)->done.complete(code);
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
  WaitList queue;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

CurlClient::CurlClient(Loop& loop, const CurlClientConfig& config)
    : impl_(std::make_unique<Impl>(loop, config)) {}

CurlClient::~CurlClient() = default;

Result<HttpResponse> CurlClient::call(const std::string& base, const HttpRequest& request,
                                      std::string_view body, Time deadline, Duration silence) {
  Impl& impl = *impl_;
  while (impl.active >= impl.config.transfers_max) {
    if (!impl.queue.wait_until(impl.loop, deadline)) {
      return fail(ErrorCode::kTimeout, base + ": too many calls are under way");
    }
  }
  ++impl.active;
  Transfer transfer(request, body, impl.config.response_bytes_max);
  Easy easy = impl.take_handle();
  prepare(easy.get(), base, transfer, impl.config);
  MORULA_CHECK(curl_multi_add_handle(impl.multi, easy.get()) == CURLM_OK);
  // Also when the fiber is cancelled: curl must not touch the transfer any more. A handle that was
  // not used to its end goes with it.
  struct AtEnd {
    Impl& impl;
    Easy& easy;
    bool reusable = false;
    ~AtEnd() {
      curl_multi_remove_handle(impl.multi, easy.get());
      if (reusable && impl.idle.size() < kIdleHandlesMax) impl.idle.push_back(std::move(easy));
      --impl.active;
      impl.queue.wake_one();
    }
  } at_end{impl, easy};
  const auto code = wait_for(impl.loop, transfer, deadline, silence);
  if (!code) return fail(ErrorCode::kTimeout, base + ": no answer in time");
  if (*code != CURLE_OK) return fail(error_of(*code, transfer, base));
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  transfer.response.status = static_cast<int>(status);
  at_end.reusable = true;
  return std::move(transfer.response);
}

}  // namespace morula
