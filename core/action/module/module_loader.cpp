// SPDX-License-Identifier: Apache-2.0
#include "core/action/module/module_loader.hpp"

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

/// The host path of a path inside the root.
std::string outside(const ActionContext& context, const std::string& path) {
  return context.root.root().folder() + context.host.resolve(path).value_or(path);
}

/// What is loaded goes into the kernel that runs, whichever was planned for.
Result<std::string> running_release(const Host& host) {
  std::string release = host.attribute("/proc/sys/kernel/osrelease");
  return release.empty() ? host.kernel_release() : Result<std::string>(std::move(release));
}

/// An `install` line of modprobe.d: a shell command instead of loading, run where the root's programs run.
int run_install(kmod_module*, const char* command, void* host) {
  const auto end = run_live(*static_cast<const Host*>(host), {"/bin/sh", "-c", command}, kInstallLimit);
  return end && end->status == 0 ? 0 : -EIO;
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
  const int number = insert(kmod_.get(), name, options, host);
  if (number != 0) return load_failure(name, release_, number, log.news());
  if (host.module_loaded(name)) return {};
  return load_failure(name, release_, ENOENT, log.news());  // an `install` line did something else
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
