// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/status_files.hpp - the files of /run/nvidia/validations that other programs wait for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::validator {

struct StatusFile {
  std::string content;  ///< empty for most
  unsigned mode = 0644;
};

/// Makes the folder contain exactly the wanted files among those that it manages; other files are not changed.
class StatusFiles {
 public:
  /// @param folder  path inside the root
  StatusFiles(RootDir root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  /// Replaces files atomically, and only if their content differs.
  /// @param wanted  by name; files of `looked_after` that are not wanted are removed
  Status show(const std::map<std::string, StatusFile>& wanted, const std::vector<std::string>& looked_after);

 private:
  RootDir root_;
  std::string folder_;
};

}  // namespace slipway::validator
