// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/tree_writer.hpp"

#include <array>
#include <cerrno>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "artifact/io/entry_rules.hpp"

namespace slipway::artifact {
namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint64_t kWriteBackFrom = 1UL << 20;

std::array<timespec, 2> times_of(EntryTime time) {
  const timespec both{.tv_sec = time.seconds, .tv_nsec = time.nanoseconds};
  return {both, both};
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_empty_folder(int fd) {
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(::fcntl(fd, F_DUPFD_CLOEXEC, 0)));
  if (!folder) return false;
  std::size_t count = 0;
  while (::readdir(folder.get()) != nullptr) ++count;
  return count <= 2;  // "." and ".."
}

/// Returns the error of creating a name: an existing name is the layer's fault, anything else the system's.
Error creation_error(const std::string& path, int number) {
  if (number == EEXIST) return refuse("its name occurs twice: a layer may have each name only once");
  return system_error("create", path, number);
}

}  // namespace

Status NewFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", name_, errno);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  end_ = std::max(end_, offset);
  return {};
}

Status NewFile::finish(std::uint64_t size, std::uint32_t mode, EntryTime time) {
  if (end_ < size && ::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0)  // a hole at the end of a sparse file
    return system_error("write", name_, errno);
  // The final sync then finds most of the bytes already being written.
  if (size >= kWriteBackFrom) ::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  if (::geteuid() == 0 && ::fchown(fd_.get(), 0, 0) != 0) return system_error("set the owner of", name_, errno);
  const auto times = times_of(time);
  if (::fchmod(fd_.get(), mode) != 0 || ::futimens(fd_.get(), times.data()) != 0)
    return system_error("set mode and time of", name_, errno);
  fd_.reset();
  return {};
}

TreeWriter::TreeWriter(std::string into, Fd root, EntryTime implicit_time)
    : into_(std::move(into)), root_(std::move(root)), implicit_time_(implicit_time), own_to_root_(::geteuid() == 0) {
  folders_[""] = {.mode = 0755, .time = implicit_time_, .described = false};
}

Result<TreeWriter> TreeWriter::create(const std::string& into, EntryTime implicit_time) {
  const bool made = ::mkdir(into.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return system_error("create the folder", into, errno);
  Fd root(::open(into.c_str(), kOpenFolder));
  if (!root) return system_error("open the folder", into, errno);
  if (!made && !is_empty_folder(root.get()))
    return Error{.code = ErrorCode::conflict,
                 .what = "the staging folder " + into + " is not empty",
                 .where = into,
                 .next = "remove it, or name a new one"};
  return TreeWriter(into, std::move(root), implicit_time);
}

std::string_view TreeWriter::parent_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

std::string TreeWriter::last_part(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return std::string(slash == std::string_view::npos ? name : name.substr(slash + 1));
}

std::string TreeWriter::full(std::string_view name) const { return into_ + "/" + std::string(name); }

Result<int> TreeWriter::open_folder(std::string_view name, bool create) {
  const auto leads_to = [name](std::string_view folder) {
    return name.starts_with(folder) && (name.size() == folder.size() || name[folder.size()] == '/');
  };
  while (!open_.empty() && !leads_to(open_.back().name)) open_.pop_back();
  while (open_.empty() ? !name.empty() : open_.back().name.size() < name.size()) {
    const std::size_t begin = open_.empty() ? 0 : open_.back().name.size() + 1;
    const std::string next(name.substr(0, name.find('/', begin)));
    const std::string part = next.substr(begin);
    const int parent = open_.empty() ? root_.get() : open_.back().fd.get();
    if (create && ::mkdirat(parent, part.c_str(), 0700) == 0) {
      folders_[next] = {.mode = 0755, .time = implicit_time_, .described = false};
    } else if (create && errno != EEXIST) {
      return system_error("create", full(next), errno);
    }
    Fd fd(::openat(parent, part.c_str(), kOpenFolder));
    if (!fd && (errno == ENOTDIR || errno == ELOOP || errno == ENOENT))
      return refuse("its name leads through '" + printable(next) + "', which is not a folder of this layer");
    if (!fd) return system_error("open", full(next), errno);
    open_.push_back({next, std::move(fd)});
  }
  return open_.empty() ? root_.get() : open_.back().fd.get();
}

Status TreeWriter::add_directory(const std::string& name, std::uint32_t mode, EntryTime time) {
  SLIPWAY_TRY(fd, open_folder(name, true));
  static_cast<void>(fd);
  Folder& folder = folders_[name];
  if (folder.described) return creation_error(name, EEXIST);
  folder = {.mode = mode, .time = time, .described = true};
  return {};
}

Result<NewFile> TreeWriter::add_file(const std::string& name) {
  SLIPWAY_TRY(parent, open_parent(name));
  const std::string part = last_part(name);
  Fd fd(::openat(parent, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return creation_error(full(name), errno);
  return NewFile(std::move(fd), full(name));
}

Status TreeWriter::add_symlink(const std::string& name, const std::string& target, EntryTime time) {
  SLIPWAY_TRY(must_be_folders, check_link_target(name, target));
  SLIPWAY_TRY(parent, open_parent(name));
  const std::string part = last_part(name);
  if (::symlinkat(target.c_str(), parent, part.c_str()) != 0) return creation_error(full(name), errno);
  const auto times = times_of(time);
  if (own_to_root_ && ::fchownat(parent, part.c_str(), 0, 0, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("set the owner of", full(name), errno);
  if (::utimensat(parent, part.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
    return system_error("set the time of", full(name), errno);
  if (!must_be_folders.empty()) waiting_.push_back({name, target, std::move(must_be_folders)});
  return {};
}

Status TreeWriter::add_hard_link(const std::string& name, const std::string& target) {
  SLIPWAY_TRY(from_parent, open_folder(parent_name(target), false));
  const std::string from = last_part(target);
  struct stat existing {};
  if (::fstatat(from_parent, from.c_str(), &existing, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(existing.st_mode))
    return refuse("it is a hard link to '" + printable(target) + "', which is not a file of this layer");
  // Walking to the new name closes folders, so the old one's is kept separately.
  const Fd source(::fcntl(from_parent, F_DUPFD_CLOEXEC, 0));
  SLIPWAY_TRY(parent, open_parent(name));
  if (::linkat(source.get(), from.c_str(), parent, last_part(name).c_str(), 0) != 0)
    return creation_error(full(name), errno);
  return {};
}

Status TreeWriter::finish() {
  for (const WaitingLink& link : waiting_)
    for (const std::string& folder : link.must_be_folders)
      if (!open_folder(folder, false))
        return refuse("entry '" + printable(link.name) + "': the link (to " + printable(link.target) +
                      ") leads out of '" + printable(folder) + "', which is not a folder of this layer");
  // Deepest first: a folder that its owner can no longer enter must not hide those inside it.
  for (auto item = folders_.rbegin(); item != folders_.rend(); ++item) {  // NOLINT(modernize-loop-convert): backwards
    const auto& [name, folder] = *item;
    SLIPWAY_TRY(fd, open_folder(name, false));
    const auto times = times_of(folder.time);
    if ((own_to_root_ && ::fchown(fd, 0, 0) != 0) || ::fchmod(fd, folder.mode) != 0 ||
        ::futimens(fd, times.data()) != 0)
      return system_error("set mode and time of", full(name), errno);
  }
  open_.clear();
  return {};
}

Status TreeWriter::sync() {
  if (::syncfs(root_.get()) != 0) return system_error("write to the disk below", into_, errno);
  return {};
}

}  // namespace slipway::artifact
