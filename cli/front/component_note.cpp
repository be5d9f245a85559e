// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <slipway/root_dir.hpp>

#include "cli/front/handover.hpp"
#include "core/loader/plugin_file.hpp"

namespace slipway::core {

std::optional<SafeNote> read_safe_note(const std::string& path, ElfKind kind) {
  const auto safe = safe_path(path);
  if (!safe) return std::nullopt;
  const Fd file(::open(safe->c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return std::nullopt;
  auto note = read_plugin_note(file.get(), *safe, kind);
  if (!note || !check_protocol(*note, *safe)) return std::nullopt;
  return SafeNote{*safe, std::move(*note)};
}

}  // namespace slipway::core
