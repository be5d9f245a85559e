// SPDX-License-Identifier: Apache-2.0
#include "driver/package/module_build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipway::driver {
namespace {

std::string suffix(const std::string& compression) {
  if (compression == "xz") return ".ko.xz";
  return compression == "zstd" ? ".ko.zst" : ".ko";
}

bool is_like(const std::string& os_family, std::string_view id) {
  return (" " + os_family + " ").find(id) != std::string::npos;
}

}  // namespace

action::Build make_build(const ModuleBuild& request) {
  action::Build build;
  build.name = fmt::format("NVIDIA {} ({}) for {}", request.version, request.flavour, request.kernel_release);
  build.directory = request.source.directory;
  // The Makefile finds the kernel's source and output folders below /lib/modules/RELEASE by itself.
  // -g0: debug information would be stripped anyway, and costs more than half of the time and memory.
  build.argv = {"make",
                "-j{jobs}",
                "modules",
                "KERNEL_UNAME=" + request.kernel_release,
                fmt::format("NV_KERNEL_MODULES={}", fmt::join(request.source.modules, " ")),
                "KCFLAGS=-g0"};
  build.environment = {"KBUILD_BUILD_USER=slipway", "KBUILD_BUILD_HOST=slipway"};
  build.needs = {fmt::format("/lib/modules/{}/build", request.kernel_release), "/usr/bin/make", request.compiler};
  build.needs_hint = request.hint;
  for (const auto& module : request.source.modules)
    build.collect.push_back({.from = module + ".ko",
                             .to = "kernel/" + module + suffix(request.compression),
                             .strip = true,
                             .sign_key = request.sign_key,
                             .sign_cert = request.sign_certificate,
                             .compress = request.compression});
  build.collect.push_back({.from = "Module.symvers", .to = "Module.symvers"});
  build.identity = request.identity;
  build.identity["kernel"] = request.kernel_release;
  return build;
}

std::vector<std::string> module_file_names(const SourceTree& source, const std::string& compression) {
  std::vector<std::string> names;
  for (const auto& module : source.modules) names.push_back(module + suffix(compression));
  return names;
}

std::string headers_hint(const std::string& os_family, const std::string& kernel_release, const std::string& compiler) {
  const std::string cc = compiler.empty() ? "gcc" : compiler.substr(compiler.rfind('/') + 1);
  if (is_like(os_family, "debian") || is_like(os_family, "ubuntu"))
    return fmt::format("apt-get install linux-headers-{} make {}", kernel_release, cc);
  if (is_like(os_family, "rhel") || is_like(os_family, "fedora") || is_like(os_family, "centos"))
    return fmt::format("dnf install kernel-devel-{} make gcc elfutils-libelf-devel", kernel_release);
  if (is_like(os_family, "suse")) return fmt::format("zypper install kernel-devel make gcc (for {})", kernel_release);
  return fmt::format("install the headers of kernel {}, make and {}", kernel_release, cc);
}

}  // namespace slipway::driver
