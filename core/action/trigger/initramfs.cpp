// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/initramfs.cpp - trigger `initramfs:RELEASE`: rebuilds the initrd of a kernel with the system's
// own tool.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kInitramfsLimit{1800};  // for all initrds of a kernel together

std::string folder_of_image(const std::string& path) { return std::filesystem::path(path).parent_path(); }

Error making_failed(const sandbox::ToolEnd& end, const std::string& release, const InitrdWork& work) {
  Error error =
      sandbox::tool_failed(end, "making the initrd of kernel " + release,
                           "correct what the tool names, then run `slipway apply` again, before the next boot");
  if (error.code == ErrorCode::no_space && !work.images.empty())
    error.next = "free some space in " + folder_of_image(work.images.front()) +
                 " and in memory (which holds /tmp), then run `slipway apply` again";
  return error;
}

/// In an image all files get the time of SOURCE_DATE_EPOCH.
Status settle_times(const std::string& release, const InitrdWork& work, ActionContext& context) {
  for (const std::string& image : work.images) SLIPWAY_CHECK(context.root.settle_time(image));
  for (const std::string folder : {"/var/lib/initramfs-tools", "/var/lib/dracut"}) {
    if (!context.host.exists(folder + "/" + release)) continue;
    context.root.note_changed(folder);
    SLIPWAY_CHECK(context.root.settle_time(folder + "/" + release));
  }
  return {};
}

}  // namespace

Result<Prospect> foresee_initramfs(const std::string& release, const Host& host) {
  const InitrdWork work = find_initrd_work(host, release);
  if (work.commands.empty()) return Prospect{{}, work.left};
  const std::string& tool = work.commands.front().front();
  if (host.live()) return Prospect{tool, work.left};
  if (!sandbox::root_runs_here(host)) return sandbox::needs_the_processor(host, tool);
  if (const Status runs = sandbox::check_in_root(host); !runs) {
    Error error = runs.error();
    error.what = work.images.front() + " has to be rebuilt by the root's own " + tool + ", but " + error.what;
    return error;
  }
  return Prospect{"the root's own " + tool, work.left};
}

Result<TriggerRun> run_initramfs(const std::string& release, ActionContext& context) {
  const InitrdWork work = find_initrd_work(context.host, release);
  if (work.commands.empty()) return skipped(work.left);
  const bool live = context.host.live();
  if (!live && !sandbox::root_runs_here(context.host))
    return skipped("the root is for " + context.host.arch() + ", whose programs do not run on this machine; run `" +
                   work.commands.front().front() + "` once the root has booted");
  TriggerRun run{true, work.left, {}};
  const auto deadline = std::chrono::steady_clock::now() + kInitramfsLimit;
  for (const auto& argv : work.commands) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - std::chrono::steady_clock::now());
    const auto limit = std::max(left, std::chrono::seconds(1));
    auto end = live ? sandbox::run_live(context.host, argv, limit) : sandbox::run_in_root(context.root, argv, limit);
    if (!end) return end.error();
    if (end->status != 0) return making_failed(*end, release, work);
    run.text += (run.text.empty() ? "" : "; ") + sandbox::command_text(*end);
  }
  for (const std::string& image : work.images) context.root.note_changed(folder_of_image(image));
  if (!live) SLIPWAY_CHECK(settle_times(release, work, context));
  return run;
}

}  // namespace slipway::core
