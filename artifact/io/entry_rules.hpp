// SPDX-License-Identifier: Apache-2.0
// artifact/io/entry_rules.hpp - the rules for a layer's contents: names, links, modes. Pure functions.
//
// Building a package applies the same rules, so that it contains nothing that unpacking would refuse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::artifact {

/// Returns an entry's cleaned name inside the layer: "usr/lib/libcuda.so.1"; empty for the layer's root itself.
/// Errors: `denied` when it is absolute, has "..", or a part or the whole is too long for Linux.
Result<std::string> clean_entry_name(std::string_view name);

/// Checks a symbolic link's target against the link's (clean) name.
///
/// Leading ".." may lead up to the layer's root and no further. A ".." after a name is only safe if everything before
/// it is a real folder: returns those folders, which must be checked once the tree is complete. Errors: `denied` when
/// the target is empty, absolute or leaves the layer.
Result<std::vector<std::string>> check_link_target(std::string_view link, std::string_view target);

/// Returns the permission bits of an unpacked file: umask 022, always readable for its owner.
std::uint32_t file_mode(std::uint32_t mode);
/// The same for a folder: its owner can always enter it.
std::uint32_t directory_mode(std::uint32_t mode);

/// Errors: `denied` for setuid and setgid.
Status check_mode(std::uint32_t mode);

/// Returns an error `denied` with the reason `why`.
Error refuse(const std::string& why);

/// A name for messages: control characters escaped, cut after 200 bytes.
std::string printable(std::string_view name);

}  // namespace slipway::artifact
