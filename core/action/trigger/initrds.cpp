// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/initrds.cpp - finds the initrds of a kernel, and the commands that rebuild them.
#include <algorithm>

#include <slipway/text.hpp>

#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kShownFiles = 4;
constexpr std::size_t kMostImages = 16;  // each needs a run of dracut; a root has one for each of its boot folders

std::string debian_image(const std::string& release) { return "/boot/initrd.img-" + release; }

std::vector<std::string> names_in(const Host& host, const std::string& folder) {
  return host.list(folder).value_or(std::vector<std::string>{});
}

/// Returns the initrds of this kernel: in /boot, beside the kernel's modules (OSTree, bootc), and in folders of the
/// Boot Loader Specification, TOKEN/RELEASE/initrd.
std::vector<std::string> images_of(const Host& host, const std::string& release) {
  std::vector<std::string> images;
  for (const std::string& path :
       {"/boot/initramfs-" + release + ".img", debian_image(release), "/boot/initrd-" + release,
        "/usr/lib/modules/" + release + "/initramfs.img", "/usr/lib/modules/" + release + "/initrd"})
    if (host.exists(path)) images.push_back(path);
  for (const std::string boot : {"/boot/", "/efi/", "/boot/efi/"})
    for (const std::string& token : names_in(host, boot)) {
      const std::string path = boot + token + "/" + release + "/initrd";
      if (host.exists(path)) images.push_back(path);
    }
  return images;
}

/// Returns the unified kernel images of this kernel: each contains an initrd.
std::vector<std::string> unified_images_of(const Host& host, const std::string& release) {
  std::vector<std::string> images;
  for (const std::string folder : {"/boot/EFI/Linux", "/efi/EFI/Linux", "/boot/efi/EFI/Linux"})
    for (const std::string& name : names_in(host, folder))
      if (name.ends_with(".efi") && name.find(release) != std::string::npos) images.push_back(folder + "/" + name);
  return images;
}

/// Returns images named after the kernel's package, not its release: "/boot/initramfs-linux.img".
std::vector<std::string> mkinitcpio_images(const Host& host) {
  std::vector<std::string> images;
  for (const std::string& name : names_in(host, "/boot"))
    if (name.starts_with("initramfs-") && name.ends_with(".img")) images.push_back("/boot/" + name);
  return images;
}

std::string files_text(const std::vector<std::string>& files) {
  if (files.size() <= kShownFiles) return listed(files, "and");
  const std::vector<std::string> shown(files.begin(), files.begin() + kShownFiles);
  return joined(shown) + " and " + std::to_string(files.size() - kShownFiles) + " more";
}

/// "A and B stay as they are: WHY"
std::string stay(const std::vector<std::string>& files, const std::string& why) {
  return files_text(files) + (files.size() == 1 ? " stays as it is: " : " stay as they are: ") + why;
}

InitrdWork by_dracut(const Host& host, const std::string& release) {
  InitrdWork work{{}, images_of(host, release), {}};
  if (work.images.size() > kMostImages) {
    const std::vector<std::string> others(work.images.begin() + kMostImages, work.images.end());
    work.images.resize(kMostImages);
    work.left = stay(others, "slipway rebuilds at most " + std::to_string(kMostImages) + " initrds of a kernel");
  }
  for (const std::string& image : work.images) {
    std::vector<std::string> argv{"dracut", "--force", "--kver", release};
    // The hardware of this machine says nothing about the machine that will boot the image.
    if (!host.live()) argv.insert(argv.end(), {"--no-hostonly", "--reproducible"});
    argv.push_back(image);
    work.commands.push_back(std::move(argv));
  }
  return work;
}

InitrdWork by_update_initramfs(const Host& host, const std::string& release) {
  InitrdWork work;
  std::vector<std::string> others = images_of(host, release);
  if (std::erase(others, debian_image(release)) != 0) {
    work.commands.push_back({"update-initramfs", "-u", "-k", release});
    work.images.push_back(debian_image(release));
  }
  if (!others.empty())
    work.left = stay(others, "update-initramfs does not write there; rebuild it with the tool that built it");
  return work;
}

/// mkinitcpio takes its modules from the machine that it runs on, through its hook autodetect.
InitrdWork by_mkinitcpio(const Host& host) {
  const std::vector<std::string> images = mkinitcpio_images(host);
  if (images.empty() && names_in(host, "/etc/mkinitcpio.d").empty()) return {};
  if (host.live()) return {{{"mkinitcpio", "-P"}}, images, {}};
  const std::vector<std::string> files = images.empty() ? std::vector<std::string>{"the initrd"} : images;
  return {{}, {}, stay(files, "mkinitcpio makes it for the machine that it runs on; run `mkinitcpio -P` there")};
}

std::string nothing_found(const Host& host, const std::string& release, bool has_maker) {
  if (has_maker)
    return "the root has no initrd for kernel " + release + "; one that is built later will contain the new files";
  const std::string none = "the root has neither update-initramfs nor dracut";
  const auto images = images_of(host, release);
  return images.empty() ? none : none + ", so " + stay(images, "rebuild it with the tool that built it");
}

}  // namespace

InitrdWork find_initrd_work(const Host& host, const std::string& release) {
  const bool dracut = sandbox::root_has_tool(host, "dracut");
  const bool update_initramfs = sandbox::root_has_tool(host, "update-initramfs");
  const bool mkinitcpio = sandbox::root_has_tool(host, "mkinitcpio");
  InitrdWork work;
  if (dracut)
    work = by_dracut(host, release);
  else if (update_initramfs)
    work = by_update_initramfs(host, release);
  else if (mkinitcpio)
    work = by_mkinitcpio(host);
  const bool presets_make_them = mkinitcpio && !work.commands.empty() && work.commands.front().front() == "mkinitcpio";
  if (const auto unified = unified_images_of(host, release); !unified.empty() && !presets_make_them) {
    if (!work.left.empty()) work.left += "; ";
    work.left +=
        stay(unified, "the initrd is a part of it; rebuild it with the tool that built it (`kernel-install`, `ukify`)");
  }
  if (work.commands.empty() && work.left.empty())
    work.left = nothing_found(host, release, dracut || update_initramfs || mkinitcpio);
  return work;
}

}  // namespace slipway::core
