#include "core/rt/body_source.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/api/forwarded_body.hpp"

namespace morula {
namespace {

/// Gives `pieces`, and then an end, whole or cut.
class Pieces final : public BodySource {
 public:
  Pieces(std::vector<std::string> pieces, std::optional<uint64_t> length, bool cut)
      : pieces_(std::move(pieces)), length_(length), cut_(cut) {}
  std::optional<uint64_t> length() const override { return length_; }
  Result<std::string> next() override {
    if (given_ < pieces_.size()) return pieces_[given_++];
    if (cut_) return fail(ErrorCode::kUnavailable, "cut");
    return std::string();
  }

 private:
  const std::vector<std::string> pieces_;
  const std::optional<uint64_t> length_;
  const bool cut_;
  size_t given_ = 0;
};

std::vector<std::string> drawn_pieces() {
  return *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::arbitrary<std::string>()));
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return all;
}

RC_GTEST_PROP(BodySource, AnySplitIntoPiecesGivesTheSameBytes, (const std::string& body)) {
  const auto piece_bytes = *rc::gen::inRange<uint64_t>(1, body.size() + 2);
  const auto source = body_in_pieces(body, piece_bytes);
  RC_ASSERT(source->length() == body.size());
  std::string read;
  for (;;) {
    const std::string piece = *source->next();
    RC_ASSERT(piece.size() <= piece_bytes);
    if (piece.empty()) break;
    read += piece;
  }
  RC_ASSERT(read == body);
  RC_ASSERT(*read_whole(*body_in_pieces(body, piece_bytes), body.size()) == body);
}

RC_GTEST_PROP(BodySource, ABodyIsReadWholeUpToItsBoundAndNoFurther, ()) {
  const auto pieces = drawn_pieces();
  const uint64_t size = joined(pieces).size();
  const auto bound = *rc::gen::inRange<uint64_t>(0, 2 * size + 1);
  Pieces source(pieces, std::nullopt, false);
  const auto read = read_whole(source, bound);
  RC_ASSERT(read.has_value() == (size <= bound));
}

RC_GTEST_PROP(ForwardedBody, IsWholeExactlyWhenWhatItComesFromWasWhole, (bool cut, bool says)) {
  const auto pieces = drawn_pieces();
  const std::string all = joined(pieces);
  const auto length = says ? std::optional<uint64_t>(all.size()) : std::nullopt;
  MemoryAccount account("reads", 1000);
  {
    ForwardedBody body(std::make_shared<Pieces>(pieces, length, cut), *account.try_reserve(100));
    RC_ASSERT(body.length() == length);
    const auto read = read_whole(body, all.size());
    RC_ASSERT(read.has_value() == !cut);
    RC_ASSERT(!read || *read == all);
    RC_ASSERT(account.used() == 100u);
  }
  RC_ASSERT(account.used() == 0u);
}

RC_GTEST_PROP(ForwardedBody, ThatEndsElsewhereThanItWasAnnouncedToIsCut, ()) {
  const auto pieces = drawn_pieces();
  const uint64_t size = joined(pieces).size();
  const auto announced = *rc::gen::distinctFrom(rc::gen::inRange<uint64_t>(0, 2 * size + 2), size);
  ForwardedBody body(std::make_shared<Pieces>(pieces, announced, false), {});
  RC_ASSERT(!read_whole(body, 2 * size).has_value());
}

}  // namespace
}  // namespace morula
