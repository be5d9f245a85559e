// SPDX-License-Identifier: Apache-2.0
#include "gfd/probe.hpp"

#include <ctime>

#include <slipway/text.hpp>

#include "nvidia/config/offer.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::gfd {
namespace {

namespace nvml = nvidia::nvml;

std::string machine_type(const Host& host, const std::string& file) {
  const auto text = file.empty() ? Result<std::string>(std::string("unknown")) : host.read(file);
  return text ? std::string(trimmed(*text)) : "unknown";
}

}  // namespace

Probe::Probe(const Host& host, Config config, Use use)
    : host_(host), config_(std::move(config)), use_(use), timestamp_(static_cast<std::int64_t>(std::time(nullptr))) {}

Result<ProbeResult> Probe::look(const nvidia::config::Sharing& sharing) {
  ProbeResult seen;
  seen.sources.timestamp = timestamp_;
  seen.sources.machine_type = machine_type(host_, config_.machine_type_file);
  seen.sources.gpu_on_bus = nvidia::count_gpus(host_) != 0;
  if (host_.has_kernel_view()) {
    auto vgpu = find_vgpu(host_);
    // Without all of the configuration space the result is unknown; a vGPU that hides its host fails the check.
    if (!vgpu && vgpu.error().code == ErrorCode::invalid) return vgpu.error();
    seen.sources.vgpu_known = vgpu.ok();
    if (vgpu) seen.sources.vgpu = *vgpu;
  }
  SLIPWAY_TRY(snapshot, ask_nvml(chooses_by_place(sharing), seen.no_driver));
  seen.sources.snapshot = std::move(snapshot);
  return seen;
}

Result<Snapshot> Probe::ask_nvml(bool with_places, std::optional<Error>& no_driver) {
  if (!nvml_) {
    const auto choice = nvml::choose_library(host_, config_.driver_root);
    if (!choice) {
      if (choice.error().code != ErrorCode::offline) return choice.error();  // a library was requested by name
      no_driver = choice.error();
      return Snapshot();
    }
    nvml_.emplace(
        nvml::NvmlOptions{.library = *choice, .until_exit = use_ == Use::tool, .find_hanging = use_ == Use::command});
  }
  const Status opened = nvml_->reopen();
  for (const ErrorCode code : {ErrorCode::timed_out, ErrorCode::denied, ErrorCode::invalid})  // hangs; refused
    if (!opened && opened.error().code == code) return opened.error();
  if (!opened) {
    no_driver = opened.error();
    return Snapshot();
  }
  auto snapshot = take_snapshot(*nvml_, host_, with_places);
  if (use_ != Use::tool) nvml_->release();
  return snapshot;
}

}  // namespace slipway::gfd
