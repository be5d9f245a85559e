// SPDX-License-Identifier: Apache-2.0
#include "dcgm/component/host_check.hpp"

#include <algorithm>

#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/http/web_config.hpp"
#include "dcgm/engine/host_engine.hpp"
#include "dcgm/engine/library.hpp"
#include "dcgm/health/health_watch.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostWebConfig = std::size_t{256} << 10U;
constexpr const char* kWebConfigKey = "spec.components.dcgm.web_config_file";

Status check_devices(const DeviceSelection& devices, std::size_t gpus) {
  const bool of_instances = devices.kind == DeviceSelection::Kind::instances;
  for (const unsigned number : devices.numbers) {
    const unsigned gpu = of_instances ? number / DeviceSelection::kInstancesOfAGpu : number;
    if (gpus == 0 || gpu < gpus) continue;
    return Error{.code = ErrorCode::invalid,
                 .what = "devices names " + std::string(of_instances ? "GPU instance " : "GPU ") +
                         std::to_string(number) + ", but this machine has " + std::to_string(gpus) +
                         (gpus == 1 ? " GPU" : " GPUs"),
                 .where = "spec.components.dcgm.devices",
                 .next = of_instances ? "count from 0, with eight numbers for each GPU: GPU 1 has the instances 8 to 15"
                                      : "count the GPUs from 0"};
  }
  return {};
}

bool has_dcgm_library(const Host& host) {
  return std::ranges::any_of(dcgm_library_candidates("/"), [&](const std::string& path) { return host.exists(path); });
}

bool has_host_engine(const Host& host) {
  return std::ranges::any_of(kHostEnginePrograms, [&](const char* path) { return host.exists(path); });
}

}  // namespace

Result<Counters> counters_of_host(Settings settings, const Host& host) {
  SLIPWAY_TRY(config, read_config_file(host, settings.config_file));
  take_config(std::move(config), settings);
  return counters_of(settings, reader_of(host, kMostCounterBytes));
}

Result<nvidia::health::Rules> rules_of_host(const Settings& settings, const Host& host) {
  auto rules = nvidia::health::read_rules(host, settings.health_rules);
  if (!rules && rules.error().next.empty()) {
    Error error = rules.error();
    if (error.where.empty()) error.where = "spec.components.dcgm.health_rules";
    error.next = "create the file, or remove health_rules from the spec";
    return error;
  }
  if (!rules) return rules;
  SLIPWAY_CHECK(check_rule_fields(*rules));
  return rules;
}

Status check_web_config(const Settings& settings, const Host& host) {
  if (settings.web_config.empty()) return {};
  const ReadFile read = reader_of(host, kMostWebConfig);
  const auto config =
      base::read_web_config(settings.web_config, [&](const std::string& path, bool has_secret) -> Result<std::string> {
        if (has_secret && host.exists(path)) SLIPWAY_CHECK(check_private(host, path));
        if (path == settings.web_config) return read(path);
        if (host.exists(path)) return std::string("there");
        return Error{.code = ErrorCode::not_found,
                     .what = path + ", which " + settings.web_config + " names, is missing",
                     .where = kWebConfigKey,
                     .next = "create the file, or correct its name in " + settings.web_config};
      });
  if (config) return {};
  Error error = config.error();
  if (error.where.empty()) error.where = kWebConfigKey;
  if (error.next.empty()) error.next = "create the web-config file, or remove the key";
  return error;
}

Status check_host(const Settings& settings, const Host& host) {
  SLIPWAY_CHECK(counters_of_host(settings, host));
  SLIPWAY_CHECK(rules_of_host(settings, host));
  SLIPWAY_CHECK(check_web_config(settings, host));
  return check_devices(settings.devices, nvidia::count_gpus(host));
}

std::vector<Missing> missing_inputs(const Settings& settings, const Host& host) {
  std::vector<Missing> missing;
  const std::string package = "install the package datacenter-gpu-manager-4-core, or set `engine: none`";
  if (settings.engine != "none" && !has_dcgm_library(host))
    missing.push_back(
        {"dcgm.engine-library",
         std::string(kDcgmSoname) + " is in no library folder, so engine: " + settings.engine + " gives no values",
         package});
  if (settings.engine == "managed" && !has_host_engine(host))
    missing.push_back(
        {"dcgm.host-engine", "nv-hostengine is not installed, so engine: managed gives no values", package});
  if (!host.live() && !host.has_kernel_view()) return missing;  // the remaining files exist only on a running machine
  const AttributionSettings& attribution = settings.attribution;
  if (attribution.kubernetes && !host.exists(attribution.kubelet_socket))
    missing.push_back({"dcgm.kubelet",
                       "kubelet's socket " + attribution.kubelet_socket + " is missing, so metrics do not name pods",
                       "start kubelet, or correct pod_resources_kubelet_socket"});
  if (!attribution.job_folder.empty() && !host.exists(attribution.job_folder))
    missing.push_back({"dcgm.jobs", attribution.job_folder + " is missing, so metrics do not name jobs",
                       "make the folder, or remove hpc_job_mapping_dir from the spec"});
  return missing;
}

std::string asked_of_the_engine(const std::string& engine, const Counters& counters) {
  if (engine == "none" || counters.foreign.empty()) return {};
  return "read from the DCGM engine, since NVML does not have it: " + joined(counters.foreign, ", ", &Counter::name);
}

std::vector<std::string> remarks_on(const std::string& engine, const Counters& counters) {
  std::vector<std::string> remarks = counters.warnings;
  std::vector<std::string> left_out = counters.left_out;
  if (engine != "none")
    for (const Counter& each : counters.foreign) std::erase(left_out, each.name);
  if (!left_out.empty())
    remarks.push_back((engine == "none" ? "not available without DCGM, and left out: "
                                        : "not available on this machine, and left out: ") +
                      joined(left_out));
  return remarks;
}

std::string empty_selection(const Settings& settings, const Sample& sample) {
  const bool any_gpu_answers =
      std::ranges::any_of(sample.gpus, [](const GpuState& state) { return state.problem.empty(); });
  if (!sample.problem.empty() || !any_gpu_answers || !sample.entities.empty()) return {};
  return settings.devices.kind == DeviceSelection::Kind::instances
             ? "`devices` selects GPU instances that do not exist, so no GPU has metrics"
             : "`devices` selects no existing GPU, so no GPU has metrics";
}

}  // namespace slipway::dcgm
