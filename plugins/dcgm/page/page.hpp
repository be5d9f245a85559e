// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/page/page.hpp - an overview of the GPUs as one HTML document: a pure function.
//
// Nothing in it comes from elsewhere, and whatever others have named (processes, pods, hosts, models) is text, never
// markup. It can be read without its script, which only exchanges the values.
#pragma once

#include <string>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {

/// Of all GPUs: tiles, and the same once more as a table.
std::string page_html(const Overview& overview);

/// What a browser may do with the page: run this script and use this style, ask this service, and nothing else.
std::string page_policy();

/// The texts between <script> and </script>, <style> and </style>, and their digests as the policy has them.
extern const char* const kPageScript;
extern const char* const kPageScriptDigest;
extern const char* const kPageStyle;
extern const char* const kPageStyleDigest;

/// Text as content of an element or in a quoted attribute: markup and control characters do nothing there, and bytes
/// that are no UTF-8 are replaced.
std::string html_text(std::string_view text);

/// The last ten minutes as an SVG element.
std::string line_svg(const std::vector<std::optional<unsigned>>& line, const std::string& label);
/// The MIG instances on the slices of the memory as an SVG element.
std::string slices_svg(const GpuDetails& details);

}  // namespace slipway::dcgm
