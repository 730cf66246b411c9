// Digests as S3 wants them.
#pragma once

#include <string>
#include <string_view>

namespace morula {

/// 64 hex digits, lower case.
std::string sha256_hex(std::string_view data);
/// 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view data);
/// As Content-MD5 has it. Empty where the machine's policy knows no MD5.
std::string md5_base64(std::string_view data);
std::string hex(std::string_view bytes);

}  // namespace morula
