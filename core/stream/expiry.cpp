#include "core/stream/expiry.hpp"

#include <algorithm>
#include <limits>

namespace morula {

namespace {

constexpr uint64_t kTtlSecondsMax = (uint64_t{1} << 53) - 1;
constexpr size_t kTimeBytesMax = 64;  // it is kept as it was given, and fractions may be long
constexpr int64_t kMsPerDay = 86'400'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads an RFC 3339 time front to back; what does not fit leaves `ok` false.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  /// Exactly `digits` digits with a value in [low, high].
  int64_t number(size_t digits, int64_t low, int64_t high) {
    int64_t value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (rest_.empty() || !is_digit(rest_.front())) return reject();
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value < low || value > high ? reject() : value;
  }
  void mark(char c) {
    if (!take(c)) reject();
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Digits after the point of a second, in whole milliseconds.
  int64_t fraction_ms() {
    int64_t ms = 0;
    int64_t scale = 100;
    if (rest_.empty() || !is_digit(rest_.front())) return reject();
    while (!rest_.empty() && is_digit(rest_.front())) {
      ms += scale * (rest_.front() - '0');
      scale /= 10;
      rest_.remove_prefix(1);
    }
    return ms;
  }
  bool ok() const { return ok_ && rest_.empty(); }

 private:
  int64_t reject() {
    ok_ = false;
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::string digits(int64_t number, size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

bool is_leap(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int64_t days_in_month(int64_t year, int64_t month) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12) return 0;
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

/// Days from 1970-01-01 to a day of the Gregorian calendar; the year is at least 0.
int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
  // Years are counted from March, so that the leap day is a year's last.
  const int64_t y = month > 2 ? year : year - 1;
  const int64_t months = month > 2 ? month - 3 : month + 9;
  const int64_t leap_days = y >= 0 ? y / 4 - y / 100 + y / 400 : -1;
  return y * 365 + leap_days + (153 * months + 2) / 5 + day - 1 - 719'468;
}

/// `Z`, or `+hh:mm`: how many minutes local time is ahead of UTC.
int64_t zone_minutes(TimeReader& in) {
  if (in.take('Z') || in.take('z')) return 0;
  const bool behind = in.take('-');
  if (!behind) in.mark('+');
  const int64_t hours = in.number(2, 0, 23);
  in.mark(':');
  const int64_t minutes = hours * 60 + in.number(2, 0, 59);
  return behind ? -minutes : minutes;
}

int64_t ttl_ms(uint64_t seconds) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  return seconds > static_cast<uint64_t>(kLast / 1000) ? kLast
                                                       : static_cast<int64_t>(seconds) * 1000;
}

/// The last time there is, when it would be beyond that.
WallTime later(WallTime time, int64_t ms) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  if (time.ms > 0 && ms > kLast - time.ms) return WallTime{kLast};
  return WallTime{time.ms + ms};
}

}  // namespace

// Years are counted from March, so that the leap day is a year's last.
std::string rfc3339(WallTime time) {
  constexpr int64_t kDayMs = 86'400'000;
  constexpr int64_t kEraDays = 146'097;  // 400 years
  const int64_t ms = std::max<int64_t>(time.ms, 0);
  const int64_t days = ms / kDayMs + 719'468;
  const int64_t era = days / kEraDays;
  const int64_t day_of_era = days % kEraDays;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const int64_t year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
  const int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(day, 2) + "T" +
         digits(ms % kDayMs / 3'600'000, 2) + ":" + digits(ms / 60'000 % 60, 2) + ":" +
         digits(ms / 1000 % 60, 2) + "." + digits(ms % 1000, 3) + "Z";
}

Result<Expiry> Expiry::parse_ttl(std::string_view text) {
  bool ok = !text.empty() && text.size() <= 16 && (text == "0" || text.front() != '0');
  uint64_t seconds = 0;
  for (const char c : text.substr(0, ok ? text.size() : 0)) {
    ok = ok && is_digit(c);
    seconds = seconds * 10 + static_cast<uint64_t>(c - '0');
  }
  if (!ok || seconds > kTtlSecondsMax) {
    return fail(ErrorCode::kInvalid,
                "Stream-TTL is a number of seconds from 0 to 9007199254740991, in digits without "
                "sign, point, exponent or leading zeros");
  }
  Expiry expiry;
  expiry.kind = Kind::kTtl;
  expiry.ttl_seconds = seconds;
  return expiry;
}

Result<Expiry> Expiry::parse_at(std::string_view text) {
  TimeReader in(text);
  const int64_t year = in.number(4, 0, 9999);
  in.mark('-');
  const int64_t month = in.number(2, 1, 12);
  in.mark('-');
  const int64_t day = in.number(2, 1, days_in_month(year, month));
  if (!in.take('t')) in.mark('T');
  const int64_t hour = in.number(2, 0, 23);
  in.mark(':');
  const int64_t minute = in.number(2, 0, 59);
  in.mark(':');
  const int64_t second = in.number(2, 0, 60);
  const int64_t fraction = in.take('.') ? in.fraction_ms() : 0;
  const int64_t minutes = hour * 60 + minute - zone_minutes(in);
  // A leap second is the last of a day of UTC.
  const bool leap_second_fits = (minutes + 1) % (int64_t{24} * 60) == 0;
  if (!in.ok() || (second == 60 && !leap_second_fits) || text.size() > kTimeBytesMax) {
    return fail(ErrorCode::kInvalid,
                "Stream-Expires-At is a time of RFC 3339, such as 2030-01-31T12:00:00Z");
  }
  Expiry expiry;
  expiry.kind = Kind::kAt;
  expiry.at.ms =
      days_since_1970(year, month, day) * kMsPerDay + minutes * 60'000 + second * 1000 + fraction;
  expiry.text = std::string(text);
  return expiry;
}

std::optional<WallTime> Expiry::deadline(WallTime renewed) const {
  if (kind == Kind::kNone) return std::nullopt;
  return kind == Kind::kAt ? at : later(renewed, ttl_ms(ttl_seconds));
}

std::optional<WallTime> Expiry::deadline_ahead(WallTime renewed) const {
  auto deadline = this->deadline(renewed);
  if (kind == Kind::kTtl) deadline = later(*deadline, ttl_ms(ttl_seconds) / 8);
  return deadline;
}

bool Expiry::same_as(const Expiry& other) const {
  return kind == other.kind && ttl_seconds == other.ttl_seconds && at == other.at;
}

}  // namespace morula
