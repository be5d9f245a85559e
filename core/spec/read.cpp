// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "base/yaml/tree.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {
namespace {

Result<Fd> open_spec(const std::string& file) {
  if (file == "-") {
    Fd copy(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!copy) return system_error("read", "standard input", errno);
    return copy;
  }
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    Error error = system_error("open the host spec", file, errno);
    if (error.code == ErrorCode::not_found)
      error.next = "name the spec with -f, or write one: `slipway init > " + file + "`";
    return error;
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode))
    return Error{
        ErrorCode::invalid, file + " is a folder, not a host spec", file, "name the file in that folder with -f", {}};
  return fd;
}

/// Reads at most one byte more than a YAML text may have; such a text is refused with an explanation.
Result<std::string> read_all(const Fd& fd, const std::string& file) {
  std::string text;
  std::array<char, 16384> buffer{};
  while (text.size() <= base::kYamlMaxBytes) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", file, errno);
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

Result<HostSpec> read_host_spec(const std::string& file, const Plugins& plugins, const Json& applied) {
  SLIPWAY_TRY(fd, open_spec(file));
  SLIPWAY_TRY(text, read_all(fd, file));
  return host_spec_from_text(text, file, plugins, applied);
}

}  // namespace slipway::core
