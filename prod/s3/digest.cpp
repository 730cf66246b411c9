#include "prod/s3/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/base/check.hpp"

namespace morula {
namespace {

/// Raw bytes; empty when there is no such digest here.
std::string digest(const EVP_MD* kind, std::string_view data) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  if (EVP_Digest(data.data(), data.size(), bytes, &size, kind, nullptr) != 1) return {};
  out.resize(size);
  return out;
}

}  // namespace

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string sha256_hex(std::string_view data) {
  const std::string bytes = digest(EVP_sha256(), data);
  MORULA_CHECK(!bytes.empty(), "OpenSSL has no SHA-256");
  return hex(bytes);
}

std::string hmac_sha256(std::string_view key, std::string_view data) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(data.data()), data.size(),
                          reinterpret_cast<unsigned char*>(out.data()), &size);
  MORULA_CHECK(made != nullptr, "OpenSSL has no HMAC with SHA-256");
  out.resize(size);
  return out;
}

std::string md5_base64(std::string_view data) {
  const std::string bytes = digest(EVP_md5(), data);
  if (bytes.empty()) return {};
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace morula
