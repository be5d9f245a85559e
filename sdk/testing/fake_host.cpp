// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include <slipway/root_dir.hpp>
#include <slipway/testing/fake_host.hpp>
#include <slipway/text.hpp>

#include "src/host/secret.hpp"

namespace slipway::testing {
namespace {

namespace fs = std::filesystem;

bool of_kernel_view(const std::string& path) {
  const std::string normal = (fs::path("/") / path).lexically_normal().string();
  const std::string first = normal.substr(0, normal.find('/', 1));
  return first == "/sys" || first == "/proc" || first == "/dev";
}

std::string hex(unsigned number, int digits) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%0*x\n", digits, number);
  return text.data();
}

}  // namespace

FakeHost::FakeHost() { config_.root = root_.string(); }
FakeHost::FakeHost(FakeHost&& other) noexcept = default;
FakeHost::~FakeHost() = default;

const TempDir& FakeHost::tree(const std::string& path) {
  changed();
  if (!of_kernel_view(path)) return root_;
  config_.kernel_view = view_.string();
  return view_;
}

FakeHost& FakeHost::file(const std::string& path, const std::string& content, unsigned mode) {
  const TempDir& where = tree(path);
  where.file(path, content);
  fs::permissions(where.at(path), static_cast<fs::perms>(mode));
  return *this;
}

FakeHost& FakeHost::directory(const std::string& path) {
  tree(path).directory(path);
  return *this;
}

FakeHost& FakeHost::link(const std::string& path, const std::string& points_to) {
  tree(path).link(path, points_to);
  return *this;
}

FakeHost& FakeHost::device(const std::string& path, unsigned major, unsigned minor, unsigned mode, bool opens) {
  file(path, "");  // so that it is listed; making a real node requires privileges
  const FileInfo info{
      .type = FileInfo::Type::character_device, .mode = mode, .device_major = major, .device_minor = minor};
  devices_[path] = {info, opens};
  return *this;
}

FakeHost& FakeHost::without(const std::string& path) {
  fs::remove_all(tree(path).at(path));
  devices_.erase(path);
  return *this;
}

FakeHost& FakeHost::os_release(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [key, value] : values) text += key + "=\"" + value + "\"\n";
  return file("/etc/os-release", text);
}

FakeHost& FakeHost::kernel(const std::string& release) {
  return directory("/lib/modules/" + release + "/kernel").file("/lib/modules/" + release + "/modules.builtin", "");
}

FakeHost& FakeHost::asked_kernel(const std::string& release) {
  changed();
  if (config_.kernel.empty())
    config_.kernel = release;
  else
    config_.further_kernels.push_back(release);
  return *this;
}

FakeHost& FakeHost::hardware(const std::string& word) {
  config_.hardware = word;
  changed();
  return *this;
}

std::string FakeHost::hardware() const {
  if (!config_.hardware.empty()) return config_.hardware;
  return config_.live || has_kernel_view() ? "detect" : "assume";
}

FakeHost& FakeHost::arch(const std::string& machine) {
  arch_ = machine;
  return *this;
}

FakeHost& FakeHost::at_boot() {
  config_.booting = true;
  return *this;
}

FakeHost& FakeHost::live(const std::string& kernel_release) {
  config_.live = true;
  return file("/proc/sys/kernel/osrelease", kernel_release + "\n");
}

FakeHost& FakeHost::pci(const PciDevice& device) {
  const std::string folder = "/sys/bus/pci/devices/" + device.address + "/";
  file(folder + "vendor", hex(device.vendor, 4)).file(folder + "device", hex(device.device, 4));
  file(folder + "subsystem_vendor", hex(device.subsystem_vendor, 4));
  file(folder + "subsystem_device", hex(device.subsystem_device, 4));
  file(folder + "class", hex(device.device_class, 6));
  file(folder + "numa_node", std::to_string(device.numa_node.value_or(-1)) + "\n");
  if (!device.driver.empty()) link(folder + "driver", "../../../../bus/pci/drivers/" + device.driver);
  return *this;
}

void FakeHost::append(const std::string& path, const std::string& line) {
  std::string before = config_.kernel_view.empty() ? "" : host().read(path).value_or("");
  file(path, before + line);
}

FakeHost& FakeHost::module_loaded_now(const std::string& name) {
  append("/proc/modules", name + " 16384 0 - Live 0x0000000000000000\n");
  return file("/sys/module/" + name + "/initstate", "live\n");
}

FakeHost& FakeHost::module_built_in(const std::string& name) { return directory("/sys/module/" + name); }

FakeHost& FakeHost::device_major(const std::string& name, unsigned major) {
  if (!host().exists("/proc/devices")) file("/proc/devices", "Character devices:\n");
  append("/proc/devices", " " + std::to_string(major) + " " + name + "\n");
  return *this;
}

FakeHost& FakeHost::answers(const std::vector<std::string>& argv, const ProcessOutput& output) {
  return does(argv, [output] { return output; });
}

FakeHost& FakeHost::does(const std::vector<std::string>& argv, std::function<Result<ProcessOutput>()> effect) {
  programs_.insert_or_assign(argv, std::move(effect));
  return *this;
}

FakeHost& FakeHost::fails(const std::vector<std::string>& argv, const Error& error) {
  return does(argv, [error] { return error; });
}

FakeHost& FakeHost::variable(const std::string& name, const std::string& value) {
  variables_.insert_or_assign(name, value);
  return *this;
}

HostConfig FakeHost::config() const { return config_; }

const Host& FakeHost::host() const {
  if (!host_) {
    Result<std::unique_ptr<Host>> opened = open_host(config_);
    if (!opened) throw std::runtime_error(to_text(opened.error()));
    host_ = std::move(*opened);
  }
  return *host_;
}

const FakeHost::Device* FakeHost::device_at(std::string_view path) const {
  const auto found = devices_.find(std::string(path));
  return found == devices_.end() ? nullptr : &found->second;
}

Result<std::string> FakeHost::kernel_release() const { return host().kernel_release(); }

std::vector<std::string> FakeHost::asked_kernels() const { return host().asked_kernels(); }

Result<std::string> FakeHost::read(std::string_view path, std::size_t limit_bytes) const {
  return host().read(path, limit_bytes);
}

Result<std::string> FakeHost::read_part(std::string_view path, std::uint32_t offset_bytes,
                                        std::uint32_t size_bytes) const {
  return host().read_part(path, offset_bytes, size_bytes);
}

Result<FileInfo> FakeHost::info(std::string_view path) const {
  const Device* const device = device_at(path);
  return device == nullptr ? host().info(path) : device->info;
}

Result<std::string> FakeHost::read_link(std::string_view path) const { return host().read_link(path); }

Result<std::string> FakeHost::resolve(std::string_view path) const { return host().resolve(path); }

Result<std::vector<std::string>> FakeHost::list(std::string_view path) const { return host().list(path); }

Status FakeHost::opens(std::string_view path) const {
  const Device* const device = device_at(path);
  if (device == nullptr || device->opens) return host().opens(path);
  return system_error("open", path, EACCES);
}

Result<ProcessOutput> FakeHost::run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const {
  if (!config_.live) return host().run(argv, limit);
  ran_.push_back(argv);
  const auto found = programs_.find(argv);
  if (found != programs_.end()) {
    const auto effect = found->second;  // the effect may record another answer for the same program
    return effect();
  }
  return Error{.code = ErrorCode::not_found,
               .what = "this FakeHost has no answer for: " + joined(argv, " "),
               .next = "record one with answers()"};
}

Result<std::string> FakeHost::secret(const Json& reference, std::size_t limit_bytes) const {
  const auto variable = [&](const std::string& name) -> const char* {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : found->second.c_str();
  };
  return detail::read_secret(reference, limit_bytes,
                             {.files = [&] { return RootDir::open(root_.string()); }, .variable = variable});
}

}  // namespace slipway::testing
