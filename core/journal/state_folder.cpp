// SPDX-License-Identifier: Apache-2.0
#include "core/journal/state_folder.hpp"

#include <algorithm>

#include <fcntl.h>

#include "core/host/files.hpp"
#include "core/journal/state_dir.hpp"

namespace slipway::core {
namespace {

constexpr std::string_view kAside = ".slipway-state";

/// Returns the temporary name beside a folder.
std::string aside(const std::string& folder) { return folder.substr(0, folder.rfind('/') + 1) + std::string(kAside); }

/// Returns the state folder and those above it that did not exist, outermost first.
std::vector<std::string> own_folders(const Image& origin) {
  std::vector<std::string> all = path_image_from_json(origin).missing_parents;
  all.emplace_back(kStateDir);
  return all;
}

/// Returns a folder and those above it, outermost first.
std::vector<std::string> down_to(std::string_view folder) {
  std::vector<std::string> all = folders_above(folder);
  all.emplace_back(folder);
  return all;
}

Result<bool> has_single_entry(const RootFs& root, const std::string& folder) {
  SLIPWAY_TRY(opened, root.root().open_at(folder, O_RDONLY | O_DIRECTORY));
  SLIPWAY_TRY(names, folder_names(opened.get(), folder));
  return names.size() == 1;
}

}  // namespace

Status sweep_folders(RootFs& root, std::string_view folder) {
  for (const std::string& each : down_to(folder))
    if (root.root().open_at(aside(each), O_PATH | O_DIRECTORY).ok()) SLIPWAY_CHECK(root.remove_tree(aside(each)));
  return {};
}

bool needs_sweep(const RootFs& root, std::string_view folder) {
  return std::ranges::any_of(down_to(folder), [&](const std::string& each) {
    return root.root().open_at(aside(each), O_PATH | O_DIRECTORY).ok();
  });
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

Status take_folders(RootFs& root, const std::vector<std::string>& own) {
  // The part that is removed at once may contain only the path to the folder. A folder that cannot be read is removed
  // too: once the state folder is gone, there is no record that slipway made it.
  std::size_t outermost = own.size() - 1;
  while (outermost > 0) {
    SLIPWAY_TRY(alone, has_single_entry(root, own[outermost - 1]));
    if (!alone) break;
    --outermost;
  }
  SLIPWAY_CHECK(root.rename(own[outermost], aside(own[outermost])));
  return root.remove_tree(aside(own[outermost]));
}

Status take_state_folder(RootFs& root, const Image& origin) { return take_folders(root, own_folders(origin)); }

}  // namespace slipway::core
