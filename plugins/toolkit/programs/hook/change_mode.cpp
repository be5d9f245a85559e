// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>

#include "hook.hpp"

namespace slipway::hook {
namespace {

Result<mode_t> parse_mode(const std::string& text) {
  unsigned mode = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (problem == std::errc() && end == text.data() + text.size() && mode <= 0777) return mode_t{mode};
  return Error{ErrorCode::invalid,
               "--mode takes an octal number up to 777, not '" + text + "'",
               "--mode",
               "correct the hook's arguments in the CDI spec",
               {}};
}

}  // namespace

Status change_mode(const Arguments& arguments, const Container& container) {
  SLIPWAY_TRY(mode, parse_mode(arguments.last("mode")));
  Status outcome;
  const std::vector<std::string> paths = arguments.all("path");
  for (const std::string& path : paths) {
    const auto file = container.root.open_at(path, O_PATH);
    if (!file || is_in_volume(container.root, file->get(), path)) continue;  // not every container has every path
    struct stat info {};
    if (::fstat(file->get(), &info) != 0 || (info.st_mode & 07777) == mode) continue;
    // chmod(2) by descriptor rejects an O_PATH one; rootless runtimes may not change files of other users.
    if (::chmod(path_of(file->get()).c_str(), mode) != 0 && errno != EPERM && errno != EACCES)
      outcome = system_error("change the mode of", path, errno);
  }
  return outcome;
}

}  // namespace slipway::hook
