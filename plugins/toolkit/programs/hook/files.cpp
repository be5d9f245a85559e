// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

namespace slipway::hook {
namespace {

constexpr std::size_t kLargestFile = 64U << 20;

/// ".NAME.slipway-0123456789abcdef" beside what it will become.
std::string temporary_name(const std::string& name) {
  std::array<unsigned char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) < 0) bytes.fill(static_cast<unsigned char>(::getpid()));
  std::string text = "." + name + ".slipway-";
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Status write_bytes(int fd, const std::string& content, const std::string& name) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = ::write(fd, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", name, errno);
    done += static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace

Result<std::string> read_all(int fd, std::size_t limit, const std::string& name) {
  std::string text;
  std::array<char, 1 << 16> block{};
  for (;;) {
    const ssize_t count = ::read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", name, errno);
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > limit)
      return Error{ErrorCode::invalid, name + " has more than " + std::to_string(limit) + " bytes", name, {}, {}};
  }
}

Result<Fd> open_regular(const RootDir& root, const std::string& path) {
  SLIPWAY_TRY(file, slipway::open_regular(root, path, 0));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error("look at", path, errno);
  if (static_cast<std::size_t>(info.st_size) > kLargestFile)
    return Error{ErrorCode::invalid, path + " in the container is no file of a sensible size", path, {}, {}};
  return std::move(file);
}

Status make_folders(const RootDir& root, const std::string& path) {
  if (root.open_at(path, O_PATH | O_DIRECTORY)) return {};
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string folder = path.substr(0, end);
    const std::string name = folder.substr(folder.rfind('/') + 1);
    if (!name.empty() && name != "." && name != "..") {  // those are there
      SLIPWAY_TRY(place, root.parent_of(folder));
      if (::mkdirat(place.first.get(), place.second.c_str(), 0755) != 0 && errno != EEXIST)
        return system_error("create", folder, errno);
    }
    if (end == std::string::npos) break;
  }
  SLIPWAY_CHECK(root.open_at(path, O_PATH | O_DIRECTORY));
  return {};
}

Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode) {
  SLIPWAY_TRY(place, root.parent_of(path));
  const int folder = place.first.get();
  const std::string temporary = temporary_name(place.second);
  const Fd file(::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return system_error("write", path, errno);
  Status written = write_bytes(file.get(), content, path);
  if (written && ::fchmod(file.get(), mode) != 0) written = system_error("change the mode of", path, errno);
  if (written && ::renameat(folder, temporary.c_str(), folder, place.second.c_str()) != 0)
    written = system_error("write", path, errno);
  if (!written) ::unlinkat(folder, temporary.c_str(), 0);
  return written;
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace slipway::hook
