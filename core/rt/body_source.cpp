#include "core/rt/body_source.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace morula {

namespace {

class StringPieces final : public BodySource {
 public:
  StringPieces(std::string body, uint64_t piece_bytes)
      : body_(std::move(body)), piece_bytes_(piece_bytes) {
    MORULA_CHECK(piece_bytes > 0);
  }
  std::optional<uint64_t> length() const override { return body_.size(); }
  Result<std::string> next() override {
    std::string piece = body_.substr(given_, piece_bytes_);
    given_ += piece.size();
    return piece;
  }

 private:
  const std::string body_;
  const uint64_t piece_bytes_;
  uint64_t given_ = 0;
};

}  // namespace

std::shared_ptr<BodySource> body_in_pieces(std::string body, uint64_t piece_bytes) {
  return std::make_shared<StringPieces>(std::move(body), piece_bytes);
}

Result<std::string> read_whole(BodySource& source, uint64_t bytes_max) {
  std::string body;
  for (;;) {
    auto piece = source.next();
    MORULA_TRY(piece);
    if (piece->empty()) return body;
    if (body.size() + piece->size() > bytes_max) {
      return fail(ErrorCode::kInvalid,
                  "the body is longer than " + std::to_string(bytes_max) + " bytes");
    }
    body += *piece;
  }
}

}  // namespace morula
