// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nvidia/gpu.hpp"
#include "nvidia/loaded_driver.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/system.hpp"
#include "nvidia/proc_files.hpp"

namespace slipway::validator {
namespace {

namespace nvml = nvidia::nvml;
constexpr const char* kDoctor = "`slipway doctor driver` says why";

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

Finding no_gpu() { return Finding{Verdict::not_applicable, kDriverCheck, "no NVIDIA GPU on the PCI bus", {}}; }

}  // namespace

std::vector<std::string> wrong_nodes(const Host& host, const std::string& dev_root) {
  const std::string dev = (dev_root == "/" ? "" : dev_root) + "/dev/";
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

/// What the kernel shows, where there is one that runs. The library of a simulated machine answers whether or not a
/// driver runs there, and its kernel has no modules to look at.
std::optional<Finding> DriverCheck::check_kernel() const {
  if (!host_.live() && host_.has_kernel_view() && !host_.info("/dev/nvidiactl"))
    return has_gpu(host_) ? not_tried(kDriverCheck, "no driver runs on this simulated machine") : no_gpu();
  if (!host_.live()) return std::nullopt;
  if (!has_gpu(host_)) return no_gpu();
  if (!host_.module_loaded("nvidia")) return fails(kDriverCheck, "the kernel module nvidia is not loaded", kDoctor);
  const auto wrong = wrong_nodes(host_, place_ && place_->own_dev ? place_->root : "/");
  if (!wrong.empty()) return fails(kDriverCheck, fmt::format("{}", fmt::join(wrong, "; ")), "run `slipway apply`");
  return std::nullopt;
}

std::optional<Finding> DriverCheck::open_library() {
  if (nvml_ && nvml_->is_open() && nvml_->stuck() == 0) return std::nullopt;
  nvml_.reset();
  const std::string wanted = wanted_root_.empty() ? "/" : wanted_root_;
  auto choice = nvml::choose_library(host_, place_ ? place_->root : wanted);
  if (!choice && choice.error().code != ErrorCode::offline)
    return fails(kDriverCheck, choice.error().what, choice.error().next);
  if (!choice) return not_tried(kDriverCheck, choice.error().what);
  auto opened = nvml::Nvml::open({.library = *choice, .call_limit = call_limit_, .attach = true});
  if (!opened)
    return fails(kDriverCheck, opened.error().what, opened.error().next.empty() ? kDoctor : opened.error().next);
  nvml_ = std::move(*opened);
  return std::nullopt;
}

Finding DriverCheck::run() {
  place_ = find_driver(host_, wanted_root_);
  if (auto finding = check_kernel()) return give_up(std::move(*finding));
  if (auto finding = open_library()) return give_up(std::move(*finding));
  Finding finding = ask_gpus();
  return passed(finding) ? finding : give_up(std::move(finding));
}

/// A library that gave an error is not asked again: the next run() opens it anew, and finds a repaired driver.
Finding DriverCheck::give_up(Finding finding) {
  nvml_.reset();
  version_.clear();
  gpus_.clear();
  return finding;
}

Finding DriverCheck::ask_gpus() {
  const auto version = nvml::driver_version(*nvml_);
  if (!version) return fails(kDriverCheck, version.error("driver version").what, kDoctor);
  const auto count = nvml::device_count(*nvml_);
  if (!count) return fails(kDriverCheck, count.error("number of GPUs").what, kDoctor);
  if (*count == 0 && host_.hardware() == "detect" && !has_gpu(host_)) return no_gpu();
  if (*count == 0) return fails(kDriverCheck, "the driver runs and has no GPU", kDoctor);
  std::vector<std::string> gpus;
  for (unsigned index = 0; index < *count; ++index) {
    const auto device = nvml::device_at(*nvml_, index);
    const auto uuid = device ? nvml::device_uuid(*nvml_, *device) : nvml::Answer<std::string>(device.code());
    // Of all questions this is one that a GPU which has fallen off the bus cannot answer from memory.
    const auto memory = device ? nvml::memory(*nvml_, *device) : nvml::Answer<nvml::Memory>(device.code());
    if (!uuid || (!memory && !memory.absent())) {
      const std::string gpu = fmt::format("GPU {}", index);
      const Error error = !uuid ? uuid.error(gpu) : memory.error(gpu);
      return fails(kDriverCheck, error.what, error.next.empty() ? kDoctor : error.next);
    }
    gpus.push_back(*uuid);
  }
  version_ = *version;
  gpus_ = std::move(gpus);
  return passes(kDriverCheck,
                fmt::format("driver {} answers for {} {}", version_, *count, *count == 1 ? "GPU" : "GPUs"));
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
               "`modprobe " + module + "` says why; or take " + companion + " out of validator.companions");
}

std::string driver_ctr_ready_text(const Host& host) {
  const auto line = [&](const char* key, const char* module) {
    return std::string(key) + ": " + (host.module_loaded(module) ? "true" : "false") + "\n";
  };
  return line("GDRCOPY_ENABLED", "gdrdrv") + line("GDS_ENABLED", "nvidia_fs") +
         line("GPU_DIRECT_RDMA_ENABLED", "nvidia_peermem");
}

}  // namespace slipway::validator
