// SPDX-License-Identifier: Apache-2.0
// base/kernels/grub_menu.hpp - the menu of a grub.cfg as grub-mkconfig writes it: entries, and which is
// the default.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

struct GrubEntry {
  std::string title;
  std::string id;       ///< after $menuentry_id_option; may be empty
  std::string release;  ///< of its `linux` line; empty: it boots no Linux kernel of a known name
  bool is_submenu = false;
  std::vector<GrubEntry> entries;  ///< of a submenu
};

struct GrubMenu {
  std::vector<GrubEntry> entries;
  std::string fallback;          ///< the default where grubenv names none: "0", a title, an id, or "A>B" of a submenu
  bool takes_saved = false;      ///< the default is grubenv's saved_entry
  bool takes_next_once = false;  ///< grubenv's next_entry goes before it
  bool has_foreign = false;      ///< entries come from elsewhere (blscfg), so the menu is not all here
};

GrubMenu parse_grub_menu(std::string_view grub_cfg);

/// The entry that a default names: an index, a title or an id, with '>' between the levels; nothing when there is none.
std::optional<GrubEntry> grub_entry(const GrubMenu& menu, std::string_view name);

/// "vmlinuz-6.1.0-50-amd64" in a path gives "6.1.0-50-amd64"; empty when it is no such path.
std::string release_of_image(std::string_view path);

}  // namespace slipway
