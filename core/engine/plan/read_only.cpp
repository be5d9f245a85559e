// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/read_only.hpp"

#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/statvfs.h>

#include <slipway/error.hpp>

#include "core/action/store/store.hpp"

namespace slipway::core {
namespace {

/// Opens the innermost existing folder above the path, without reading it.
Result<Fd> folder_above(const RootDir& root, const std::string& path) {
  const auto above = folders_above(path);
  for (auto folder = above.rbegin(); folder != above.rend(); ++folder) {
    auto open = root.open_at(*folder, O_PATH | O_DIRECTORY);
    if (open || open.error().code != ErrorCode::not_found) return open;
  }
  return root.open_at("/", O_PATH | O_DIRECTORY);
}

bool is_read_only(const RootDir& root, const std::string& path) {
  const auto folder = folder_above(root, path);
  struct statvfs info {};
  return folder && ::fstatvfs(folder->get(), &info) == 0 && (info.f_flag & ST_RDONLY) != 0;
}

/// Returns the paths that a change writes to before anything is activated.
std::set<std::string> paths_written(const PlannedItem& item) {
  std::set<std::string> paths;
  if (item.kind->phase() != ActionKind::Phase::switch_in) return paths;
  for (const Claim& claim : item.kind->claims(item.action))
    if (claim.target.starts_with('/')) paths.insert(claim.target);
  if (const std::string store = item.kind->store(item.action); !store.empty())
    paths.insert(store_folder(store) + "/current");
  return paths;
}

}  // namespace

Status check_writable(Session& session, const PlannedComponent& planned) {
  const RootDir& root = session.root().root();
  std::optional<Error> problem;
  for (const PlannedItem& item : planned.items) {
    if (!item.changes()) continue;
    for (const std::string& path : paths_written(item)) {
      const bool is_gone = item.removal && !root.open_at(path, O_PATH | O_NOFOLLOW).ok();
      if (is_gone || !is_read_only(root, path)) continue;
      if (!problem)
        problem = system_error("write", path, EROFS);
      else
        problem->details.emplace_back("also", path);
    }
  }
  return problem ? Status(std::move(*problem)) : Status{};
}

}  // namespace slipway::core
