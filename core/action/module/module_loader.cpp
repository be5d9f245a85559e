// SPDX-License-Identifier: Apache-2.0
#include "core/action/module/module_loader.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <libkmod.h>

#include "core/action/module/kernel_log.hpp"
#include "core/action/module/module_users.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kInstallLimit{120};

using Module = std::unique_ptr<kmod_module, decltype(&kmod_module_unref)>;
using ModuleList = std::unique_ptr<kmod_list, decltype(&kmod_module_unref_list)>;

/// Returns the host path of a path inside the root.
std::string outside(const ActionContext& context, const std::string& path) {
  return context.root.root().folder() + context.host.resolve(path).value_or(path);
}

/// Modules are loaded into the running kernel, even when the plan is for another one.
Result<std::string> running_release(const Host& host) {
  std::string release = host.attribute("/proc/sys/kernel/osrelease");
  return release.empty() ? host.kernel_release() : Result<std::string>(std::move(release));
}

struct Attempt {
  const Host& host;
  std::string followed;  ///< the line of modprobe.d that was followed instead of loading a module; empty when none was
};

/// Runs an `install` line of modprobe.d: a shell command instead of loading, run where the root's programs run.
int run_install(kmod_module* module, const char* command, void* data) {
  auto& attempt = *static_cast<Attempt*>(data);
  attempt.followed = std::string("install ") + kmod_module_get_name(module) + " " + command;
  const auto end = sandbox::run_live(attempt.host, {"/bin/sh", "-c", command}, kInstallLimit);
  return end && end->status == 0 ? 0 : -EIO;
}

/// Returns "alias acme off" when the module found has another name and no file; empty when the name is not an alias.
std::string alias_line(std::string name, const kmod_module* found) {
  std::replace(name.begin(), name.end(), '-', '_');
  const std::string is = kmod_module_get_name(found);
  return is == name || kmod_module_get_path(found) != nullptr ? "" : "alias " + name + " " + is;
}

/// Returns 0 or an errno.
int insert(kmod_ctx* kmod, const std::string& name, const std::string& options, Attempt& attempt) {
  kmod_list* found = nullptr;
  const int looked = kmod_module_new_from_lookup(kmod, name.c_str(), &found);
  const ModuleList list(found, &kmod_module_unref_list);
  if (looked < 0) return -looked;
  if (!list) return ENOENT;
  for (kmod_list* item = list.get(); item != nullptr; item = kmod_list_next(list.get(), item)) {
    const Module module(kmod_module_get_module(item), &kmod_module_unref);
    const int result = kmod_module_probe_insert_module(module.get(), 0, options.empty() ? nullptr : options.c_str(),
                                                       &run_install, &attempt, nullptr);
    if (result < 0 && attempt.followed.empty()) attempt.followed = alias_line(name, module.get());
    if (result < 0 && result != -EEXIST) return -result;
  }
  return 0;
}

}  // namespace

ModuleLoader::ModuleLoader(const ActionContext& context, std::string release, Kmod kmod)
    : context_(&context), release_(std::move(release)), kmod_(std::move(kmod)) {}

Result<ModuleLoader> ModuleLoader::open(const ActionContext& context) {
  SLIPWAY_TRY(release, running_release(context.host));
  std::vector<std::string> folders;
  for (const char* folder : {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/lib/modprobe.d"})
    folders.push_back(outside(context, folder));
  std::vector<const char*> paths;
  for (const std::string& folder : folders) paths.push_back(folder.c_str());
  paths.push_back(nullptr);
  Kmod kmod(kmod_new(outside(context, "/lib/modules/" + release).c_str(), paths.data()), &kmod_unref);
  if (!kmod) return system_error("open", "libkmod", ENOMEM);
  kmod_set_log_fn(
      kmod.get(), [](void*, int, const char*, int, const char*, const char*, va_list) {}, nullptr);
  return ModuleLoader(context, std::move(release), std::move(kmod));
}

Status ModuleLoader::load(const std::string& name, const std::string& options) const {
  const Host& host = context_->host;
  if (host.module_loaded(name)) return {};
  KernelLog log(context_->root.root());
  Attempt attempt{host, {}};
  const int number = insert(kmod_.get(), name, options, attempt);
  if (number == 0 && host.module_loaded(name)) return {};
  const auto messages = log.news();
  if (!attempt.followed.empty()) return prevented_load(name, attempt.followed, messages);
  return load_failure(name, release_, number == 0 ? ENOENT : number, messages, host.attribute("/proc/cmdline"));
}

Status ModuleLoader::unload(const std::string& name) const {
  if (!context_->host.module_loaded(name)) return {};
  kmod_module* found = nullptr;
  if (kmod_module_new_from_name(kmod_.get(), name.c_str(), &found) < 0) return system_error("open", "libkmod", ENOMEM);
  const Module module(found, &kmod_module_unref);
  const int result = kmod_module_remove_module(module.get(), 0);
  if (result == 0 || result == -ENOENT) return {};
  return unload_failure(name, -result, context_->host);
}

}  // namespace slipway::core
