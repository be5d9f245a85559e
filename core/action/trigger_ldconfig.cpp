// SPDX-License-Identifier: Apache-2.0
// core/action/trigger_ldconfig.cpp - trigger `ldconfig`: the run-time linker's cache of libraries.
#include <sstream>

#include "core/action/tool.hpp"
#include "core/action/triggers.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kLdconfigLimit{300};
constexpr const char* kCache = "/etc/ld.so.cache";
/// Holds inode numbers and change times, so it would make each copy of a root differ.
constexpr const char* kAuxiliary = "/var/cache/ldconfig/aux-cache";

Result<ToolEnd> run_offline(ActionContext& context) {
  // -v names the links that were made. Links are made as usual (no -X): an unpacked library may come without.
  if (root_has_tool(context.host, "ldconfig") && root_runs_here(context.host)) {
    auto end = run_in_root(context, {"ldconfig", "-v"}, kLdconfigLimit);
    if (end || end.error().code != ErrorCode::unsupported) return end;
  }
  return run_here({"ldconfig", "-v", "-r", context.root.root().folder()}, kLdconfigLimit);
}

/// Links that ldconfig made ("\tlibx.so.1 -> libx.so.1.2 (changed)" below "/folder: (from …)") get the epoch too.
Status settle_links(const std::string& output, RootFs& root) {
  std::istringstream lines(output);
  std::string folder;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('/')) folder = line.substr(0, line.find(':'));
    const std::size_t arrow = line.find(" -> ");
    if (!line.starts_with('\t') || arrow == std::string::npos || !line.ends_with("(changed)")) continue;
    root.note_changed(folder);
    SLIPWAY_CHECK(root.settle_time(folder + "/" + line.substr(1, arrow - 1)));
  }
  return {};
}

}  // namespace

Result<Payment> pay_ldconfig(ActionContext& context) {
  const std::string failure = "check the folders that /etc/ld.so.conf names, then run `slipway apply` again";
  if (context.host.live()) {
    if (!root_has_tool(context.host, "ldconfig")) return skipped("this system has no ldconfig");
    SLIPWAY_TRY(end, run_live(context.host, {"ldconfig"}, kLdconfigLimit));
    if (end.status != 0) return tool_failed(end, "updating the linker's cache", failure);
    context.root.note_changed("/etc");
    return Payment{true, {}, end.command};
  }
  if (!context.host.exists("/etc")) return skipped("the root has no /etc to put ld.so.cache into");
  if (!root_runs_here(context.host))
    return skipped("the root is for " + context.host.arch() +
                   ", and ldconfig of this machine cannot read its libraries; run ldconfig when it has booted");
  SLIPWAY_TRY(before, context.root.capture(kAuxiliary));
  auto end = run_offline(context);
  SLIPWAY_CHECK(context.root.restore(kAuxiliary, before));
  if (!end && end.error().code == ErrorCode::not_found)
    return skipped("neither the root nor this machine has ldconfig");
  if (!end) return end.error();
  if (end->status != 0) return tool_failed(*end, "making the linker's cache", failure);
  context.root.note_changed("/etc");
  SLIPWAY_CHECK(context.root.settle_time(kCache));
  SLIPWAY_CHECK(settle_links(end->output, context.root));
  return Payment{true, {}, end->command};
}

}  // namespace slipway::core
