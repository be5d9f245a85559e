// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/trial_root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <set>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "base/digest/digest.hpp"
#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"
#include "base/write/tree.hpp"
#include "plugin-check/trial_run.hpp"

namespace slipway::plugin_check {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 4;

/// Files of an image are hashed up to this size; larger ones are compared by size and time.
constexpr off_t kHashedBytes = off_t{64} << 20U;
constexpr std::size_t kMostOfADatabase = std::size_t{1} << 20U;

/// Creates the folder of apply's log, which is not compared; an apply that was killed at its very end has no log.
Status make_log_folder(const RootDir& root) { return base::make_folders(root, "/var/log"); }

/// Users and groups made by a component stay after its removal, as those of packages do, with the files of
/// systemd-sysusers. Those that existed before are unchanged.
bool is_user_database(const std::string& path) {
  constexpr std::array<std::string_view, 4> kDatabases{"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"};
  return path == "/etc/.pwd.lock" || std::ranges::any_of(kDatabases, [&](const std::string_view file) {
           return path == file || path == std::string(file) + "-";
         });
}

/// Returns the accounts in a picture's text: of each line what precedes the third colon. The first line begins with the
/// file's mode.
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

/// True for folders that are not compared. The log, for example, has an interrupted apply and its completion as two
/// entries.
bool is_left_out(const std::string& inside) {
  return inside == "run" || inside == "var/lib/slipway" || inside == "var/log/slipway";
}

Result<std::string> content_of(const base::TreeEntry& entry) {
  if (S_ISLNK(entry.info.st_mode)) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(entry.folder, entry.name.c_str(), target.data(), target.size());
    target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return target;
  }
  if (!S_ISREG(entry.info.st_mode)) return std::string();
  if (entry.info.st_size > kHashedBytes)
    return std::to_string(entry.info.st_size) + " bytes of " + std::to_string(entry.info.st_mtim.tv_sec) + "." +
           std::to_string(entry.info.st_mtim.tv_nsec);
  SLIPWAY_TRY(file, open_regular(entry.folder, entry.name, entry.path, O_NOFOLLOW));
  if (is_user_database("/" + entry.path)) return read_all(file.get(), entry.path, kMostOfADatabase);
  return base::digest_of_file(file.get(), entry.path);
}

Result<Picture> read_picture(const std::string& folder) {
  SLIPWAY_TRY(root, RootDir::open(folder));
  SLIPWAY_TRY(top, root.open_at("/", O_RDONLY | O_DIRECTORY));
  Picture picture;
  SLIPWAY_CHECK(base::walk_tree(top.get(), folder, {.enter = [&](const base::TreeEntry& entry) -> Result<bool> {
                                  if (is_left_out(entry.path)) return false;
                                  SLIPWAY_TRY(content, content_of(entry));
                                  std::ostringstream line;
                                  line << std::oct << entry.info.st_mode << ' ' << content;
                                  picture["/" + entry.path] = line.str();
                                  return true;
                                }}));
  return picture;
}

void append(std::string& text, const char* word, const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  text += std::string(text.empty() ? "" : "; ") + word + ": " + first_few(paths, kNamed);
}

}  // namespace

Status make_trial_root(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("make", folder, errno);
  SLIPWAY_TRY(root, RootDir::open(folder));
  for (const char* name : {"/etc", "/usr/lib", "/usr/bin", "/var/lib", "/run"})
    SLIPWAY_CHECK(base::make_folders(root, name));
  SLIPWAY_CHECK(base::replace_file(root, "/etc/os-release",
                                   "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"));
  SLIPWAY_CHECK(base::replace_file(root, "/etc/hostname", "trial\n"));
  return make_log_folder(root);
}

Status copy_trial_root(const std::string& from, const std::string& folder) {
  std::error_code code;
  if (!fs::is_directory(from, code))
    return Error{ErrorCode::not_found, from + " is not a folder, so no scratch root can be a copy of it", from, {}, {}};
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("make", folder, errno);
  SLIPWAY_TRY(copy, run_trial({.argv = {"/bin/cp", "-a", "--", from + "/.", folder}, .environment = {}}));
  if (copy.exit_code != 0) return Error{ErrorCode::io, "the root could not be copied: " + copy.messages, from, {}, {}};
  SLIPWAY_TRY(root, RootDir::open(folder));  // links in the copy do not lead out of it
  SLIPWAY_CHECK(make_log_folder(root));
  SLIPWAY_CHECK(read_picture(folder));
  return {};
}

Status put_foreign_file(const std::string& folder, const std::string& path) {
  SLIPWAY_TRY(root, RootDir::open(folder));
  return base::replace_file(root, path, "# from another program\n");
}

Picture picture_of(const std::string& folder) {
  auto picture = read_picture(folder);
  if (picture) return std::move(*picture);
  return {{"/", picture.error().what}};
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

}  // namespace slipway::plugin_check
