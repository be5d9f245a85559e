// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/host.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

Status check_unreadable_for_others(mode_t mode, std::string_view path) {
  if ((mode & S_IROTH) == 0) return {};
  return Error{.code = ErrorCode::denied,
               .what = "all users can read the secret in " + std::string(path),
               .where = std::string(path),
               .next = "`chmod o-rwx " + std::string(path) + "`"};
}

std::optional<unsigned> number_of_sudo(const char* variable) {
  const char* const text = ::geteuid() == 0 ? std::getenv(variable) : nullptr;
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

/// True when only the user who called sudo, or members of that user's own group, could have written the open file.
bool is_of_sudo(int fd) {
  struct stat info {};
  const auto user = number_of_sudo("SUDO_UID");
  if (!user || ::fstat(fd, &info) != 0 || info.st_uid != *user || (info.st_mode & S_IWOTH) != 0) return false;
  return (info.st_mode & S_IWGRP) == 0 || info.st_gid == number_of_sudo("SUDO_GID");
}

/// Checks the open file. In a folder like /tmp its name may have been removed, or been reused for another file, before
/// the path was checked.
Status check_opened(int fd, std::string_view path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error("look at", path, errno);
  if (is_trusted_owner(info.st_uid) && (info.st_mode & S_IWOTH) == 0) return {};
  return Error{.code = ErrorCode::denied,
               .what = std::string(path) + " belongs to user " + std::to_string(info.st_uid) +
                       " or can be written by all users, so its content is not used",
               .where = std::string(path),
               .next = "give it to root (`chown root`), in a folder that only root can write"};
}

Status check_named(int fd, const std::string& file) {
  struct stat info {};
  if (is_of_sudo(fd)) return {};
  if (::fstat(fd, &info) != 0) return system_error("look at", file, errno);
  if (!is_trusted_owner(info.st_uid))
    return Error{.code = ErrorCode::denied,
                 .what = file + " belongs to user " + std::to_string(info.st_uid) + ", so its content is not trusted",
                 .where = file,
                 .next = "read it, and take a copy of your own"};
  if (!S_ISREG(info.st_mode)) return {};
  std::error_code problem;
  const std::string absolute = std::filesystem::absolute(file, problem).string();
  SLIPWAY_TRY(machine, RootDir::open("/"));
  Status ours = check_only_ours(machine, absolute);
  if (ours) return ours;
  Error error = ours.error();
  error.next = "read it, and take a copy of your own that only you can write";
  return error;
}

}  // namespace

Result<std::string> read_trusted(const RootDir& root, std::string_view path, std::size_t limit_bytes) {
  SLIPWAY_TRY(file, open_regular(root, path));
  SLIPWAY_CHECK(check_only_ours(root, path));
  SLIPWAY_CHECK(check_opened(file.get(), path));
  return read_all(file.get(), path, limit_bytes);
}

Result<std::string> read_trusted(const Host& host, std::string_view path, std::size_t limit_bytes) {
  SLIPWAY_TRY(is_there, exists_and_is_trusted(host, path));
  // In a folder like /tmp, a file that appears later may be any user's.
  if (!is_there) return system_error("open", path, ENOENT);
  return host.read(path, limit_bytes);
}

Result<std::string> read_private(const RootDir& root, std::string_view path, std::size_t limit_bytes) {
  SLIPWAY_TRY(file, open_regular(root, path));
  SLIPWAY_CHECK(check_only_ours(root, path));
  SLIPWAY_CHECK(check_opened(file.get(), path));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error("look at", path, errno);
  SLIPWAY_CHECK(check_unreadable_for_others(info.st_mode, path));
  return read_all(file.get(), path, limit_bytes);
}

Status check_private(const Host& host, std::string_view path) {
  SLIPWAY_CHECK(check_only_ours(host, path));
  SLIPWAY_TRY(file, host.resolve(path));
  SLIPWAY_TRY(info, host.info(file));
  return check_unreadable_for_others(info.mode, path);
}

Result<std::string> read_named(const std::string& file, std::size_t limit_bytes) {
  const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!opened) return system_error("open", file, errno);
  SLIPWAY_CHECK(check_named(opened.get(), file));
  return read_all(opened.get(), file, limit_bytes);
}

}  // namespace slipway
