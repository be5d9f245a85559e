// SPDX-License-Identifier: Apache-2.0
#include "nvidia/process/process_files.hpp"

#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/fd.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::nvidia {
namespace {

constexpr std::size_t kLongestStat = 4096;

/// Uses only cached attributes: a FUSE file system of a user could block the call.
std::optional<LocalFile> look_at(int folder, const char* path, int flags) {
  struct statx found {};
  if (::statx(folder, path, flags | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found) != 0)
    return std::nullopt;
  LocalFile file{.character_device = {},
                 .file_system = {found.stx_dev_major, found.stx_dev_minor},
                 .inode = found.stx_ino,
                 .mode = found.stx_mode,
                 .uid = found.stx_uid};
  if (S_ISCHR(found.stx_mode)) file.character_device = DeviceNumber{found.stx_rdev_major, found.stx_rdev_minor};
  return file;
}

}  // namespace

std::optional<ProcessStat> local_stat(unsigned pid) {
  const Fd file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kLongestStat> text{};
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
  return got > 0 ? parse_process_stat({text.data(), static_cast<std::size_t>(got)}) : std::nullopt;
}

bool is_here(const Host& host, unsigned pid) {
  if (!host.live()) return false;
  const auto text = host.read(fmt::format("/proc/{}/stat", pid), kLongestStat);
  const auto shown = text ? parse_process_stat(*text) : std::nullopt;
  const auto here = shown ? local_stat(pid) : std::nullopt;
  return here && here->start == shown->start;
}

std::optional<LocalFile> file_behind(unsigned pid, const std::string& link) {
  return look_at(AT_FDCWD, fmt::format("/proc/{}/{}", pid, link).c_str(), 0);
}

std::optional<LocalFile> file_in_root_of(unsigned pid, const std::string& path) {
  const auto root = RootDir::open(fmt::format("/proc/{}/root", pid));
  const auto file = root ? root->open_at(path, O_PATH) : Result<Fd>(root.error());
  return file ? look_at(file->get(), "", AT_EMPTY_PATH) : std::nullopt;
}

std::optional<LocalFile> file_in_root(const Host& host, const std::string& path) {
  const auto root = RootDir::open(host.root_folder());
  const auto file = root ? root->open_at(path, O_PATH) : Result<Fd>(root.error());
  return file ? look_at(file->get(), "", AT_EMPTY_PATH) : std::nullopt;
}

}  // namespace slipway::nvidia
