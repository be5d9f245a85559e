// SPDX-License-Identifier: Apache-2.0
#include "core/journal/state_folder.hpp"

#include <fcntl.h>

#include "core/host/files.hpp"
#include "core/journal/state_dir.hpp"

namespace slipway::core {
namespace {

constexpr std::string_view kAside = ".slipway-state";

/// The name beside a folder by which it comes and goes.
std::string aside(const std::string& folder) { return folder.substr(0, folder.rfind('/') + 1) + std::string(kAside); }

/// The state folder and those above it that were missing, outermost first.
std::vector<std::string> own_folders(const Image& origin) {
  std::vector<std::string> all = path_image_from_json(origin).missing_parents;
  all.emplace_back(kStateDir);
  return all;
}

Result<bool> holds_only_one(const RootFs& root, const std::string& folder) {
  SLIPWAY_TRY(opened, root.root().open_at(folder, O_RDONLY | O_DIRECTORY));
  SLIPWAY_TRY(names, folder_names(opened.get(), folder));
  return names.size() == 1;
}

}  // namespace

Status sweep_state_folder(RootFs& root) {
  std::vector<std::string> folders = folders_above(kStateDir);
  folders.emplace_back(kStateDir);
  for (const std::string& folder : folders)
    if (root.root().open_at(aside(folder), O_PATH | O_DIRECTORY).ok()) SLIPWAY_CHECK(root.remove_tree(aside(folder)));
  return {};
}

Status bring_state_folder(RootFs& root, const Image& origin, const std::map<std::string, std::string>& files) {
  const std::string outermost = own_folders(origin).front();
  const std::string begun = aside(outermost);
  const std::string folder = begun + std::string(kStateDir.substr(outermost.size()));
  SLIPWAY_CHECK(root.make_directory(folder, kStateMode));
  for (const auto& [name, content] : files) {
    SLIPWAY_CHECK(root.stage_file(folder + "/" + name, content, 0600, 0, 0));
    SLIPWAY_CHECK(root.switch_in(folder + "/" + name));
  }
  SLIPWAY_CHECK(root.sync());
  return root.rename(begun, outermost);
}

Status take_state_folder(RootFs& root, const Image& origin) {
  const std::vector<std::string> own = own_folders(origin);
  // Only the way down to the state folder may be in what goes at once. A folder that cannot be read is no reason to
  // leave it behind: once the state is gone, nobody knows any more whose it was.
  std::size_t outermost = own.size() - 1;
  while (outermost > 0) {
    SLIPWAY_TRY(alone, holds_only_one(root, own[outermost - 1]));
    if (!alone) break;
    --outermost;
  }
  SLIPWAY_CHECK(root.rename(own[outermost], aside(own[outermost])));
  return root.remove_tree(aside(own[outermost]));
}

}  // namespace slipway::core
