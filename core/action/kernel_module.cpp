// SPDX-License-Identifier: Apache-2.0
// core/action/kernel_module.cpp - kind `kernel-module`: a module that must be loaded, with its dependencies.
#include <cerrno>
#include <memory>

#include <libkmod.h>

#include "core/action/kernel_log.hpp"
#include "core/action/kinds.hpp"
#include "core/action/module_failure.hpp"
#include "core/action/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kInstallLimit{120};

using Kmod = std::unique_ptr<kmod_ctx, decltype(&kmod_unref)>;
using Module = std::unique_ptr<kmod_module, decltype(&kmod_module_unref)>;
using ModuleList = std::unique_ptr<kmod_list, decltype(&kmod_module_unref_list)>;

/// The host path of a path inside the root.
std::string outside(const ActionContext& context, const std::string& path) {
  return context.root.root().folder() + context.host.resolve(path).value_or(path);
}

/// Modules and modprobe configuration of the root, for the running kernel.
Kmod open_kmod(const ActionContext& context, const std::string& release) {
  std::vector<std::string> folders;
  for (const char* folder : {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/lib/modprobe.d"})
    folders.push_back(outside(context, folder));
  std::vector<const char*> paths;
  for (const std::string& folder : folders) paths.push_back(folder.c_str());
  paths.push_back(nullptr);
  Kmod kmod(kmod_new(outside(context, "/lib/modules/" + release).c_str(), paths.data()), &kmod_unref);
  kmod_set_log_fn(
      kmod.get(), [](void*, int, const char*, int, const char*, const char*, va_list) {}, nullptr);
  return kmod;
}

/// An `install` line of modprobe.d: a shell command instead of loading, run where the root's programs run.
int run_install(kmod_module*, const char* command, void* host) {
  const auto end = run_live(*static_cast<const Host*>(host), {"/bin/sh", "-c", command}, kInstallLimit);
  return end && end->status == 0 ? 0 : -EIO;
}

std::string options_of(const Action& action) {
  std::string options;
  for (const Json& parameter : action.value("parameters"))
    options += (options.empty() ? "" : " ") + parameter.get<std::string>();
  return options;
}

/// 0 or an errno.
int insert(kmod_ctx* kmod, const std::string& name, const std::string& options, const Host& host) {
  kmod_list* found = nullptr;
  const int looked = kmod_module_new_from_lookup(kmod, name.c_str(), &found);
  const ModuleList list(found, &kmod_module_unref_list);
  if (looked < 0) return -looked;
  if (!list) return ENOENT;
  for (kmod_list* item = list.get(); item != nullptr; item = kmod_list_next(list.get(), item)) {
    const Module module(kmod_module_get_module(item), &kmod_module_unref);
    const int result = kmod_module_probe_insert_module(module.get(), 0, options.empty() ? nullptr : options.c_str(),
                                                       &run_install, &host, nullptr);
    if (result < 0 && result != -EEXIST) return -result;
  }
  return 0;
}

class KernelModuleKind final : public ActionKind {
 public:
  Phase phase() const override { return Phase::activate; }

  Result<Check> check(const Action& action, ActionContext& context) const override {
    Check check;
    check.summary = "load " + action.target();
    if (const std::string options = options_of(action); !options.empty()) check.summary += " with " + options;
    if (context.host.module_loaded(action.target())) {
      check.standing = Check::Standing::satisfied;
      check.summary = action.target() + " is loaded";
    } else if (!context.host.live()) {
      check.standing = Check::Standing::at_boot;
    }
    return check;
  }

  Result<Image> capture(const Action& action, ActionContext& context) const override {
    return Image{{"loaded", context.host.module_loaded(action.target())}};
  }

  Result<Outcome> perform(const Action& action, ActionContext& context) const override {
    const std::string name = action.target();
    if (!context.host.live())
      return Error{ErrorCode::offline, name + " can only be loaded into the running kernel", name, {}, {}};
    if (context.host.module_loaded(name)) return Outcome::already_done();
    SLIPWAY_TRY(release, running_release(context.host));
    const Kmod kmod = open_kmod(context, release);
    if (!kmod) return system_error("open", "libkmod", ENOMEM);
    KernelLog log(context.root.root());
    const int number = insert(kmod.get(), name, options_of(action), context.host);
    if (number != 0) return load_failure(name, release, number, log.news());
    if (context.host.module_loaded(name)) return Outcome::done();
    return load_failure(name, release, ENOENT, log.news());  // an `install` line did something else
  }

  Status restore(const Action& action, const Image& image, ActionContext& context) const override {
    const std::string name = action.target();
    if (image.value("loaded", false) || !context.host.live() || !context.host.module_loaded(name)) return {};
    SLIPWAY_TRY(release, running_release(context.host));
    const Kmod kmod = open_kmod(context, release);
    kmod_module* found = nullptr;
    if (!kmod || kmod_module_new_from_name(kmod.get(), name.c_str(), &found) < 0)
      return system_error("open", "libkmod", ENOMEM);
    const Module module(found, &kmod_module_unref);
    const int result = kmod_module_remove_module(module.get(), 0);
    return result == 0 || result == -ENOENT ? Status{} : Status(unload_failure(name, -result, context.host));
  }

  Result<Json> fingerprint(const Action&, ActionContext&) const override { return Json::object(); }
  Result<bool> drifted(const Action&, ActionContext&) const override { return false; }

 private:
  /// What is loaded goes into the kernel that runs, whichever was planned for.
  static Result<std::string> running_release(const Host& host) {
    std::string release = host.attribute("/proc/sys/kernel/osrelease");
    return release.empty() ? host.kernel_release() : Result<std::string>(std::move(release));
  }
};

}  // namespace

const ActionKind& kernel_module_kind() {
  static const KernelModuleKind kind;
  return kind;
}

}  // namespace slipway::core
