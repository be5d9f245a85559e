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

/// Makes the folder show exactly the files that are wanted, of those that it looks after; others are left alone.
class StatusFiles {
 public:
  /// @param folder  inside the root
  StatusFiles(RootDir root, std::string folder) : root_(std::move(root)), folder_(std::move(folder)) {}

  /// A file appears and changes in one step, and is only written when it is not right already, whoever changed it.
  /// @param wanted  by name; those of `looked_after` that are not wanted go
  Status show(const std::map<std::string, StatusFile>& wanted, const std::vector<std::string>& looked_after);

 private:
  RootDir root_;
  std::string folder_;
};

}  // namespace slipway::validator
