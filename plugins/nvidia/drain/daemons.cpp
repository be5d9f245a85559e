// SPDX-License-Identifier: Apache-2.0
// NVIDIA's daemons among the processes that have a device open. A process chooses its own name, and a container may
// have any program at any path, so the program and its user are checked too.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include <slipway/text.hpp>

#include "nvidia/drain/holders.hpp"
#include "nvidia/process/process_files.hpp"

namespace slipway::nvidia::drain {
namespace {

constexpr std::size_t kLongestStatus = 16384;
/// The process names that the kernel keeps, of at most 15 bytes, and the programs.
constexpr std::array kDaemons{
    std::pair<std::string_view, std::string_view>("nvidia-persiste", "nvidia-persistenced"),
    std::pair<std::string_view, std::string_view>("nv-fabricmanage", "nv-fabricmanager"),
};
/// nvidia-persistenced makes the user that it runs as (its option --user) the owner; only root can create the folder.
constexpr const char* kPersistenceFolder = "/run/nvidia-persistenced";
/// Folder on the host of a driver container's root.
constexpr const char* kDriverContainer = "/run/nvidia/driver";

/// Returns the real, effective, saved and file system user id if they are equal.
std::optional<std::uint32_t> user_of(const Host& host, unsigned pid) {
  const std::string status = host.read(fmt::format("/proc/{}/status", pid), kLongestStatus).value_or("");
  for (const std::string_view line : lines_of<std::string_view>(status)) {
    if (!line.starts_with("Uid:\t")) continue;
    const auto users = split<std::string_view>(line.substr(5), '\t');
    if (users.empty() || std::ranges::count(users, users.front()) != std::ssize(users)) return std::nullopt;
    std::uint32_t user = 0;
    const char* const end = users.front().data() + users.front().size();
    const auto [after, problem] = std::from_chars(users.front().data(), end, user);
    return problem == std::errc{} && after == end ? std::optional(user) : std::nullopt;
  }
  return std::nullopt;
}

bool is_trusted_user(const Host& host, unsigned pid) {
  const auto user = user_of(host, pid);
  if (!user || *user == 0) return user.has_value();
  const auto folder = host.info(kPersistenceFolder);
  return folder && folder->type == FileInfo::Type::directory && folder->uid == *user;
}

bool is_one_file(const LocalFile& one, const std::optional<LocalFile>& other) {
  return other && one.file_system == other->file_system && one.inode == other->inode;
}

/// True when the program is the one at that path of the machine or its driver container, and only root can change it.
bool is_machines_program(const Host& host, unsigned pid, const std::string& path) {
  const auto program = file_behind(pid, "exe");
  if (!program || program->uid != 0 || (program->mode & (S_IWGRP | S_IWOTH)) != 0) return false;
  return is_one_file(*program, file_in_root(host, path)) ||
         is_one_file(*program, file_in_root(host, kDriverContainer + path));
}

}  // namespace

bool is_daemon(const Host& host, const Process& process) {
  const auto* const daemon =
      std::ranges::find(kDaemons, process.name, &std::pair<std::string_view, std::string_view>::first);
  if (daemon == kDaemons.end() || !is_trusted_user(host, process.pid)) return false;
  const auto path = host.read_link(fmt::format("/proc/{}/exe", process.pid));
  if (!path || !path->ends_with("/" + std::string(daemon->second))) return false;
  return !is_here(host, process.pid) || is_machines_program(host, process.pid, *path);
}

}  // namespace slipway::nvidia::drain
