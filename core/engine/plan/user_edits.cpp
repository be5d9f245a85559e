// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/user_edits.hpp"

#include <slipway/digest/digest.hpp>

#include "core/action/file/plain_file.hpp"

namespace slipway::core {
namespace {

bool is_digest_of(const Image& image, const std::string& digest) {
  return image.is_object() && image.contains("digest") && image["digest"] == digest;
}

}  // namespace

Result<bool> holds_an_edit(const Host& host, const Action& action, const Image& image, const Image& original) {
  if (action.kind() != "file") return false;
  SLIPWAY_TRY(now, look_at(host, action.target(), true));
  if (!now.is(FileInfo::Type::regular) || now.content == action.text("content")) return false;
  const std::string digest = digest_of(now.content);
  return !is_digest_of(image, digest) && !is_digest_of(original, digest);
}

std::string kept_words(const Action& action) {
  return action.target() + " was changed by somebody else meanwhile, and was left as it is";
}

}  // namespace slipway::core
