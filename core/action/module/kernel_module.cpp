// SPDX-License-Identifier: Apache-2.0
// core/action/module/kernel_module.cpp - kind `kernel-module`: a module that must be loaded, with its dependencies.
//
// Where the action names a version and another one is loaded, the module and those on top of it are replaced, provided
// that nobody uses them; else the new one has to wait for a reboot.

#include <slipway/text.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/module/module_loader.hpp"
#include "core/action/module/module_users.hpp"

namespace slipway::core {
namespace {

std::string options_of(const Action& action) {
  return joined(action.value("parameters"), " ", [](const Json& parameter) { return parameter.get<std::string>(); });
}

/// What is loaded under this name, and what stands on it.
struct Loaded {
  bool present = false;
  std::string version;              ///< empty: it names none
  std::vector<std::string> on_top;  ///< in the order in which they can be unloaded

  static Loaded look(const Host& host, const std::string& name) {
    if (!host.module_loaded(name)) return {};
    return {true, loaded_version(host, name), modules_on_top(host, name)};
  }
  /// Modules that name no version cannot be told apart.
  bool is(const std::string& wanted) const {
    return present && (wanted.empty() || version.empty() || version == wanted);
  }
};

/// The module, after those on top of it.
Status unload(const ModuleLoader& loader, const std::string& name, const Loaded& now) {
  for (const std::string& module : now.on_top) SLIPWAY_CHECK(loader.unload(module));
  return loader.unload(name);
}

/// The module, then those that had been on top of it.
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

  /// One that was loaded before stays: reinstate() brings the former one back once its files are there again.
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
