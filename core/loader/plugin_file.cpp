// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plugin_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <slipway/root_dir.hpp>

namespace slipway::core {
namespace {

Result<Fd> open_regular(const std::string& path) {
  // O_NONBLOCK: a FIFO or device of that name must not hold us up before it is refused
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return system_error("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return system_error("look at", path, errno);
  if (!S_ISREG(info.st_mode))
    return Error{ErrorCode::invalid, path + ": is no regular file", path, "plugins are shared objects (*.so)", {}};
  return fd;
}

}  // namespace

Result<PluginFile> read_plugin_file(const std::string& path, ElfKind kind) {
  SLIPWAY_TRY(real_path, safe_path(path));
  SLIPWAY_TRY(fd, open_regular(real_path));
  SLIPWAY_TRY(note, read_plugin_note(fd.get(), real_path, kind));
  SLIPWAY_CHECK(check_protocol(note, real_path));
  SLIPWAY_TRY(components, parse_manifests(note.manifest, real_path + "(manifest)"));
  return PluginFile{real_path,           note.plugin_version,   note.protocol_major,
                    note.protocol_minor, FileDigest(real_path), std::move(components)};
}

}  // namespace slipway::core
