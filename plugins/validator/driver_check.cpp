// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_check.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nvidia/gpu.hpp"
#include "nvidia/loaded_driver.hpp"
#include "nvidia/machine/causes.hpp"
#include "nvidia/nvml/library.hpp"
#include "nvidia/proc_files.hpp"

namespace slipway::validator {
namespace {

constexpr const char* kLookAtLog = "look for NVRM lines in `dmesg`";
constexpr const char* kLoad = "load it (`modprobe nvidia`); `dmesg` has NVRM lines that say why it fails";

void check_node(const Host& host, const std::string& path, std::optional<unsigned> major, unsigned minor,
                std::vector<std::string>& wrong) {
  const auto info = host.info(path);
  if (!info)
    wrong.push_back(path + " is missing");
  else if (!major)
    wrong.push_back(path + " has no driver: /proc/devices does not list its major");
  else if (info->type != FileInfo::Type::character_device || info->device_major != *major ||
           info->device_minor != minor)
    wrong.push_back(fmt::format("{} is not the device {}:{}", path, *major, minor));
}

bool has_gpu(const Host& host) { return nvidia::count_gpus(host) != 0; }

std::string dev_root_of(const std::optional<DriverPlace>& place) { return place && place->own_dev ? place->root : "/"; }

std::string dev_folder(const std::string& dev_root) { return (dev_root == "/" ? "" : dev_root) + "/dev/"; }

std::vector<std::string> node_paths(const Host& host, const std::string& dev_root) {
  const std::string dev = dev_folder(dev_root);
  std::vector<std::string> nodes{dev + "nvidiactl", dev + "nvidia-uvm", dev + "nvidia-uvm-tools"};
  for (const unsigned minor : nvidia::read_gpu_minors(host)) nodes.push_back(fmt::format("{}nvidia{}", dev, minor));
  return nodes;
}

/// NVML numbers GPUs in the order of the PCI bus: "GPU 3: the GPU fell off the bus".
std::string address_of_gpu_in(const std::string& error, const Host& host) {
  constexpr std::string_view kGpu = "GPU ";
  const std::size_t at = error.find(kGpu);
  if (at == std::string::npos) return {};
  const auto gpus = nvidia::gpus_of_the_driver(host);
  std::size_t index = gpus.size();
  std::from_chars(error.data() + at + kGpu.size(), error.data() + error.size(), index);
  return index < gpus.size() ? gpus[index].address : std::string();
}

std::string cause_of(const std::string& error, const Host& host) {
  const std::string driver = nvidia::nvml_cause(error);
  return driver.empty() ? nvidia::lost_gpu_cause(address_of_gpu_in(error, host)) : driver;
}

Finding no_gpu() { return Finding{Verdict::not_applicable, kDriverCheck, "no NVIDIA GPU on the PCI bus", {}}; }

}  // namespace

std::vector<std::string> wrong_nodes(const Host& host, const std::string& dev_root) {
  const std::string dev = dev_folder(dev_root);
  std::vector<std::string> wrong;
  check_node(host, dev + "nvidiactl", nvidia::kMajor, nvidia::kControlMinor, wrong);
  const auto uvm = host.character_major("nvidia-uvm");
  check_node(host, dev + "nvidia-uvm", uvm, 0, wrong);
  check_node(host, dev + "nvidia-uvm-tools", uvm, 1, wrong);
  const auto minors = nvidia::read_gpu_minors(host);
  for (const unsigned minor : minors)
    check_node(host, fmt::format("{}nvidia{}", dev, minor), nvidia::kMajor, minor, wrong);
  return wrong;
}

/// Checks the kernel, if one runs. A simulated machine's library answers whether or not a driver runs there, and its
/// kernel has no modules to check.
std::optional<Finding> DriverCheck::check_kernel() const {
  if (!host_.live() && host_.has_kernel_view() && !host_.info("/dev/nvidiactl"))
    return has_gpu(host_) ? not_tried(kDriverCheck, "no driver runs on this simulated machine") : no_gpu();
  if (!host_.live()) return std::nullopt;
  if (!has_gpu(host_)) return no_gpu();
  if (!host_.module_loaded("nvidia"))
    return fails(kDriverCheck, "the kernel module nvidia is not loaded", kLoad, nvidia::kDriverCause);
  const auto wrong = wrong_nodes(host_, dev_root_of(place_));
  if (!wrong.empty()) return fails(kDriverCheck, fmt::format("{}", fmt::join(wrong, "; ")), "run `slipway apply`");
  return std::nullopt;
}

std::optional<Finding> DriverCheck::look_around() {
  auto place = find_driver(host_, wanted_root_);
  if (place != place_) forget();
  place_ = std::move(place);
  auto finding = check_kernel();
  if (finding) forget();
  return finding;
}

std::vector<std::string> DriverCheck::paths() const {
  std::vector<std::string> all = node_paths(host_, dev_root_of(place_));
  const auto libraries = driver_library_paths(place_ ? place_->root : wanted_root_);
  all.insert(all.end(), libraries.begin(), libraries.end());
  return all;
}

Finding DriverCheck::run() {
  if (auto finding = look_around()) return *std::move(finding);
  answered_ = ask_nvml();
  return *answered_;
}

Finding DriverCheck::run_without_nvml() {
  if (auto finding = look_around()) return *std::move(finding);
  if (!answered_) answered_ = ask_nvml();
  return *answered_;
}

void DriverCheck::forget() {
  answered_.reset();
  answers_ = {};
}

/// Every GPU on the bus must answer; NVML lists only those that the driver could start.
std::optional<Finding> DriverCheck::missing_gpu(const DriverAnswers& answers) const {
  std::vector<std::string> missing;
  for (const PciDevice& gpu : nvidia::gpus_of_the_driver(host_)) missing.push_back(gpu.address);
  const std::size_t all = missing.size();
  const std::size_t count = answers.gpus.size();
  if (count >= all) return std::nullopt;
  std::erase_if(missing, [&](const std::string& address) {
    return std::ranges::any_of(answers.addresses, [&](const std::string& answering) {
      return nvidia::pci_place(answering) == nvidia::pci_place(address);
    });
  });
  const bool is_named = missing.size() == all - count;  // NVML has reported the addresses of all answering GPUs
  const std::string names =
      is_named ? fmt::format("; {} {} missing", fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are")
               : std::string();
  return fails(
      kDriverCheck,
      fmt::format("driver {} answers for {} of the {} GPUs on the PCI bus{}", answers.version, count, all, names),
      kLookAtLog, is_named ? nvidia::lost_gpu_cause(missing.front()) : std::string());
}

Finding DriverCheck::ask_nvml() {
  answers_ = {};
  const std::string wanted = wanted_root_.empty() ? "/" : wanted_root_;
  const auto library = nvidia::nvml::choose_library(host_, place_ ? place_->root : wanted);
  if (!library && library.error().code == ErrorCode::offline) return not_tried(kDriverCheck, library.error().what);
  if (!library) return fails(kDriverCheck, library.error().what, library.error().next);
  ++looks_;
  auto looked = look_(*library);
  if (!looked)
    return fails(kDriverCheck, looked.error().what, looked.error().next.empty() ? kLookAtLog : looked.error().next,
                 cause_of(looked.error().what, host_));
  const std::size_t count = looked->gpus.size();
  if (count == 0 && host_.hardware() == "detect" && !has_gpu(host_)) return no_gpu();
  if (count == 0) return fails(kDriverCheck, "the driver runs, but it has no GPU", kLookAtLog);
  if (auto missing = missing_gpu(*looked)) return *std::move(missing);
  answers_ = *std::move(looked);
  return passes(kDriverCheck,
                fmt::format("driver {} answers for {} {}", answers_.version, count, count == 1 ? "GPU" : "GPUs"));
}

const std::vector<std::string>& companions() {
  static const std::vector<std::string> all{"nvidia-fs", "gdrcopy", "nvidia-peermem", "mofed"};
  return all;
}

std::string companion_module(const std::string& companion) {
  if (companion == "nvidia-fs") return "nvidia_fs";
  if (companion == "gdrcopy") return "gdrdrv";
  return companion == "nvidia-peermem" ? "nvidia_peermem" : "mlx5_core";
}

Finding check_companion(const Host& host, const std::string& companion) {
  const std::string name = "validator." + companion;
  const std::string module = companion_module(companion);
  if (!host.live()) return not_tried(name, "this root is not running");
  if (host.module_loaded(module)) return passes(name, "the module " + module + " is loaded");
  return fails(name, "the module " + module + " is not loaded",
               "`modprobe " + module + "` says why; or remove " + companion + " from validator.companions");
}

std::string driver_ctr_ready_text(const Host& host) {
  const auto line = [&](const char* key, const char* module) {
    return std::string(key) + ": " + (host.module_loaded(module) ? "true" : "false") + "\n";
  };
  return line("GDRCOPY_ENABLED", "gdrdrv") + line("GDS_ENABLED", "nvidia_fs") +
         line("GPU_DIRECT_RDMA_ENABLED", "nvidia_peermem");
}

}  // namespace slipway::validator
