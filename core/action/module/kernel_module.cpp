// SPDX-License-Identifier: Apache-2.0
// core/action/module/kernel_module.cpp - kind `kernel-module`: a module that must be loaded, with its dependencies.
//
// When the action names a version and another one is loaded, the module and those that depend on it are replaced,
// provided that they are not in use; else the new version waits for a reboot.

#include <slipway/text.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/module/module_loader.hpp"
#include "core/action/module/module_users.hpp"

namespace slipway::core {
namespace {

std::string options_of(const Action& action) {
  return joined(action.value("parameters"), " ", [](const Json& parameter) { return parameter.get<std::string>(); });
}

/// The module loaded under this name, and the modules that depend on it.
struct Loaded {
  bool present = false;
  std::string version;              ///< empty when the module has no version
  std::vector<std::string> on_top;  ///< in the order in which they can be unloaded

  static Loaded look(const Host& host, const std::string& name) {
    if (!host.module_loaded(name)) return {};
    return {true, loaded_version(host, name), modules_on_top(host, name)};
  }
  /// Modules without a version cannot be distinguished.
  bool is(const std::string& wanted) const {
    return present && (wanted.empty() || version.empty() || version == wanted);
  }
};

/// Unloads the modules that depend on it, then the module.
Status unload(const ModuleLoader& loader, const std::string& name, const Loaded& now) {
  for (const std::string& module : now.on_top) SLIPWAY_CHECK(loader.unload(module));
  return loader.unload(name);
}

/// Loads the module, then those that depended on it before.
Status load(const ModuleLoader& loader, const std::string& name, const std::string& options, const Loaded& former) {
  SLIPWAY_CHECK(loader.load(name, options));
  for (auto module = former.on_top.rbegin(); module != former.on_top.rend(); ++module)
    SLIPWAY_CHECK(loader.load(*module, {}));
  return {};
}

class KernelModuleKind final : public ActionKind {
 public:
  std::string removal(const Action& action) const override { return "unload " + action.target(); }

  Phase phase() const override { return Phase::activate; }
  bool is_lost_at_boot() const override { return true; }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    const Loaded now = Loaded::look(context.host, action.target());
    const std::string wanted = action.text("version");
    Check check;
    check.summary = "load " + action.target();
    if (const std::string options = options_of(action); !options.empty()) check.summary += " with " + options;
    if (now.is(wanted)) {
      check.standing = Check::Standing::satisfied;
      check.summary = action.target() + " is loaded";
    } else if (!context.host.live()) {
      check.standing = Check::Standing::at_boot;
    } else if (now.present) {
      check.summary = "replace the loaded " + action.target() + " " + now.version + " by " + wanted;
    }
    return check;
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    const Loaded now = Loaded::look(context.host, action.target());
    Image image{{"loaded", now.present}};
    if (!now.version.empty()) image["version"] = now.version;
    if (!now.on_top.empty()) image["on_top"] = now.on_top;
    return image;
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    const std::string name = action.target();
    const std::string wanted = action.text("version");
    if (!context.host.live())
      return Error{ErrorCode::offline, name + " can only be loaded into the running kernel", name, {}, {}};
    const Loaded now = Loaded::look(context.host, name);
    if (now.is(wanted)) return Outcome::already_done();
    std::vector<std::string> all = now.on_top;
    all.push_back(name);
    if (const auto users = used_from_outside(context.host, all); now.present && !users.empty())
      return Outcome::reboot_required(name + " " + now.version + " is loaded and in use: " + joined(users) + "; " +
                                      wanted + " takes over with the next boot");
    SLIPWAY_TRY(loader, ModuleLoader::open(context));
    if (now.present) SLIPWAY_CHECK(unload(loader, name, now));
    SLIPWAY_CHECK(load(loader, name, options_of(action), now));
    const Loaded then = Loaded::look(context.host, name);
    if (then.is(wanted)) return Outcome::done();
    return Error{ErrorCode::conflict,
                 "the kernel module " + name + " is of version " + then.version + ", not " + wanted,
                 name,
                 "see which file `modinfo -n " + name + "` names: another package may have put it there",
                 {}};
  }

  /// Leaves a module that was loaded before; reinstate() loads the former version once its files are restored.
  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    const std::string name = action.target();
    if (image.value("loaded", false) || !context.host.live() || !context.host.module_loaded(name)) return {};
    SLIPWAY_TRY(loader, ModuleLoader::open(context));
    return loader.unload(name);
  }

  Status reinstate(const Action& action, const Image& image, ActionContext& context) const override {
    const std::string name = action.target();
    if (!image.value("loaded", false) || !context.host.live()) return {};
    const Loaded former{true, image.value("version", ""), image.value("on_top", std::vector<std::string>{})};
    const Loaded now = Loaded::look(context.host, name);
    SLIPWAY_TRY(loader, ModuleLoader::open(context));
    if (now.present && !now.is(former.version)) SLIPWAY_CHECK(unload(loader, name, now));
    return load(loader, name, options_of(action), former);
  }
};

}  // namespace

const ActionKind& kernel_module_kind() {
  static const KernelModuleKind kind;
  return kind;
}

}  // namespace slipway::core
