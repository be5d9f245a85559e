// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/hooks.hpp - the hooks of a CDI spec as entries of it: the command lines of slipway-cdi-hook.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "nvidia/cdi/spec.hpp"

namespace slipway::toolkit {

struct HookOptions {
  std::string path = "/usr/bin/slipway-cdi-hook";
  std::set<std::string> disabled{"chmod"};  ///< names, or "all"
  std::string ldconfig;                     ///< on the host, for update-ldcache; empty: the hook's default
};

/// Adds hooks to edits; leaves out a disabled one, and one that lacks its required arguments.
class HookWriter {
 public:
  explicit HookWriter(const HookOptions& options) : options_(options) {}

  bool wanted(const std::string& name) const;
  /// @param words  the arguments after the hook's name
  void add(const std::string& name, const std::vector<std::string>& words, nvidia::cdi::Edits& edits) const;
  void create_symlinks(const std::vector<std::string>& links, nvidia::cdi::Edits& edits) const;
  void update_ldcache(const std::vector<std::string>& folders, nvidia::cdi::Edits& edits) const;

 private:
  const HookOptions& options_;
};

}  // namespace slipway::toolkit
