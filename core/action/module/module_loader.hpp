// SPDX-License-Identifier: Apache-2.0
// core/action/module/module_loader.hpp - loads modules of the root into the running kernel, and unloads them.
#pragma once

#include <memory>
#include <string>

#include "core/action/action_kind.hpp"

struct kmod_ctx;

namespace slipway::core {

/// Modules and modprobe configuration of a live root, as they are when it is opened.
class ModuleLoader {
 public:
  static Result<ModuleLoader> open(const ActionContext& context);

  /// With what it depends on; nothing happens when it is loaded already.
  /// @param options  parameters as insmod takes them, "a=1 b=2"
  /// Errors: what the kernel said (load_failure()).
  Status load(const std::string& name, const std::string& options) const;
  /// That module alone; nothing happens when it is not loaded. Errors: `busy` with who holds it, `io`.
  Status unload(const std::string& name) const;

 private:
  using Kmod = std::unique_ptr<kmod_ctx, kmod_ctx* (*)(kmod_ctx*)>;
  ModuleLoader(const ActionContext& context, std::string release, Kmod kmod);

  const ActionContext* context_;
  std::string release_;
  Kmod kmod_;
};

}  // namespace slipway::core
