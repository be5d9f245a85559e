// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/page/page.hpp - an overview of the GPUs as one HTML document: a pure function.
//
// It loads nothing from elsewhere, and all names from outside (processes, pods, hosts, models) are text, never markup.
// It can be read without its script, which only updates the values.
#pragma once

#include <string>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {

/// Renders all GPUs as tiles, and then the same GPUs as a table.
std::string page_html(const Overview& overview);

/// The Content-Security-Policy of the page: a browser may run this script, use this style and ask this service, nothing
/// else.
std::string page_policy();

/// The texts between <script> and </script>, <style> and </style>, and their digests as the policy has them.
extern const char* const kPageScript;
extern const char* const kPageScriptDigest;
extern const char* const kPageStyle;
extern const char* const kPageStyleDigest;

/// Escapes text for an element or a quoted attribute: markup and control characters have no effect, and invalid UTF-8
/// is replaced.
std::string html_text(std::string_view text);

/// Draws the last ten minutes as an SVG element.
std::string line_svg(const std::vector<std::optional<unsigned>>& line, const std::string& label);
/// Draws the MIG instances on the slices of the memory as an SVG element.
std::string slices_svg(const GpuDetails& details);

}  // namespace slipway::dcgm
