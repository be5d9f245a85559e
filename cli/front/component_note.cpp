// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fcntl.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>

#include "cli/front/direct_tool.hpp"
#include "cli/front/handover.hpp"
#include "core/loader/plugin_file.hpp"

namespace slipway::cli {

std::optional<SafeNote> read_safe_note(const std::string& path, core::ElfKind kind) {
  const auto safe = safe_path(path);
  if (!safe) return std::nullopt;
  const auto file = open_regular(*safe, O_NOFOLLOW);
  if (!file) return std::nullopt;
  auto note = core::read_plugin_note(file->get(), *safe, kind);
  if (!note || !core::check_protocol(*note, *safe)) return std::nullopt;
  return SafeNote{*safe, std::move(*note)};
}

std::optional<SafeNote> find_holder(const std::string& folder, const std::string& component) {
  std::optional<SafeNote> holder;
  std::error_code problem;
  for (std::filesystem::directory_iterator file(folder, problem), end; !problem && file != end;
       file.increment(problem)) {
    const std::string name = file->path().filename().string();
    if (!name.ends_with(".so") || name.ends_with(".service.so")) continue;
    auto note = read_safe_note(file->path().string(), core::ElfKind::library);
    if (!note || !holds_component(note->note.manifest, component)) continue;
    if (holder) return std::nullopt;
    holder = std::move(note);
  }
  return problem ? std::nullopt : std::move(holder);
}

}  // namespace slipway::cli
