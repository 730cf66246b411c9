#include "prod/s3/s3_xml.hpp"

#include <charconv>
#include <pugixml.hpp>

#include "prod/s3/uri.hpp"

namespace morula {
namespace {

/// False when it is not well-formed to its end.
bool load(pugi::xml_document& document, std::string_view text) {
  // White space may be part of a key.
  return static_cast<bool>(document.load_buffer(text.data(), text.size(),
                                                pugi::parse_default | pugi::parse_ws_pcdata_single,
                                                pugi::encoding_utf8));
}

S3ErrorBody error_in(const pugi::xml_node& node) {
  return {node.child_value("Code"), node.child_value("Message"), node.child_value("Region")};
}

tl::unexpected<Error> not_what_was_asked(std::string_view wanted, std::string_view text) {
  const auto error = parse_s3_error(text);
  const std::string what = error ? error->code + " " + error->message
                                 : "an answer that is no whole " + std::string(wanted);
  return fail(ErrorCode::kUnavailable, "200, but with " + what);
}

Result<ObjectInfo> parse_object(const pugi::xml_node& node, bool encoded) {
  ObjectInfo object;
  const std::string_view key = node.child_value("Key");
  if (encoded) {
    auto decoded = decode_listed(key);
    MORULA_TRY(decoded);
    object.key = std::move(*decoded);
  } else {
    object.key = key;
  }
  const std::string_view size = node.child_value("Size");
  const char* last = size.data() + size.size();
  const auto [end, error] = std::from_chars(size.data(), last, object.size);
  if (object.key.empty() || error != std::errc() || end != last) {
    return fail(ErrorCode::kCorrupt, "a listed object has no key or no size");
  }
  object.etag = node.child_value("ETag");  // in quotes, as the header has it
  object.modified = parse_utc_time(node.child_value("LastModified"));
  return object;
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        out.push_back(c);
    }
  }
}

}  // namespace

std::optional<S3ErrorBody> parse_s3_error(std::string_view text) {
  pugi::xml_document document;
  if (!load(document, text)) return std::nullopt;
  if (const auto error = document.child("Error")) return error_in(error);
  // STS wraps it.
  if (const auto error = document.child("ErrorResponse").child("Error")) return error_in(error);
  return std::nullopt;
}

Result<S3Page> parse_s3_page(std::string_view text) {
  pugi::xml_document document;
  const bool whole = load(document, text);
  const auto root = document.child("ListBucketResult");
  if (!whole || !root) return not_what_was_asked("listing", text);
  const bool encoded = std::string_view(root.child_value("EncodingType")) == "url";
  S3Page page;
  for (const auto& node : root.children("Contents")) {
    auto object = parse_object(node, encoded);
    MORULA_TRY(object);
    page.objects.push_back(std::move(*object));
  }
  const std::string_view truncated = root.child_value("IsTruncated");
  if (truncated != "true" && truncated != "false") return not_what_was_asked("listing", text);
  page.truncated = truncated == "true";
  page.next_token = root.child_value("NextContinuationToken");
  return page;
}

std::string delete_body(std::span<const std::string> keys) {
  std::string body =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
      "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
  for (const std::string& key : keys) {
    body += "<Object><Key>";
    append_escaped(body, key);
    body += "</Key></Object>";
  }
  return body + "</Delete>";
}

Result<std::vector<S3DeleteFailure>> parse_delete_result(std::string_view text) {
  pugi::xml_document document;
  const bool whole = load(document, text);
  const auto root = document.child("DeleteResult");
  if (!whole || !root) return not_what_was_asked("result of a delete", text);
  std::vector<S3DeleteFailure> failures;
  for (const auto& node : root.children("Error")) {
    S3DeleteFailure failure{node.child_value("Key"), error_in(node)};
    if (failure.error.code != "NoSuchKey") failures.push_back(std::move(failure));
  }
  return failures;
}

bool parse_versioning_enabled(std::string_view text) {
  pugi::xml_document document;
  return load(document, text) &&
         std::string_view(document.child("VersioningConfiguration").child_value("Status")) ==
             "Enabled";
}

Result<Credentials> parse_assumed_role(std::string_view text) {
  pugi::xml_document document;
  const bool whole = load(document, text);
  const auto node = document.child("AssumeRoleWithWebIdentityResponse")
                        .child("AssumeRoleWithWebIdentityResult")
                        .child("Credentials");
  if (!whole || !node) return not_what_was_asked("set of credentials", text);
  return Credentials{node.child_value("AccessKeyId"), node.child_value("SecretAccessKey"),
                     node.child_value("SessionToken"),
                     parse_utc_time(node.child_value("Expiration"))};
}

}  // namespace morula
