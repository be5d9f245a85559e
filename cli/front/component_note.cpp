// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>

#include "cli/front/handover.hpp"
#include "core/loader/plugin_file.hpp"

namespace slipway::core {

std::optional<SafeNote> read_safe_note(const std::string& path, ElfKind kind) {
  const auto safe = safe_path(path);
  if (!safe) return std::nullopt;
  const auto file = open_regular(*safe, O_NOFOLLOW);
  if (!file) return std::nullopt;
  auto note = read_plugin_note(file->get(), *safe, kind);
  if (!note || !check_protocol(*note, *safe)) return std::nullopt;
  return SafeNote{*safe, std::move(*note)};
}

}  // namespace slipway::core
