// SPDX-License-Identifier: Apache-2.0
// app/report/secret_forms.hpp - finds secrets by their form, independent of their key.
#pragma once

#include <vector>

#include "app/report/scanned_text.hpp"
#include "app/report/secret_search.hpp"

namespace slipway::app {

/// Adds the secrets of one line: passwords in URLs, hooks of chat services, logins without a scheme, tokens of known
/// form, and values after options and words that are always followed by a secret.
void find_secret_forms(ScannedText& text, std::size_t begin, std::size_t end, std::vector<SecretSpan>& found);

}  // namespace slipway::app
