// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <optional>
#include <string_view>

#include <unistd.h>

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

/// The third field of the line whose first is `name` (passwd(5), group(5)).
std::optional<std::uint32_t> id_in(std::string_view database, std::string_view name) {
  while (!database.empty()) {
    const std::size_t end = std::min(database.find('\n'), database.size());
    std::string_view line = database.substr(0, end);
    database.remove_prefix(std::min(end + 1, database.size()));
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    const std::size_t password_end = line.find(':');
    if (password_end == std::string_view::npos) continue;
    line.remove_prefix(password_end + 1);
    return number(line.substr(0, line.find(':')));
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

/// A user who may not give files away works on a root of their own. Looking at somebody else's, they see what that one
/// would plan.
bool gives_nothing_away(const Host& host) {
  if (::geteuid() == 0) return false;
  const auto top = host.info("/");
  return !top || top->uid == ::geteuid();
}

}  // namespace

Result<Owner> find_owner(const Host& host, const std::string& user, const std::string& group) {
  SLIPWAY_TRY(uid, find_id(host, user, "user", "/etc/passwd"));
  SLIPWAY_TRY(gid, find_id(host, group, "group", "/etc/group"));
  if (gives_nothing_away(host)) return Owner{::geteuid(), ::getegid()};
  return Owner{uid, gid};
}

}  // namespace slipway::core
