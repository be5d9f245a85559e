// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plugin_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <slipway/abi.h>
#include <sys/stat.h>

#include <slipway/root_dir.hpp>

#include "core/loader/plugin_note.hpp"
#include "core/loader/safe_path.hpp"

namespace slipway::core {
namespace {

std::string protocol(unsigned major, unsigned minor) { return std::to_string(major) + "." + std::to_string(minor); }

/// A plugin runs under the same major and the same or a later minor (sdk/slipway/abi.h).
Status check_protocol(const PluginNote& note, const std::string& path) {
  constexpr unsigned kMajor = SLIPWAY_PROTOCOL_MAJOR;
  constexpr unsigned kMinor = SLIPWAY_PROTOCOL_MINOR;
  if (note.protocol_major == kMajor && note.protocol_minor <= kMinor) return {};
  const bool newer = note.protocol_major > kMajor || note.protocol_major == kMajor;
  const std::string theirs = protocol(note.protocol_major, note.protocol_minor);
  return Error{ErrorCode::unsupported,
               path + ": built for plugin protocol " + theirs + ", this slipway has " + protocol(kMajor, kMinor),
               path,
               newer
                   ? "update slipway to one with protocol " + theirs + " or later, or rebuild the plugin with this SDK"
                   : "rebuild the plugin with this slipway's SDK",
               {}};
}

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

Result<PluginFile> read_plugin_file(const std::string& path) {
  SLIPWAY_TRY(real_path, safe_path(path));
  SLIPWAY_TRY(fd, open_regular(real_path));
  SLIPWAY_TRY(note, read_plugin_note(fd.get(), real_path));
  SLIPWAY_CHECK(check_protocol(note, real_path));
  SLIPWAY_TRY(components, parse_manifests(note.manifest, real_path + "(manifest)"));
  return PluginFile{real_path,           note.plugin_version,   note.protocol_major,
                    note.protocol_minor, FileDigest(real_path), std::move(components)};
}

}  // namespace slipway::core
