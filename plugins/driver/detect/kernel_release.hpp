// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/kernel_release.hpp - kernel releases ("6.1.0-50-amd64"): nearness, and their form in a tag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::driver {

/// Returns `releases` with those nearest to `wanted` first: same flavour ("-amd64"), then the smallest distance in the
/// first number that differs, then in the next.
std::vector<std::string> nearest_first(std::vector<std::string> releases, std::string_view wanted);

/// Converts a release to a part of a tag: '+' and other characters that tags must not contain become '_'.
/// 6.12.107+deb12-amd64 -> 6.12.107_deb12-amd64. Two releases may get the same form, so the release is read from a
/// package's annotation dev.slipway.kernel.release, never from its tag.
std::string tag_form(std::string_view release);

/// Returns `<driver>-<kernel release>-<os>-<flavour>`, the tag of a package for one kernel; at most 128 characters.
std::string package_tag(std::string_view version, std::string_view kernel, std::string_view os,
                        std::string_view flavour);

}  // namespace slipway::driver
