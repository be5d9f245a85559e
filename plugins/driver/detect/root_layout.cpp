// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/root_layout.hpp"

#include <filesystem>

namespace slipway::driver {
namespace {

bool is_folder(const Host& host, const std::string& path) {
  const auto info = host.info(path);
  return info && info->type == FileInfo::Type::directory;
}

}  // namespace

std::string lib_folder(const Host& host) {
  // Kernel tools use /lib/modules, so an empty root gets /lib rather than a folder that they would not find.
  const bool merged = !is_folder(host, "/lib") && (host.exists("/lib") || host.exists("/usr/lib/modules"));
  return merged ? "/usr/lib" : "/lib";
}

// Debian's systemd comes with kernel-install, which Debian's kernels do not run.
std::string kernel_hooks(const Host& host) {
  if (host.exists("/usr/bin/dpkg")) return "debian";
  for (const char* program : {"/usr/bin/kernel-install", "/bin/kernel-install"})
    if (host.exists(program)) return "kernel-install";
  return {};
}

std::string debian_triplet(std::string_view arch) {
  if (arch == "x86_64") return "x86_64-linux-gnu";
  if (arch == "aarch64") return "aarch64-linux-gnu";
  return {};
}

std::string public_libdir(const Host& host) {
  const auto triplet = debian_triplet(host.arch());
  if (!triplet.empty() && is_folder(host, "/usr/lib/" + triplet)) return "/usr/lib/" + triplet;
  return is_folder(host, "/usr/lib64") ? "/usr/lib64" : std::string{};
}

std::string os_tag(std::string_view id, std::string_view version_id) {
  if (id.empty()) return {};
  std::string tag{id};
  for (const std::string_view minor_is_cut : {"rhel", "rocky", "ol", "almalinux", "centos"})
    if (id == minor_is_cut) version_id = version_id.substr(0, version_id.find('.'));
  return tag.append(version_id);
}

std::string os_tag(const Host& host) { return os_tag(host.os_release("ID"), host.os_release("VERSION_ID")); }

std::string relative_target(std::string_view link, std::string_view target) {
  const std::filesystem::path folder = std::filesystem::path(link).parent_path();
  return std::filesystem::path(target).lexically_relative(folder).string();
}

}  // namespace slipway::driver
