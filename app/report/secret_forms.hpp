// SPDX-License-Identifier: Apache-2.0
// app/report/secret_forms.hpp - secrets that are known by their form, whatever they stand under.
#pragma once

#include <vector>

#include "app/report/scanned_text.hpp"
#include "app/report/secret_search.hpp"

namespace slipway::core {

/// Adds those of one line: passwords in URLs, hooks of chat services, logins without a scheme, tokens of known form,
/// and what follows options and words that are known to be followed by a secret.
void find_secret_forms(ScannedText& text, std::size_t begin, std::size_t end, std::vector<SecretSpan>& found);

}  // namespace slipway::core
