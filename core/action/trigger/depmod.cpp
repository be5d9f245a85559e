// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/depmod.cpp - trigger `depmod:RELEASE`: updates modprobe's lists of a kernel's modules.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "core/action/trigger/triggers.hpp"
#include "core/host/files.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kDepmodLimit{300};
constexpr const char* kDepmod = "depmod";
constexpr std::array kFiles{"alias",   "alias.bin", "builtin.alias.bin", "builtin.bin", "dep",    "dep.bin",
                            "devname", "softdep",   "symbols",           "symbols.bin", "weakdep"};  // files of kmod 33

std::string folder_of(const std::string& release) { return "/lib/modules/" + release; }

/// True when the root's own depmod can run here.
bool has_own(const Host& host) { return sandbox::root_has_tool(host, kDepmod) && sandbox::root_runs_here(host); }

/// Rejects roots with links in the folder of modules. The depmod of an ordinary user runs without a sandbox and
/// resolves absolute links on this machine: a link at, in or above that folder would let the root choose which of the
/// user's files it reads and writes. depmod does not follow `build` and `source`. Errors: `invalid`.
Status check_links(const std::string& release, const RootDir& root) {
  const auto inside = root.resolve(folder_of(release));
  if (::geteuid() == 0 || root.folder() == "/" || !inside) return {};
  const std::string folder = root.folder() + folder_of(release);
  std::error_code failed;
  const std::string top = std::filesystem::canonical(root.folder(), failed);
  std::string leads_out;
  if (std::filesystem::canonical(folder, failed) != std::filesystem::path(top + *inside)) leads_out = folder;
  SLIPWAY_TRY(links, links_below(root, *inside));
  for (const auto& [name, to] : links) {
    const std::string link = std::string(*inside).append("/").append(name);
    const auto end = root.resolve(link);
    const auto followed = std::filesystem::canonical(top + link, failed);
    if (name == "build" || name == "source" || failed) continue;
    if (!end || followed != std::filesystem::path(top + *end)) leads_out = top + link;
  }
  if (leads_out.empty()) return {};
  return Error{ErrorCode::invalid,
               "cannot list the modules of kernel " + release + " for modprobe: " + leads_out +
                   " is, or is reached by, an absolute link, which this machine's depmod would follow out of that root",
               leads_out,
               "make the link a relative one, install kmod in the root, so that its own depmod is run there, or run "
               "slipway as root",
               {}};
}

Result<sandbox::ToolEnd> run_offline(const std::string& release, ActionContext& context) {
  // The root's own depmod may support more of its kernel.
  if (has_own(context.host)) {
    auto end = sandbox::run_in_root(context.root, {kDepmod, "-a", release}, kDepmodLimit);
    if (end || end.error().code != ErrorCode::unsupported || !sandbox::machine_has_tool(kDepmod)) return end;
  }
  SLIPWAY_CHECK(check_links(release, context.root.root()));
  return sandbox::run_beside(context.root, {kDepmod, "-a", release}, "-b", kDepmodLimit);
}

/// Returns the process id of the depmod that is writing this file, "modules.dep.17.123456.1700000000"; 0 when it is
/// another file. depmod writes each list under such a name first, with its process id and the time (kmod, depmod.c),
/// and renames it.
pid_t writer_of(std::string_view name) {
  constexpr std::string_view kBegin = "modules.";
  if (!name.starts_with(kBegin)) return 0;
  name.remove_prefix(kBegin.size());
  const auto list = std::ranges::find_if(kFiles, [&](std::string_view file) {
    return name.starts_with(file) && name.substr(file.size()).starts_with('.') &&
           name.substr(file.size()).find_first_not_of(".0123456789") == std::string_view::npos;
  });
  if (list == kFiles.end()) return 0;
  name.remove_prefix(std::string_view(*list).size() + 1);
  pid_t writer = 0;
  const auto [end, problem] = std::from_chars(name.begin(), name.end(), writer);
  return problem == std::errc{} && std::count(end, name.end(), '.') == 2 ? writer : 0;
}

/// Removes the unfinished lists of a depmod that was killed. On a running machine, another depmod may be writing some.
Status remove_unfinished_lists(const std::string& release, ActionContext& context) {
  const std::string folder = folder_of(release);
  SLIPWAY_TRY(opened, context.root.root().open_at(folder, O_RDONLY | O_DIRECTORY));
  SLIPWAY_TRY(names, folder_names(opened.get(), folder));
  for (const std::string& name : names) {
    const pid_t writer = writer_of(name);
    struct stat info {};
    if (writer <= 0 || ::fstatat(opened.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool at_work = context.host.live() && (::kill(writer, 0) == 0 || errno != ESRCH);
    if (S_ISREG(info.st_mode) && !at_work)
      SLIPWAY_CHECK(context.root.remove(std::string(folder).append("/").append(name)));
  }
  return {};
}

/// Returns depmod's complaints. It exits with 0 even when it could not read a module, or a folder of modules.
std::string complaint(const sandbox::ToolEnd& end) {
  for (const std::string word : {"depmod: ERROR: ", "depmod: FATAL: "})
    if (const std::size_t at = end.output.find(word); at != std::string::npos)
      return end.output.substr(at + word.size(), end.output.find('\n', at) - at - word.size());
  return {};
}

/// Returns the error for a list that lacks the modules that depmod could not read.
Error incomplete_list(const sandbox::ToolEnd& end, const std::string& release) {
  Error error = sandbox::tool_failed(end, "listing the modules of kernel " + release, {});
  error.what = "not every module of kernel " + release + " could be listed for modprobe: " + complaint(end);
  error.next = "replace or delete what depmod names, then run `slipway apply` again; the other modules are listed";
  return error;
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
    if (sandbox::root_has_tool(host, kDepmod)) return Prospect{kDepmod, {}};
    return sandbox::tool_missing(host, kDepmod, doing, "kmod");
  }
  const bool here = sandbox::machine_has_tool(kDepmod);
  if (!has_own(host)) {
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    if (here) SLIPWAY_CHECK(check_links(release, root));
    if (here) SLIPWAY_CHECK(sandbox::check_beside(host, kDepmod));
    return here ? Result(Prospect{"depmod of this machine", {}}) : sandbox::tool_missing(host, kDepmod, doing, "kmod");
  }
  const Status runs = here ? Status{} : sandbox::check_in_root(host);
  if (runs) return Prospect{"the root's own depmod", {}};
  Error error = runs.error();
  error.what = "this machine has no depmod, and " + error.what;
  error.next = "install kmod on this machine, or " + error.next;
  return error;
}

Result<TriggerRun> run_depmod(const std::string& release, ActionContext& context) {
  if (!context.host.exists(folder_of(release))) return skipped("the root has no " + folder_of(release));
  SLIPWAY_CHECK(remove_unfinished_lists(release, context));
  const bool live = context.host.live();
  auto end =
      live ? sandbox::run_live(context.host, {kDepmod, "-a", release}, kDepmodLimit) : run_offline(release, context);
  if (!end && end.error().code == ErrorCode::not_found)
    return skipped(live ? "this machine has no depmod" : "neither the root nor this machine has depmod");
  if (!end) return end.error();
  if (end->status == 0 && !complaint(*end).empty()) return incomplete_list(*end, release);
  if (end->status != 0)
    return sandbox::tool_failed(*end, "listing the modules of kernel " + release,
                                "check the files below " + folder_of(release) + ", then run `slipway apply` again");
  context.root.note_changed(folder_of(release));
  if (!live) {
    for (const std::string& file : depmod_products(release))
      if (context.host.exists(file)) SLIPWAY_CHECK(context.root.settle_time(file));
  }
  return TriggerRun{true, {}, sandbox::command_text(*end)};
}

}  // namespace slipway::core
