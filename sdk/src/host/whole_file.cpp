// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/fd.hpp>
#include <slipway/regular_file.hpp>

namespace slipway {
namespace {

/// Returns 0 or an errno.
int write_new(const std::string& path, std::string_view content, mode_t mode) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file || ::fchmod(file.get(), mode) != 0) return errno;  // independent of the umask
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Status write_whole(const std::string& path, std::string_view content, mode_t mode) {
  const std::size_t name = path.rfind('/') + 1;  // 0 when there is no slash
  const std::string temporary = path.substr(0, name) + "." + path.substr(name) + "." + std::to_string(::getpid());
  ::unlink(temporary.c_str());  // left by a killed process with the same number
  int why = write_new(temporary, content, mode);
  if (why == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) why = errno;
  if (why == 0) return {};
  ::unlink(temporary.c_str());
  return system_error("write", path, why);
}

}  // namespace slipway
