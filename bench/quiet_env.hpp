// The parts of an Env that benchmarks have no use for.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/rt/compute.hpp"
#include "core/rt/network.hpp"
#include "core/rt/platform.hpp"
#include "core/rt/trace.hpp"

namespace morula {

class InlineCompute final : public Compute {
 public:
  void run(const std::function<void()>& work) override { work(); }
};

class NoPlatform final : public Platform {
 public:
  ProcessIdentity self() const override { return {}; }
  bool provably_gone(const ProcessIdentity&) const override { return false; }
};

class NoTrace final : public Trace {
 public:
  void step(const StepEvent&) override {}
  void log(Severity, std::string_view, std::initializer_list<LogField>) override {}
  void sometimes(std::string_view, bool) override {}
};

/// Nobody listens anywhere; what serves can be asked directly.
class NoNetwork final : public Network {
 public:
  std::string address() const override { return "http://127.0.0.1:1"; }
  Result<HttpResponse> call(const std::string&, const HttpRequest&, Time) override {
    return fail(ErrorCode::kNotFound, "no network");
  }
  void serve(Scope&, Handler served) override { handler = std::move(served); }
  void stop_serving() override { handler = nullptr; }

  Handler handler;
};

}  // namespace morula
