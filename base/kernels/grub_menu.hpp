// SPDX-License-Identifier: Apache-2.0
// base/kernels/grub_menu.hpp - the menu in a grub.cfg written by grub-mkconfig: its entries and its
// default.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::base {

struct GrubEntry {
  std::string title;
  std::string id;       ///< after $menuentry_id_option; may be empty
  std::string release;  ///< from its `linux` line; empty: it boots no Linux kernel with a known name
  bool is_submenu = false;
  std::vector<GrubEntry> entries;  ///< the entries of a submenu
};

struct GrubMenu {
  std::vector<GrubEntry> entries;
  std::string fallback;          ///< the default when grubenv names none: "0", a title, an id, or "A>B" for a submenu
  bool takes_saved = false;      ///< the default is grubenv's saved_entry
  bool takes_next_once = false;  ///< grubenv's next_entry has precedence
  bool has_foreign = false;      ///< some entries come from elsewhere (blscfg), so the menu is incomplete
};

GrubMenu parse_grub_menu(std::string_view grub_cfg);

/// Returns the entry of a default: an index, a title or an id, with '>' between the levels; nothing if not found.
std::optional<GrubEntry> grub_entry(const GrubMenu& menu, std::string_view name);

/// Returns "6.1.0-50-amd64" for a path with "vmlinuz-6.1.0-50-amd64"; empty for any other path.
std::string release_of_image(std::string_view path);

}  // namespace slipway::base
