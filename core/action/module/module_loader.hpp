// SPDX-License-Identifier: Apache-2.0
// core/action/module/module_loader.hpp - loads modules of the root into the running kernel, and unloads them.
#pragma once

#include <memory>
#include <string>

#include "core/action/action_kind.hpp"

struct kmod_ctx;

namespace slipway::core {

/// The modules and modprobe configuration of a live root, as they were when it was opened.
class ModuleLoader {
 public:
  static Result<ModuleLoader> open(const ActionContext& context);

  /// Loads a module and its dependencies; does nothing when it is loaded already.
  /// @param options  parameters as insmod takes them, "a=1 b=2"
  /// Errors: the kernel's message (load_failure()).
  Status load(const std::string& name, const std::string& options) const;
  /// Unloads that module alone; does nothing when it is not loaded. Errors: `busy`, naming its users; `io`.
  Status unload(const std::string& name) const;

 private:
  using Kmod = std::unique_ptr<kmod_ctx, kmod_ctx* (*)(kmod_ctx*)>;
  ModuleLoader(const ActionContext& context, std::string release, Kmod kmod);

  const ActionContext* context_;
  std::string release_;
  Kmod kmod_;
};

}  // namespace slipway::core
