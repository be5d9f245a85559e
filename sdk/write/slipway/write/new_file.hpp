// SPDX-License-Identifier: Apache-2.0
// sdk/write/slipway/write/new_file.hpp - a file under a temporary name, complete before anybody can see it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <slipway/result.hpp>
#include <slipway/write/attributes.hpp>

namespace slipway {

struct NewFile {
  unsigned mode = 0644;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t mtime_ns = 0;
  Attributes attributes;
};

/// Makes the file `name` in the folder `parent`, an older one of that name going; `fill` writes the content.
/// Mode, owner, attributes and mtime are set whatever the umask. Nothing is left behind when it fails.
/// @param path  as users know it, for messages
Status write_new_file(int parent, const std::string& name, std::string_view path, const NewFile& wanted,
                      const std::function<Status(int fd)>& fill);

/// Owner of something already made (a link itself, not what it points to); left alone when it is right already.
Status set_owner(int parent, const std::string& name, std::string_view path, std::uint32_t uid, std::uint32_t gid);
/// The mtime in nanoseconds since 1970; a link itself, not what it points to.
Status set_mtime(int parent, const std::string& name, std::string_view path, std::int64_t mtime_ns);

}  // namespace slipway
