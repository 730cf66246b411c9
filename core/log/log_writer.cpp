#include "core/log/log_writer.hpp"

#include <algorithm>
#include <utility>

#include "core/base/mutant.hpp"
#include "core/log/log_writer_impl.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/trace.hpp"

namespace morula {

LogWriter::LogWriter(const Env& env, const LogConfig& config, IncarnationId incarnation,
                     Scope& scope)
    : impl_(std::make_unique<Impl>(env, config, std::move(incarnation))) {
  scope.spawn("log_commit", [impl = impl_.get()] { impl->commit(); });
}

LogWriter::~LogWriter() = default;

LogSeq LogWriter::append(StreamId id, std::string_view payload) {
  return impl_->append(id, payload);
}

Result<> LogWriter::wait_for_room() {
  return impl_->wait_for_room();
}

Result<> LogWriter::wait_acknowledged(LogSeq seq) {
  return impl_->wait_acknowledged(seq);
}

Result<> LogWriter::wait_to_answer(LogSeq seq) {
  return impl_->wait_to_answer(seq);
}

bool LogWriter::stalled() const {
  return impl_->stalled;
}

LogSeq LogWriter::acknowledged() const {
  return impl_->line.acknowledged();
}

uint64_t LogWriter::appended_bytes() const {
  return impl_->appended_bytes;
}

LogSeq LogWriter::cut() {
  return impl_->cut();
}

LogSeq LogWriter::cut_now() {
  impl_->hurried_below = impl_->cut();
  impl_->work.wake_all();
  return impl_->hurried_below;
}

LogPin LogWriter::pin_next() {
  return pin(cut());
}

LogPin LogWriter::pin(LogSeq seq) {
  return LogPin(impl_.get(), seq);
}

std::optional<LogSeq> LogWriter::lowest_pin() const {
  if (impl_->pins.empty()) return std::nullopt;
  return *impl_->pins.begin();
}

bool LogWriter::fenced() const {
  return impl_->fenced.is_set();
}

Event& LogWriter::fenced_event() {
  return impl_->fenced;
}

Result<> LogWriter::trim(LogSeq below) {
  return impl_->trim(below);
}

Result<> LogWriter::stop() {
  return impl_->stop();
}

WallTime LogWriter::wall() {
  const WallTime own = impl_->env.clock.wall();
  impl_->env.trace.sometimes("the wall clock was behind what was recorded", own < impl_->floor);
  raise_wall_floor(own);
  return mutated(Mutant::wall_floor_ignored) ? own : impl_->floor;
}

void LogWriter::raise_wall_floor(WallTime floor) {
  impl_->floor = std::max(impl_->floor, floor);
}

WallTime LogWriter::acknowledged_floor() const {
  return impl_->line.acknowledged_floor();
}

WallTime LogWriter::wall_floor() const {
  return impl_->floor;
}

const IncarnationId& LogWriter::incarnation() const {
  return impl_->incarnation;
}

LogPin::LogPin(LogWriter::Impl* log, LogSeq seq) : log_(log), seq_(seq) {
  log_->pins.insert(seq);
}

LogPin::LogPin(LogPin&& other) noexcept
    : log_(std::exchange(other.log_, nullptr)), seq_(other.seq_) {}

LogPin& LogPin::operator=(LogPin&& other) noexcept {
  if (this != &other) {
    release();
    log_ = std::exchange(other.log_, nullptr);
    seq_ = other.seq_;
  }
  return *this;
}

LogPin::~LogPin() {
  release();
}

void LogPin::release() {
  if (log_ == nullptr) return;
  log_->pins.erase(log_->pins.find(seq_));
  log_ = nullptr;
}

}  // namespace morula
