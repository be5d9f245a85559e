// SPDX-License-Identifier: Apache-2.0
#include "app/install/install.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest/digest.hpp"
#include "core/engine/session.hpp"
#include "core/host/files.hpp"
#include "core/host/root_fs.hpp"

namespace slipway::app {
namespace {

constexpr const char* kInstalled = "/usr/lib/slipway/installed";
constexpr const char* kCurrent = "/usr/lib/slipway/installed/current";
constexpr const char* kNew = "/usr/lib/slipway/installed/.new";
constexpr const char* kDamaged = "/usr/lib/slipway/installed/.damaged";
constexpr std::size_t kLargestUnit = 65536;
constexpr unsigned kProgramMode = 0755;
constexpr unsigned kDataMode = 0644;

/// Returns "0.1.0-0f3a…": different content gets a different folder.
std::string folder_name(const InstalledFiles& files) {
  base::Sha256 sum;
  for (const FileContents* each : {&files.programs, &files.data})
    for (const auto& [path, content] : *each) sum.update(path + "\n" + base::digest_of(content) + "\n");
  return SLIPWAY_VERSION "-" + base::digest_hex(sum.digest()).substr(0, 12);
}

/// Returns the links outside the folder by name, each with its target.
std::map<std::string, std::string> links_of(const InstalledFiles& files) {
  std::map<std::string, std::string> links;
  for (const auto& [path, content] : files.programs)
    if (path.starts_with("bin/")) links["/usr/" + path] = "../lib/slipway/installed/current/" + path;
  return links;
}

/// Returns the units. They are copies: `systemctl enable` follows a link, and would record the folder of this version.
FileContents units_of(const InstalledFiles& files) {
  FileContents units;
  for (const auto& [path, content] : files.data)
    if (path.starts_with("lib/systemd/")) units["/usr/" + path] = content;
  return units;
}

bool has_line(const std::string& text, const std::string& line) {
  for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + line.size()))
    if ((at == 0 || text[at - 1] == '\n') && text.compare(at + line.size(), 1, "\n") == 0) return true;
  return false;
}

/// Returns the package whose file list in dpkg's database has the path. Empty when no list has it, or when the limits
/// were reached first.
std::string package_of(const RootDir& root, const std::string& path) {
  constexpr std::size_t kLargestList = std::size_t{8} << 20U;
  std::size_t left = std::size_t{128} << 20U;  // for all lists; those of a large desktop have half of that
  const auto lists = root.open_at("/var/lib/dpkg/info", O_RDONLY | O_DIRECTORY);
  const auto names =
      lists ? core::folder_names(lists->get(), "/var/lib/dpkg/info") : Result<std::vector<std::string>>(Error{});
  if (!names) return {};
  for (const std::string& name : *names) {
    if (!name.ends_with(".list") || left == 0) continue;
    const auto text = read_regular(root, "/var/lib/dpkg/info/" + name, std::min(left, kLargestList));
    if (text && has_line(*text, path)) return name.substr(0, std::min(name.find(':'), name.size() - 5));
    left -= std::min(left, text ? text->size() : kLargestList);
  }
  return {};
}

Error foreign_file(const RootDir& root, const std::string& path) {
  const std::string package = package_of(root, path);
  return Error{ErrorCode::conflict,
               path + " already exists and " +
                   (package.empty() ? "was not put there by `slipway install`" : "belongs to the package " + package),
               root.folder() + path,
               package.empty()
                   ? "remove that file if it is not needed, then run the same command again"
                   : "that root has slipway as a package: update the package there, or remove it with `apt remove " +
                         package + "`",
               {}};
}

Status check_free(const RootDir& root, const std::string& path, const std::string& link) {
  if (!root.open_at(path, O_PATH | O_NOFOLLOW)) return {};
  SLIPWAY_TRY(points_to, core::read_link_at(root, path));
  return points_to == link ? Status{} : foreign_file(root, path);
}

/// Checks that slipway may replace a unit: it equals that of the active installation, or of this one.
Status check_unit_free(const RootDir& root, const std::string& path, const std::string& content) {
  if (!root.open_at(path, O_PATH | O_NOFOLLOW)) return {};
  const auto text = read_regular(root, path, content.size() + kLargestUnit, O_NOFOLLOW);
  if (!text) return foreign_file(root, path);
  const auto former = read_regular(root, kCurrent + path.substr(std::string_view("/usr").size()), kLargestUnit);
  return *text == content || (former && *text == *former) ? Status{} : foreign_file(root, path);
}

bool holds(const RootDir& root, const std::string& path, const std::string& content, unsigned mode) {
  const auto file = open_regular(root, path, O_NOFOLLOW);
  struct stat info {};
  if (!file || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if ((info.st_mode & core::kPermissionBits) != mode || info.st_size != static_cast<off_t>(content.size()))
    return false;
  const auto text = read_all(file->get(), path, content.size() + 1);
  return text && *text == content;
}

bool is_whole(const RootDir& root, const std::string& folder, const InstalledFiles& files) {
  for (const auto& [path, content] : files.programs)
    if (!holds(root, folder + "/" + path, content, kProgramMode)) return false;
  for (const auto& [path, content] : files.data)
    if (!holds(root, folder + "/" + path, content, kDataMode)) return false;
  return true;
}

Status write_files(core::RootFs& root, const FileContents& files, unsigned mode) {
  for (const auto& [path, content] : files) {
    const std::string at = std::string(kNew) + "/" + path;
    SLIPWAY_CHECK(root.stage_file(at, content, mode, ::geteuid(), ::getegid()));
    SLIPWAY_CHECK(root.switch_in(at));
  }
  return {};
}

Status write_folder(core::RootFs& root, const std::string& folder, const InstalledFiles& files) {
  SLIPWAY_CHECK(root.remove_tree(kNew));
  SLIPWAY_CHECK(write_files(root, files.programs, kProgramMode));
  SLIPWAY_CHECK(write_files(root, files.data, kDataMode));
  SLIPWAY_CHECK(root.sync());
  if (root.root().open_at(folder, O_PATH | O_NOFOLLOW)) {
    SLIPWAY_CHECK(root.remove_tree(kDamaged));
    SLIPWAY_CHECK(root.rename(folder, kDamaged));
  }
  return root.rename(kNew, folder);
}

/// Makes a link unless it is correct already. @return true when it made one
Result<bool> set_link(core::RootFs& root, const std::string& path, const std::string& points_to) {
  SLIPWAY_TRY(now, core::read_link_at(root.root(), path));
  if (now == points_to) return false;
  SLIPWAY_CHECK(root.stage_symlink(path, points_to));
  SLIPWAY_CHECK(root.switch_in(path));
  return true;
}

/// Removes everything else in the folder: the former installation, and the remains of an interrupted run.
Status remove_former(core::RootFs& root, const std::string& kept) {
  SLIPWAY_TRY(folder, root.root().open_at(kInstalled, O_RDONLY | O_DIRECTORY));
  SLIPWAY_TRY(names, core::folder_names(folder.get(), kInstalled));
  for (const std::string& name : names)
    if (name != kept && name != "current") SLIPWAY_CHECK(root.remove_tree(std::string(kInstalled) + "/" + name));
  return {};
}

}  // namespace

Result<Installation> install(const RootDir& root, InstalledFiles& files, bool dry_run) {
  const std::string name = folder_name(files);
  Installation done{std::string(kInstalled) + "/" + name};
  const std::map<std::string, std::string> links = links_of(files);
  for (const auto& [path, link] : links) SLIPWAY_CHECK(check_free(root, path, link));
  const FileContents units = units_of(files);
  for (const auto& [path, content] : units) SLIPWAY_CHECK(check_unit_free(root, path, content));
  const bool whole = is_whole(root, done.folder, files);
  SLIPWAY_TRY(current, core::read_link_at(root, kCurrent));
  done.changed = !whole || current != name;
  for (const auto& [path, link] : links) {
    SLIPWAY_TRY(now, core::read_link_at(root, path));
    done.changed = done.changed || now != link;
  }
  for (const auto& [path, content] : units) done.changed = done.changed || !holds(root, path, content, kDataMode);
  if (dry_run || !done.changed) return done;
  SLIPWAY_TRY(epoch, core::source_date_epoch());
  core::RootFs target(root, epoch);
  if (!whole) SLIPWAY_CHECK(write_folder(target, done.folder, files));
  SLIPWAY_CHECK(set_link(target, kCurrent, name));
  for (const auto& [path, link] : links) SLIPWAY_CHECK(set_link(target, path, link));
  for (const auto& [path, content] : units) {
    SLIPWAY_CHECK(target.stage_file(path, content, kDataMode, ::geteuid(), ::getegid()));
    SLIPWAY_CHECK(target.switch_in(path));
  }
  SLIPWAY_CHECK(remove_former(target, name));
  SLIPWAY_CHECK(target.settle_directory_times());
  SLIPWAY_CHECK(target.sync());
  return done;
}

}  // namespace slipway::app
