// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/depmod.cpp - trigger `depmod:RELEASE`: what modprobe knows of a kernel's modules.
#include <array>
#include <filesystem>

#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kDepmodLimit{300};
constexpr const char* kDepmod = "depmod";
constexpr std::array kFiles{"alias",   "alias.bin", "builtin.alias.bin", "builtin.bin", "dep",    "dep.bin",
                            "devname", "softdep",   "symbols",           "symbols.bin", "weakdep"};  // of kmod 33

std::string folder_of(const std::string& release) { return "/lib/modules/" + release; }

/// The root's own can be run here.
bool has_own(const Host& host) { return root_has_tool(host, kDepmod) && root_runs_here(host); }

/// This machine's depmod takes absolute links for its own: of a root's folder of modules that is one, or is reached by
/// one, it would write the lists of another folder, and of whose that is the root decides. Errors: `invalid`.
Status check_links(const std::string& release, const RootDir& root) {
  const auto inside = root.resolve(folder_of(release));
  if (root.folder() == "/" || !inside) return {};
  std::error_code failed;
  const auto top = std::filesystem::canonical(root.folder(), failed);
  const auto followed = std::filesystem::canonical(root.folder() + folder_of(release), failed);
  if (!failed && followed == std::filesystem::path(top.string() + *inside)) return {};
  return Error{ErrorCode::invalid,
               "cannot list the modules of kernel " + release + " for modprobe: in " + root.folder() + ", " +
                   folder_of(release) + " is, or is reached by, an absolute link, which this machine's depmod would " +
                   "follow out of that root",
               root.folder() + folder_of(release),
               "make the link a relative one, or install kmod in the root, so that its own depmod is run there",
               {}};
}

Result<ToolEnd> run_offline(const std::string& release, ActionContext& context) {
  // The root's own sees links as the booted system will; this machine's follows absolute ones out of the root.
  if (has_own(context.host)) {
    auto end = run_in_root(context.root, {kDepmod, "-a", release}, kDepmodLimit);
    if (end || end.error().code != ErrorCode::unsupported || !machine_has_tool(kDepmod)) return end;
  }
  SLIPWAY_CHECK(check_links(release, context.root.root()));
  return run_beside(context.root, {kDepmod, "-a", "-b", kRootBeside, release}, kDepmodLimit);
}

/// depmod ends with status 0 even when it could not read a folder of modules.
bool complained(const ToolEnd& end) {
  return end.status != 0 || end.output.find("depmod: ERROR") != std::string::npos ||
         end.output.find("depmod: FATAL") != std::string::npos;
}

}  // namespace

std::vector<std::string> depmod_products(const std::string& release) {
  std::vector<std::string> files;
  for (const char* name : kFiles) files.push_back(folder_of(release) + "/modules." + name);
  return files;
}

Result<Prospect> foresee_depmod(const std::string& release, const Host& host) {
  const std::string doing = "list the modules of kernel " + release + " for modprobe";
  if (host.live()) {
    if (root_has_tool(host, kDepmod)) return Prospect{kDepmod, {}};
    return tool_missing(host, kDepmod, doing, "kmod");
  }
  const bool here = machine_has_tool(kDepmod);
  if (!has_own(host)) {
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    if (here) SLIPWAY_CHECK(check_links(release, root));
    if (here) SLIPWAY_CHECK(check_in_root(host));
    return here ? Result(Prospect{"depmod of this machine", {}}) : tool_missing(host, kDepmod, doing, "kmod");
  }
  const Status runs = here ? Status{} : check_in_root(host);
  if (runs) return Prospect{"the root's own depmod", {}};
  Error error = runs.error();
  error.what = "this machine has no depmod, and " + error.what;
  error.next = "install kmod on this machine, or " + error.next;
  return error;
}

Result<TriggerRun> run_depmod(const std::string& release, ActionContext& context) {
  if (!context.host.exists(folder_of(release))) return skipped("the root has no " + folder_of(release));
  const bool live = context.host.live();
  auto end = live ? run_live(context.host, {kDepmod, "-a", release}, kDepmodLimit) : run_offline(release, context);
  if (!end && end.error().code == ErrorCode::not_found)
    return skipped(live ? "this machine has no depmod" : "neither the root nor this machine has depmod");
  if (!end) return end.error();
  if (complained(*end))
    return tool_failed(*end, "listing the modules of kernel " + release,
                       "check the files below " + folder_of(release) + ", then run `slipway apply` again");
  context.root.note_changed(folder_of(release));
  if (!live) {
    for (const std::string& file : depmod_products(release))
      if (context.host.exists(file)) SLIPWAY_CHECK(context.root.settle_time(file));
  }
  return TriggerRun{true, {}, end->command};
}

}  // namespace slipway::core
