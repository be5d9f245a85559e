// SPDX-License-Identifier: Apache-2.0
// artifact/io/entry_rules.hpp - what a layer may contain: names, links, modes. Pure functions.
//
// The same rules hold when a package is built, so that nothing is packed that would be refused later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::artifact {

/// An entry's name inside the layer, cleaned: "usr/lib/libcuda.so.1"; empty for the layer's root itself.
/// Errors: `denied` when it is absolute, has "..", or a part or the whole is longer than Linux takes.
Result<std::string> clean_entry_name(std::string_view name);

/// A symbolic link's target, checked against the link's (clean) name.
///
/// Leading ".." may lead up to the layer's root and no further. A ".." after a name leads nowhere unexpected only if
/// everything before it is a real folder: those folders come back, and have to be checked once the tree is complete.
/// Errors: `denied` when the target is empty, absolute or leaves the layer.
Result<std::vector<std::string>> check_link_target(std::string_view link, std::string_view target);

/// The permission bits that an unpacked file gets: umask 022, always readable for its owner.
std::uint32_t file_mode(std::uint32_t mode);
/// The same for a folder: always open to its owner.
std::uint32_t directory_mode(std::uint32_t mode);

/// Errors: `denied` for setuid and setgid.
Status check_mode(std::uint32_t mode);

/// `denied`, because of `why`.
Error refuse(const std::string& why);

/// A name for messages: control characters escaped, cut after 200 bytes.
std::string printable(std::string_view name);

}  // namespace slipway::artifact
