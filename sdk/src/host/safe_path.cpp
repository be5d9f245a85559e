// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit

void push_front(std::deque<std::string>& names, const std::string& path) {
  std::deque<std::string> more;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) more.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  names.insert(names.begin(), more.begin(), more.end());
}

Error denied(const std::string& wanted, const std::string& what, const std::string& thing, const std::string& next) {
  return Error{ErrorCode::denied, wanted + " is not used: " + what, thing, next, {}};
}

/// True for a folder in which every user may create things that other users cannot replace.
bool is_shared_folder(const struct stat& info) {
  return S_ISDIR(info.st_mode) && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) != 0;
}

/// @param shared  below a shared folder: in a user namespace, all unmapped users look alike there
Status check_entry(const std::string& wanted, const std::string& path, const struct stat& info, bool shared) {
  const bool unknown = info.st_uid != 0 && info.st_uid != ::geteuid();
  if (!is_trusted_owner(info.st_uid) || (shared && unknown))
    return denied(wanted, path + " belongs to user " + std::to_string(info.st_uid) + ", who could replace it", path,
                  "`chown root " + path + "`, or put it where only root can write");
  if (S_ISLNK(info.st_mode)) return {};  // a link's own mode bits have no meaning
  const bool writable = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky =
      S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0 && (info.st_uid == 0 || info.st_uid != ::geteuid());
  if (writable && !sticky)
    return denied(wanted, path + " can be written by its group or by others, who could replace it", path,
                  "`chmod go-w " + path + "`");
  return {};
}

Result<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return system_error("read the link", path, errno);
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

Result<std::string> safe_path(const std::string& path) {
  std::error_code problem;
  const std::string absolute = std::filesystem::absolute(path, problem).string();
  if (problem) return system_error("find", path, problem.value());
  std::deque<std::string> names;
  push_front(names, absolute);
  std::string at;  // "" is the root folder
  struct stat info {};
  if (::lstat("/", &info) != 0) return system_error("look at", "/", errno);
  bool shared = false;
  SLIPWAY_CHECK(check_entry(path, "/", info, shared));
  for (int links = 0; !names.empty();) {
    const std::string name = names.front();
    names.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      at = parent_of(at);
      continue;
    }
    const std::string here = at + "/" + name;
    if (::lstat(here.c_str(), &info) != 0) return system_error("look at", here, errno);
    SLIPWAY_CHECK(check_entry(path, here, info, shared));
    shared = shared || is_shared_folder(info);
    if (!S_ISLNK(info.st_mode)) {
      at = here;
      continue;
    }
    if (++links > kMostLinks) return system_error("follow the links of", path, ELOOP);
    SLIPWAY_TRY(target, read_link(here));
    if (target.starts_with("/")) at.clear();
    push_front(names, target);
  }
  return at.empty() ? "/" : at;
}

Result<std::string> path_of_variable(std::string_view variable, const std::string& path) {
  if (::geteuid() != 0) return path;
  auto safe = safe_path(path);
  if (safe) return safe;
  Error error = std::move(safe).error();
  error.what = std::string(variable) + "=" + path + ": " + error.what;
  return error;
}

}  // namespace slipway
