// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/http/reference.hpp"

#include <algorithm>

namespace slipway::artifact {
namespace {

constexpr std::string_view kScheme = "oci://";
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kMaxName = 255;

Error malformed(const std::string& repository, const std::string& why, const std::string& next) {
  return Error{.code = ErrorCode::invalid, .what = "'" + repository + "': " + why, .where = "repository", .next = next};
}

bool is_host(std::string_view host) {
  if (host.starts_with('['))
    return host.size() > 2 && host.ends_with(']') &&
           host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  return !host.empty() && host.find_first_not_of(kLetters) == std::string_view::npos && host.front() != '-';
}

bool is_port(std::string_view port) {
  return !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos;
}

/// True for one part of a name: runs of letters and digits, joined by ".", "_", "__" or dashes.
bool is_name_part(std::string_view part) {
  while (true) {
    const std::size_t run = std::min(part.find_first_not_of(kLower), part.size());
    if (run == 0) return false;
    part.remove_prefix(run);
    if (part.empty()) return true;
    const std::size_t joint = std::min(part.find_first_of(kLower), part.size());
    const std::string_view by = part.substr(0, joint);
    if (by != "." && by != "_" && by != "__" && by.find_first_not_of('-') != std::string_view::npos) return false;
    part.remove_prefix(joint);
  }
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName) return false;
  while (true) {
    const std::size_t slash = name.find('/');
    if (!is_name_part(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host == "[::1]" || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool Reference::is_loopback() const { return is_loopback_host(host); }

Result<Reference> parse_reference(const std::string& repository) {
  std::string_view rest(repository);
  rest.remove_prefix(std::min(kScheme.size(), rest.size()));
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos)
    return malformed(repository, "it names a registry but no repository in it", "write oci://HOST[:PORT]/NAME");
  const std::string_view authority = rest.substr(0, slash);
  const std::size_t colon =
      authority.find(':', authority.find(']') == std::string_view::npos ? 0 : authority.find(']'));
  Reference reference{.host = std::string(authority.substr(0, colon)),
                      .port = colon == std::string_view::npos ? "" : std::string(authority.substr(colon + 1)),
                      .name = std::string(rest.substr(slash + 1))};
  if (!is_host(reference.host) || (colon != std::string_view::npos && !is_port(reference.port)))
    return malformed(repository, "'" + std::string(authority) + "' is not a host and port",
                     "write oci://HOST[:PORT]/NAME; a user and password belong in docker's config.json");
  if (reference.name.find('@') != std::string::npos)
    return malformed(repository, "a digest is not part of the repository",
                     "write it as a key of its own, `digest: sha256:…`");
  if (reference.name.find(':') != std::string::npos)
    return malformed(repository, "a tag is not part of the repository", "write it as a key of its own, `tag: …`");
  if (!is_name(reference.name))
    return malformed(repository, "'" + reference.name + "' is not a repository name",
                     "use lower-case letters, digits, and '.', '_', '-' between them, in parts separated by '/'");
  return reference;
}

}  // namespace slipway::artifact
