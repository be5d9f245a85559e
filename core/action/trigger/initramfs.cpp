// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/initramfs.cpp - trigger `initramfs:RELEASE`: the initial root of a kernel, made anew by the
// system's own tool.
#include <array>
#include <optional>

#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kInitramfsLimit{1800};

struct Maker {
  std::string image;
  std::vector<std::string> argv;
};

std::optional<std::string> first_that_exists(const Host& host, const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (host.exists(path)) return path;
  return std::nullopt;
}

/// The image of this release and the command that makes it. Where both tools are there, dracut made what is there.
std::optional<Maker> find_maker(const Host& host, const std::string& release) {
  const std::string debian = "/boot/initrd.img-" + release;
  if (root_has_tool(host, "dracut")) {
    const auto image =
        first_that_exists(host, {"/boot/initramfs-" + release + ".img", debian, "/boot/initrd-" + release});
    if (!image) return std::nullopt;
    std::vector<std::string> argv{"dracut", "--force", "--kver", release};
    // What hardware this machine has says nothing about the one that will boot the image.
    if (!host.live()) argv.insert(argv.end(), {"--no-hostonly", "--reproducible"});
    argv.push_back(*image);
    return Maker{*image, argv};
  }
  if (!root_has_tool(host, "update-initramfs") || !host.exists(debian)) return std::nullopt;
  return Maker{debian, {"update-initramfs", "-u", "-k", release}};
}

std::string why_none(const Host& host, const std::string& release) {
  if (root_has_tool(host, "dracut") || root_has_tool(host, "update-initramfs"))
    return "the root has no initrd for kernel " + release +
           " in /boot; one that is made later takes the new files along";
  const std::string none = "the root has neither update-initramfs nor dracut";
  const auto image = first_that_exists(
      host, {"/boot/initramfs-" + release + ".img", "/boot/initrd.img-" + release, "/boot/initrd-" + release});
  return image ? none + ", so " + *image + " stays as it is: make it anew with what made it" : none;
}

}  // namespace

Result<Prospect> foresee_initramfs(const std::string& release, const Host& host) {
  const auto maker = find_maker(host, release);
  if (!maker) return Prospect{{}, why_none(host, release)};
  const std::string& tool = maker->argv.front();
  if (host.live()) return Prospect{tool, {}};
  if (!root_runs_here(host)) return needs_the_processor(host, tool);
  if (const Status runs = check_in_root(host); !runs) {
    Error error = runs.error();
    error.what = maker->image + " has to be made anew by the root's own " + tool + ", but " + error.what;
    return error;
  }
  return Prospect{"the root's own " + tool, {}};
}

Result<TriggerRun> run_initramfs(const std::string& release, ActionContext& context) {
  const auto maker = find_maker(context.host, release);
  if (!maker) return skipped(why_none(context.host, release));
  const bool live = context.host.live();
  if (!live && !root_runs_here(context.host))
    return skipped("the root is for " + context.host.arch() + ", whose programs do not run on this machine; run `" +
                   maker->argv.front() + "` when it has booted");
  auto end = live ? run_live(context.host, maker->argv, kInitramfsLimit)
                  : run_in_root(context.root, maker->argv, kInitramfsLimit);
  if (!end) return end.error();
  if (end->status != 0) {
    Error error = tool_failed(*end, "making the initrd of kernel " + release,
                              "the former " + maker->image +
                                  " is still there; mend what the tool names, then run "
                                  "`slipway apply` again");
    if (error.code == ErrorCode::no_space)
      error.next = "free some space in /boot and in memory (/tmp is there), then run `slipway apply` again";
    return error;
  }
  context.root.note_changed("/boot");
  if (!live) {
    SLIPWAY_CHECK(context.root.settle_time(maker->image));
    for (const std::string folder : {"/var/lib/initramfs-tools", "/var/lib/dracut"}) {
      if (!context.host.exists(folder + "/" + release)) continue;
      context.root.note_changed(folder);
      SLIPWAY_CHECK(context.root.settle_time(folder + "/" + release));
    }
  }
  return TriggerRun{true, {}, as_it_ran(*end)};
}

}  // namespace slipway::core
