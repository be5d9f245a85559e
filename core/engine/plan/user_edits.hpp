// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/user_edits.hpp - files that somebody else wrote while an apply was at work, or after it was cut off.
#pragma once

#include <string>

#include <slipway/action.hpp>
#include <slipway/host.hpp>

#include "core/host/root_fs.hpp"

namespace slipway::core {

/// The file of an action holds what nobody knows: neither what was there before the step (`image`), nor what the action
/// writes, nor what was there before slipway (`original`, may be null). Actions of other kinds than `file` undo only
/// what is theirs, so the answer for them is no. Errors: of reading the file.
Result<bool> holds_an_edit(const Host& host, const Action& action, const Image& image, const Image& original);

/// A line for people: the file was left as it is.
std::string kept_words(const Action& action);

}  // namespace slipway::core
