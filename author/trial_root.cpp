// SPDX-License-Identifier: Apache-2.0
#include "author/trial_root.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include <sys/stat.h>

#include <slipway/text.hpp>

#include "author/trial_run.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 4;

Status write_file(const fs::path& path, const std::string& text) {
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return code || !out ? Status(system_error("write", path.string(), code ? code.value() : EIO)) : Status{};
}

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Where an apply leaves its log, which is no part of the comparison; an apply that was killed at its very end has
/// none.
Status make_log_folder(const fs::path& root) {
  std::error_code code;
  fs::create_directories(root / "var/log", code);
  return code ? Status(system_error("make", (root / "var/log").string(), code.value())) : Status{};
}

/// Users and groups that were made stay when a component is removed, as those of packages do, with what
/// systemd-sysusers keeps of them. Those that were there before stay as they were.
bool is_user_database(const std::string& path) {
  constexpr std::array<std::string_view, 4> kDatabases{"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"};
  return path == "/etc/.pwd.lock" || std::ranges::any_of(kDatabases, [&](const std::string_view file) {
           return path == file || path == std::string(file) + "-";
         });
}

/// The accounts of a picture's text: the name, and what comes before the third colon, with the mode before the first.
std::set<std::string> accounts_in(const std::string& picture) {
  std::set<std::string> accounts;
  for (const std::string& line : lines_of(picture)) {
    std::size_t end = 0;
    for (int colons = 0; colons < 3 && end != std::string::npos; ++colons) end = line.find(':', end + 1);
    accounts.insert(line.substr(0, end));
  }
  return accounts;
}

bool keeps_accounts(const std::string& before, const std::string& after) {
  return std::ranges::includes(accounts_in(after), accounts_in(before));
}

/// The log tells of an apply that was cut off, and of the one that took it up, as of two.
bool is_left_out(const std::string& inside) {
  return inside == "run" || inside == "var/lib/slipway" || inside == "var/log/slipway";
}

void append(std::string& text, const char* word, const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  text += std::string(text.empty() ? "" : "; ") + word + ": " + first_few(paths, kNamed);
}

}  // namespace

Status make_trial_root(const std::string& folder) {
  const fs::path root = folder;
  SLIPWAY_CHECK(write_file(root / "etc/os-release",
                           "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"));
  SLIPWAY_CHECK(write_file(root / "etc/hostname", "trial\n"));
  std::error_code code;
  for (const char* name : {"usr/lib", "usr/bin", "var/lib", "run"}) {
    fs::create_directories(root / name, code);
    if (code) return system_error("make", (root / name).string(), code.value());
  }
  return make_log_folder(root);
}

Status copy_trial_root(const std::string& from, const std::string& folder) {
  std::error_code code;
  if (!fs::is_directory(from, code))
    return Error{ErrorCode::not_found, from + " is no folder, so no scratch root can be a copy of it", from, {}, {}};
  if (!fs::create_directory(folder, code)) return system_error("make", folder, code.value());
  SLIPWAY_TRY(copy, run_trial({.argv = {"/bin/cp", "-a", "--", from + "/.", folder}, .environment = {}}));
  if (copy.exit_code == 0) return make_log_folder(folder);
  return Error{ErrorCode::io, "the root could not be copied: " + copy.messages, from, {}, {}};
}

Status put_foreign_file(const std::string& folder, const std::string& path) {
  return write_file(fs::path(folder + path), "# somebody else's\n");
}

Picture picture_of(const std::string& folder) {
  Picture picture;
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; at != end; at.increment(code)) {
    const std::string inside = fs::relative(at->path(), folder, code).string();
    if (is_left_out(inside)) {
      at.disable_recursion_pending();
      continue;
    }
    struct stat info {};
    if (::lstat(at->path().c_str(), &info) != 0) continue;
    std::ostringstream line;
    line << std::oct << info.st_mode << ' ';
    if (S_ISLNK(info.st_mode)) line << fs::read_symlink(at->path(), code).string();
    if (S_ISREG(info.st_mode)) line << content(at->path());
    picture["/" + inside] = line.str();
  }
  return picture;
}

std::string difference(const Picture& before, const Picture& after) {
  std::vector<std::string> made, gone, changed;
  for (const auto& [path, what] : after) {
    const auto was = before.find(path);
    if (was == before.end()) {
      if (!is_user_database(path)) made.push_back(path);
    } else if (was->second != what && !(is_user_database(path) && keeps_accounts(was->second, what)))
      changed.push_back(path);
  }
  for (const auto& [path, what] : before)
    if (!after.contains(path)) gone.push_back(path);
  std::string text;
  append(text, "made", made);
  append(text, "gone", gone);
  append(text, "changed", changed);
  return text;
}

}  // namespace slipway::core
