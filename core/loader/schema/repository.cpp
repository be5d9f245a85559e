// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

constexpr std::string_view kScheme = "oci://";

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// OCI distribution-spec 1.1, 'name': lower-case parts, joined by /, with single separators inside.
bool is_repository_name(std::string_view name) {
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || !all_of(part, std::string(kLower) + "._-") || !all_of(part.substr(0, 1), kLower) ||
        !all_of(part.substr(part.size() - 1), kLower))
      return false;
    begin = end + 1;
  }
  return true;
}

/// HOST[:PORT] or [IPv6][:PORT].
bool is_authority(std::string_view text) {
  std::size_t host_end = text.starts_with("[") ? text.find(']') : text.find(':');
  if (text.starts_with("[")) {
    if (host_end == std::string_view::npos || !all_of(text.substr(1, host_end - 1), "0123456789abcdefABCDEF:.%"))
      return false;
    ++host_end;
  } else {
    host_end = std::min(host_end, text.size());
    if (!all_of(text.substr(0, host_end), std::string(kWord) + ".-")) return false;
  }
  const std::string_view port = text.substr(host_end);
  const bool port_ok = port.empty() || (port.size() > 1 && port.size() <= 6 && port.front() == ':' &&
                                        all_of(port.substr(1), "0123456789"));
  return host_end > 0 && port_ok;
}

}  // namespace

bool is_digest(std::string_view text) {
  constexpr std::string_view kAlgorithm = "sha256:";
  return text.starts_with(kAlgorithm) && text.size() == kAlgorithm.size() + 64 &&
         all_of(text.substr(kAlgorithm.size()), "0123456789abcdef");
}

/// OCI distribution-spec 1.1: [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}
bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
         all_of(text, std::string(kWord) + ".-");
}

RepositoryParts split_repository(const std::string& text) {
  RepositoryParts parts{text, {}, {}};
  if (!text.starts_with(kScheme)) return parts;  // a path may contain any of these characters
  if (const std::size_t at = parts.repository.find('@'); at != std::string::npos) {
    parts.digest = parts.repository.substr(at + 1);
    parts.repository.resize(at);
  }
  const std::size_t colon = parts.repository.rfind(':');
  const std::size_t slash = parts.repository.rfind('/');
  if (colon != std::string::npos && colon > slash && slash > kScheme.size()) {
    parts.tag = parts.repository.substr(colon + 1);
    parts.repository.resize(colon);
  }
  return parts;
}

std::string repository_problem(const std::string& text) {
  if (text.empty()) return "it is empty";
  if (!text.starts_with(kScheme)) {
    const std::size_t scheme = text.find("://");
    if (scheme != std::string::npos) return "'" + text.substr(0, scheme + 3) + "' is not known";
    const std::size_t slash = text.find('/');
    if (slash != std::string::npos && slash > 0 && text.find(':') < slash)
      return "it looks like a registry, but lacks oci:// in front";
    return text.starts_with("~") ? "'~' is not expanded in a spec" : "";
  }
  const RepositoryParts parts = split_repository(text);
  const std::string_view rest = std::string_view(parts.repository).substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return "there is no name after the host";
  if (!is_authority(rest.substr(0, slash))) return "the host is not well-formed";
  if (!is_repository_name(rest.substr(slash + 1)))
    return "the name may hold lower-case letters, digits, and single . _ - / between them";
  if (text.find('@') != std::string::npos && !is_digest(parts.digest))
    return "the digest is not sha256: and 64 hex digits";
  if (!parts.tag.empty() && !is_tag(parts.tag)) return "the tag is not well-formed";
  return {};
}

}  // namespace slipway::core
