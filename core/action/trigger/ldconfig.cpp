// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/ldconfig.cpp - trigger `ldconfig`: updates the run-time linker's cache of libraries.
#include <algorithm>

#include <slipway/text.hpp>

#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kLdconfigLimit{300};
constexpr const char* kCache = "/etc/ld.so.cache";
/// Contains inode numbers and change times, which would make every copy of a root different.
constexpr const char* kAuxiliary = "/var/cache/ldconfig/aux-cache";

/// True when glibc's linker, which uses the cache, starts the root's programs; an empty root has none.
bool reads_cache(const Host& host) {
  const auto is_glibc = [&](const std::string& folder) {
    const auto names = host.list(folder);
    return names && std::any_of(names->begin(), names->end(), [](const std::string& name) {
             return name.starts_with("ld-linux") || name.starts_with("ld64.so");
           });
  };
  return host.exists("/etc/ld.so.cache") || is_glibc("/lib64") || is_glibc("/lib");
}

std::string why_no_cache(const Host& host) {
  return (host.live() ? "this machine" : "the root " + host.root_folder()) +
         " has no linker of glibc that would read ld.so.cache, and there is no ldconfig";
}

/// True when the root's own ldconfig can run here.
bool has_own_ldconfig(const Host& host) {
  return sandbox::root_has_tool(host, "ldconfig") && sandbox::root_runs_here(host);
}

Result<sandbox::ToolEnd> run_offline(ActionContext& context) {
  // -v prints the links that were made. Links are made as usual (no -X): an unpacked library may come without them.
  if (has_own_ldconfig(context.host)) {
    auto end = sandbox::run_in_root(context.root, {"ldconfig", "-v"}, kLdconfigLimit);
    if (end || end.error().code != ErrorCode::unsupported || !sandbox::machine_has_tool("ldconfig")) return end;
  }
  return sandbox::run_beside(context.root, {"ldconfig", "-v"}, "-r", kLdconfigLimit);
}

/// Sets the epoch also on links that ldconfig made ("\tlibx.so.1 -> libx.so.1.2 (changed)" below "/folder: (from …)").
Status settle_links(const std::string& output, RootFs& root) {
  std::string folder;
  for (const std::string& line : lines_of(output)) {
    if (line.starts_with('/')) folder = line.substr(0, line.find(':'));
    const std::size_t arrow = line.find(" -> ");
    if (!line.starts_with('\t') || arrow == std::string::npos || !line.ends_with("(changed)")) continue;
    root.note_changed(folder);
    SLIPWAY_CHECK(root.settle_time(folder + "/" + line.substr(1, arrow - 1)));
  }
  return {};
}

}  // namespace

Result<Prospect> foresee_ldconfig(const std::string& /*none*/, const Host& host) {
  const std::string doing = "tell programs where libraries are (ld.so.cache)";
  const auto missing = [&]() -> Result<Prospect> {
    if (!reads_cache(host)) return Prospect{{}, why_no_cache(host)};
    return sandbox::tool_missing(host, "ldconfig", doing, sandbox::root_has_tool(host, "dpkg") ? "libc-bin" : "glibc");
  };
  if (host.live()) return sandbox::root_has_tool(host, "ldconfig") ? Result(Prospect{"ldconfig", {}}) : missing();
  if (!sandbox::root_runs_here(host)) {
    if (host.exists("/etc")) return sandbox::needs_the_processor(host, "ldconfig");
    return Prospect{{}, "the root has no /etc to put ld.so.cache into"};
  }
  const bool here = sandbox::machine_has_tool("ldconfig");
  if (!has_own_ldconfig(host)) {
    if (here) SLIPWAY_CHECK(sandbox::check_beside(host, "ldconfig"));
    return here ? Result(Prospect{"ldconfig of this machine", {}}) : missing();
  }
  if (const Status runs = here ? Status{} : sandbox::check_in_root(host); !runs) {
    Error error = runs.error();
    error.what = "this machine has no ldconfig, and " + error.what;
    return error;
  }
  return Prospect{"the root's own ldconfig", {}};
}

Result<TriggerRun> run_ldconfig(const std::string& /*none*/, ActionContext& context) {
  const std::string failure = "check the folders that /etc/ld.so.conf names, then run `slipway apply` again";
  if (context.host.live()) {
    if (!sandbox::root_has_tool(context.host, "ldconfig")) return skipped("this system has no ldconfig");
    SLIPWAY_TRY(end, sandbox::run_live(context.host, {"ldconfig"}, kLdconfigLimit));
    if (end.status != 0) return sandbox::tool_failed(end, "updating the linker's cache", failure);
    context.root.note_changed("/etc");
    return TriggerRun{true, {}, sandbox::command_text(end)};
  }
  if (!context.host.exists("/etc")) return skipped("the root has no /etc to put ld.so.cache into");
  if (!sandbox::root_runs_here(context.host))
    return skipped("the root is for " + context.host.arch() +
                   ", and ldconfig of this machine cannot read its libraries; run ldconfig once the root has booted");
  SLIPWAY_TRY(before, context.root.capture(kAuxiliary));
  auto end = run_offline(context);
  SLIPWAY_CHECK(context.root.restore(kAuxiliary, before));
  if (!end && end.error().code == ErrorCode::not_found)
    return skipped("neither the root nor this machine has ldconfig");
  if (!end) return end.error();
  if (end->status != 0) return sandbox::tool_failed(*end, "making the linker's cache", failure);
  context.root.note_changed("/etc");
  SLIPWAY_CHECK(context.root.settle_time(kCache));
  SLIPWAY_CHECK(settle_links(end->output, context.root));
  return TriggerRun{true, {}, sandbox::command_text(*end)};
}

}  // namespace slipway::core
