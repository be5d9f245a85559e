// SPDX-License-Identifier: Apache-2.0
#include "test_host.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <elf.h>
#include <fmt/format.h>

namespace slipway::driver::testing {

TestHost::TestHost() {
  root_.directory(TEST_LIBDIR);
  root_.file("/usr/bin/sh", program_for(TEST_MACHINE));
  root_.link("/lib", "usr/lib");
  root_.link("/bin", "usr/bin");
  root_.file("/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
  const std::string modules = fmt::format("/usr/lib/modules/{}", kKernel);
  root_.file(modules + "/modules.builtin", "");
  root_.file(modules + "/modules.dep", "kernel/drivers/gpu/drm/nouveau/nouveau.ko:\n");
  root_.file(modules + "/kernel/drivers/gpu/drm/nouveau/nouveau.ko", "");
  view_.file("/proc/sys/kernel/osrelease", std::string(kKernel) + "\n");
  view_.file("/proc/modules", "");
  view_.file("/proc/devices", "Character devices:\n  1 mem\n\nBlock devices:\n  8 sd\n");
  view_.directory("/sys/bus/pci/devices");
  view_.directory("/sys/module");
  view_.directory("/dev");
}

TestHost& TestHost::pci(const std::string& address, std::uint16_t vendor, std::uint16_t device,
                        std::uint32_t device_class, const std::string& driver) {
  const std::string folder = "/sys/bus/pci/devices/" + address;
  view_.file(folder + "/vendor", fmt::format("0x{:04x}\n", vendor));
  view_.file(folder + "/device", fmt::format("0x{:04x}\n", device));
  view_.file(folder + "/class", fmt::format("0x{:06x}\n", device_class));
  view_.file(folder + "/subsystem_vendor", "0x10de\n");
  view_.file(folder + "/subsystem_device", "0x0000\n");
  view_.file(folder + "/numa_node", "-1\n");
  if (!driver.empty()) {
    view_.directory("/sys/bus/pci/drivers/" + driver);
    view_.link(folder + "/driver", "../../../../bus/pci/drivers/" + driver);
  }
  return *this;
}

TestHost& TestHost::gpu(const std::string& address, std::uint16_t device, const std::string& driver) {
  return pci(address, 0x10de, device, 0x030200, driver);
}

TestHost& TestHost::loaded(const std::string& version, const std::vector<std::string>& modules, bool open) {
  std::string list;
  for (auto name : modules) {
    for (char& c : name)
      if (c == '-') c = '_';
    list += name + " 1 0 - Live 0x0000000000000000\n";
    view_.directory("/sys/module/" + name);
  }
  view_.file("/proc/modules", list);
  view_.file("/sys/module/nvidia/version", version + "\n");
  view_.file("/proc/driver/nvidia/version",
             fmt::format("NVRM version: NVIDIA UNIX {}  {}  Mon Jan  1 00:00:00 UTC 2026\nGCC version:  gcc 12\n",
                         open ? "Open Kernel Module for x86_64" : "x86_64 Kernel Module", version));
  return *this;
}

TestHost& TestHost::build_tools() {
  const std::string headers = fmt::format("/usr/src/linux-headers-{}", kKernel);
  root_.file(headers + "/Makefile", "all:\n");
  root_.file(headers + "/.config",
             "CONFIG_MODVERSIONS=y\nCONFIG_CC_VERSION_TEXT=\"gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0\"\n");
  root_.file(headers + "/Module.symvers", "0x1\tprintk\tvmlinux\tEXPORT_SYMBOL\n");
  root_.link(fmt::format("/usr/lib/modules/{}/build", kKernel), headers);
  root_.file("/usr/bin/make", "");
  root_.file("/usr/bin/gcc-12", "");
  return *this;
}

TestHost& TestHost::hardware(std::string word) {
  hardware_ = std::move(word);
  return *this;
}

std::unique_ptr<Host> TestHost::live() const {
  auto host = open_host(
      {.root = root_.string(), .live = true, .kernel_view = view_.string(), .kernel = "", .hardware = hardware_});
  if (!host) throw std::runtime_error(host.error().what);
  return std::move(*host);
}

std::unique_ptr<Host> TestHost::offline() const {
  auto host = open_host({.root = root_.string(),
                         .live = false,
                         .kernel_view = "",
                         .kernel = "",
                         .hardware = hardware_.empty() ? "assume" : hardware_});
  if (!host) throw std::runtime_error(host.error().what);
  return std::move(*host);
}

namespace {

std::string details(const Action& action) {
  if (action.kind() == "symlink") return " -> " + action.text("points_to");
  if (action.kind() == "device-node")
    return fmt::format(" {}:{} {:o}",
                       action.value("major_of").is_string() ? action.text("major_of") : action.value("major").dump(),
                       action.value("minor").get<unsigned>(), action.value("mode").get<unsigned>());
  std::string text;
  if (action.kind() == "unpack")
    for (const auto& layer : action.value("layers"))
      text += fmt::format(" {}={}{}", layer.value("as", ""), layer["descriptor"].value("digest", ""),
                          layer.contains("build") ? "(build)" : "");
  if (action.kind() == "custom") text += " " + canonical(action.value("data"));
  return text;
}

}  // namespace

std::string summary(const Plan& plan) {
  std::string text;
  for (const auto& action : plan.actions()) {
    text += fmt::format("{} {}{}", action.kind(), action.target(), details(action));
    for (const auto& trigger : action.value("triggers")) text += " !" + trigger.get<std::string>();
    text += "\n";
  }
  return text;
}

std::string summary(const Findings& findings) {
  std::string text;
  for (const auto& finding : findings.list())
    text += fmt::format("{} {}: {}\n", to_string(finding.status), finding.name, finding.text);
  return text;
}

std::string program_for(std::string_view machine) {
  std::string head("\177ELF\2\1\1", 7);
  head.resize(64);
  head[18] = static_cast<char>(machine == "aarch64" ? EM_AARCH64 : EM_X86_64);
  return head;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace slipway::driver::testing
