// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <string_view>

#include <unistd.h>

#include <slipway/text.hpp>

#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kDatabaseBytes = 16 << 20;

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the third field of the line whose first field is `name` (passwd(5), group(5)).
std::optional<std::uint32_t> id_in(std::string_view database, std::string_view name) {
  for (const std::string_view line : lines_of<std::string_view>(database)) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    if (const auto fields = split<std::string_view>(line, ':'); fields.size() > 2) return number(fields[2]);
  }
  return std::nullopt;
}

Result<std::uint32_t> find_id(const Host& host, const std::string& name, const char* what, const char* file) {
  if (name.empty() || name == "root") return std::uint32_t{0};
  if (const auto given = number(name)) return *given;
  const auto database = host.read(file, kDatabaseBytes);
  if (database)
    if (const auto id = id_in(*database, name)) return *id;
  return Error{ErrorCode::not_found,
               std::string("there is no ") + what + " '" + name + "' in this root's " + file,
               file,
               std::string("make the ") + what + " first, or give its number",
               {}};
}

/// A user without the right to change owners works on the user's own root. On a root of another user, the plan is the
/// one that its owner would get.
bool cannot_change_owners(const Host& host) {
  if (::geteuid() == 0) return false;
  const auto top = host.info("/");
  return !top || top->uid == ::geteuid();
}

}  // namespace

Result<Owner> find_owner(const Host& host, const std::string& user, const std::string& group) {
  SLIPWAY_TRY(uid, find_id(host, user, "user", "/etc/passwd"));
  SLIPWAY_TRY(gid, find_id(host, group, "group", "/etc/group"));
  if (cannot_change_owners(host)) return Owner{::geteuid(), ::getegid()};
  return Owner{uid, gid};
}

}  // namespace slipway::core
