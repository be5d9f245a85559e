// SPDX-License-Identifier: Apache-2.0
#include "dcgm/environment/variables.hpp"

#include <algorithm>
#include <array>

#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

using Kind = Variable::Kind;
using Treatment = Variable::Treatment;

constexpr std::string_view kPrefix = "DCGM_EXPORTER_";

/// Reasons for what is not supported yet, as opposed to never.
constexpr std::string_view kNoApiServer = "only the API server knows this, and slipway asks only kubelet";
constexpr std::string_view kNoClaims = "slipway asks kubelet only for devices so far, not for those of resource claims";
constexpr std::string_view kNoRuntime =
    "slipway asks no container runtime; in Kubernetes, kubelet reports which pod has a GPU";
constexpr std::string_view kNoDump = "slipway writes no dumps; `slipway dcgm metrics` prints what was sampled";
constexpr std::string_view kNoDcgm = "no DCGM runs inside the service; use the option --log-level of nv-hostengine";

constexpr Variable honoured(std::string_view name, std::string_view flag, std::string_view letter, std::string_view key,
                            Kind kind, std::string_view idle = "") {
  return {name, flag, letter, Treatment::honoured, key, kind, idle, ""};
}
constexpr Variable refused(std::string_view name, std::string_view flag, Kind kind, std::string_view idle,
                           std::string_view reason, std::string_view letter = "") {
  return {name, flag, letter, Treatment::refused, "", kind, idle, reason};
}
constexpr Variable needless(std::string_view name, std::string_view flag, Kind kind, std::string_view reason) {
  return {name, flag, "", Treatment::needless, "", kind, "", reason};
}

constexpr std::array kVariables{
    honoured("DCGM_EXPORTER_COLLECTORS", "--collectors", "-f", "collectors", Kind::path),
    honoured("DCGM_EXPORTER_LISTEN", "--address", "-a", "listen", Kind::text),
    honoured("DCGM_EXPORTER_INTERVAL", "--collect-interval", "-c", "interval", Kind::milliseconds),
    honoured("DCGM_EXPORTER_KUBERNETES", "--kubernetes", "-k", "kubernetes", Kind::flag),
    honoured("DCGM_EXPORTER_USE_OLD_NAMESPACE", "--use-old-namespace", "-o", "use_old_namespace", Kind::flag),
    honoured("DCGM_EXPORTER_DEVICES_STR", "--devices", "-d", "devices", Kind::text),
    honoured("DCGM_EXPORTER_OTHER_DEVICES_STR", "--switch-devices", "-s", "switch_devices", Kind::text),
    honoured("DCGM_EXPORTER_CPU_DEVICES_STR", "--cpu-devices", "-p", "cpu_devices", Kind::text),
    refused("DCGM_EXPORTER_CONFIGMAP_DATA", "--configmap-data", Kind::text, "none",
            "slipway reads no ConfigMap from the API server: mount it, and name its file by `collectors`", "-m"),
    honoured("DCGM_REMOTE_HOSTENGINE_INFO", "--remote-hostengine-info", "-r", "engine_address", Kind::engine),
    refused("DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS", "--kubernetes-enable-pod-labels", Kind::flag, "",
            kNoApiServer),
    refused("DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID", "--kubernetes-enable-pod-uid", Kind::flag, "", kNoApiServer),
    honoured("DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE", "--kubernetes-gpu-id-type", "", "kubernetes_gpu_id_type",
             Kind::text),
    refused("DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", "--kubernetes-pod-label-allowlist-regex", Kind::text,
            "", kNoApiServer),
    honoured("DCGM_EXPORTER_NO_HOSTNAME", "--no-hostname", "-n", "no_hostname", Kind::flag),
    refused("DCGM_EXPORTER_USE_FAKE_GPUS", "--fake-gpus", Kind::flag, "",
            "slipway has a simulated machine for that: `slipway service dcgm --sim h100x8`"),
    honoured("DCGM_EXPORTER_SYSTEMD_SOCKET", "--web-systemd-socket", "", "systemd_socket", Kind::flag),
    honoured("DCGM_EXPORTER_WEB_CONFIG_FILE", "--web-config-file", "", "web_config_file", Kind::path),
    honoured("DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE", "--xid-count-window-size", "-x", "xid_count_window_size",
             Kind::milliseconds),
    honoured("DCGM_EXPORTER_CLOCK_EVENTS_COUNT_WINDOW_SIZE", "--clock-events-count-window-size", "",
             "clock_events_count_window_size", Kind::milliseconds),
    honoured("DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME", "--replace-blanks-in-model-name", "--rbmn",
             "replace_blanks_in_model_name", Kind::flag),
    refused("DCGM_EXPORTER_DEBUG", "--debug", Kind::flag, "", "`slipway service dcgm -v` logs more"),
    needless("DCGM_EXPORTER_ENABLE_DCGM_LOG", "--enable-dcgm-log", Kind::flag, kNoDcgm),
    needless("DCGM_EXPORTER_DCGM_LOG_LEVEL", "--dcgm-log-level", Kind::text, kNoDcgm),
    refused("DCGM_EXPORTER_LOG_FORMAT", "--log-format", Kind::text, "text",
            "slipway has an option for that: `slipway service dcgm --log-format json`"),
    honoured("DCGM_POD_RESOURCES_KUBELET_SOCKET", "--pod-resources-kubelet-socket", "", "pod_resources_kubelet_socket",
             Kind::path),
    honoured("DCGM_HPC_JOB_MAPPING_DIR", "--hpc-job-mapping-dir", "", "hpc_job_mapping_dir", Kind::path),
    honoured("NVIDIA_RESOURCE_NAMES", "--nvidia-resource-names", "", "nvidia_resource_names", Kind::list),
    honoured("KUBERNETES_VIRTUAL_GPUS", "--kubernetes-virtual-gpus", "", "kubernetes_virtual_gpus", Kind::flag),
    refused("KUBERNETES_ENABLE_DRA", "--kubernetes-enable-dra", Kind::flag, "", kNoClaims),
    refused("DCGM_EXPORTER_DUMP_ENABLED", "--dump-enabled", Kind::flag, "", kNoDump),
    needless("DCGM_EXPORTER_DUMP_DIRECTORY", "--dump-directory", Kind::text, kNoDump),
    needless("DCGM_EXPORTER_DUMP_RETENTION", "--dump-retention", Kind::text, kNoDump),
    needless("DCGM_EXPORTER_DUMP_COMPRESSION", "--dump-compression", Kind::flag, kNoDump),
    needless("DISABLE_STARTUP_VALIDATE", "--disable-startup-validate", Kind::flag,
             "the service starts without DCGM and without a driver, and uses them once they are there"),
    needless("DCGM_EXPORTER_ENABLE_GPU_BIND_UNBIND_WATCH", "--enable-gpu-bind-unbind-watch", Kind::flag,
             "slipway always follows GPUs and drivers that come and go"),
    needless("DCGM_EXPORTER_GPU_BIND_UNBIND_POLL_INTERVAL", "--gpu-bind-unbind-poll-interval", Kind::text,
             "GPUs are looked for with each sample, and a driver that is away each second"),
    refused("DCGM_EXPORTER_ENABLE_PPROF", "--enable-pprof", Kind::flag, "",
            "the service is not a Go program; perf(1) measures it"),
    honoured("DCGM_EXPORTER_CONFIG_FILE", "--config-file", "", "config_file", Kind::path),
    refused("DCGM_EXPORTER_WEB_READ_TIMEOUT", "--web-read-timeout", Kind::text, "10s",
            "a connection has 10 s from its start, for reading and writing together"),
    refused("DCGM_EXPORTER_WEB_WRITE_TIMEOUT", "--web-write-timeout", Kind::text, "10s",
            "a connection has 10 s from its start, for reading and writing together"),
    needless("DCGM_EXPORTER_ENABLE_EXPORTER_METRICS", "--enable-exporter-metrics", Kind::flag,
             "the metrics of the service itself, slipway_dcgm_…, are always on the page; metrics of Go do not exist, "
             "since it is not a Go program"),
    refused("DCGM_EXPORTER_CONTAINER_LABELS", "--container-labels", Kind::flag, "", kNoRuntime),
    refused("DCGM_CONTAINER_RUNTIME_SOCKET", "--container-runtime-socket", Kind::text, "", kNoRuntime),
};

/// True for variables that kubelet sets in every container if a Service is called dcgm-exporter.
bool is_of_a_service(std::string_view name) {
  name.remove_prefix(kPrefix.size());
  return name.starts_with("SERVICE_HOST") || name.starts_with("SERVICE_PORT") || name == "PORT" ||
         name.starts_with("PORT_");
}

void warn_of_unknown(const std::string& name, std::vector<std::string>& warnings) {
  if (!name.starts_with(kPrefix) || is_of_a_service(name)) return;
  std::vector<std::string> known;
  for (const Variable& each : kVariables) known.emplace_back(each.name);
  if (std::ranges::find(known, name) == known.end())
    warnings.push_back("dcgm-exporter has no variable " + name + ", so slipway ignores it" + did_you_mean(name, known));
}

Error refusal(const Variable& variable, const std::string& value) {
  return Error{.code = ErrorCode::usage,
               .what = std::string(variable.name) + "=" + value +
                       " asks for something that slipway does not do: " + std::string(variable.reason),
               .where = "environment variable " + std::string(variable.name),
               .next = "remove the variable from the environment of the service"};
}

}  // namespace

std::span<const Variable> variables() { return kVariables; }

Error blamed_on_variable(Error error, const std::vector<std::string>& taken) {
  constexpr std::string_view kSection = "spec.components.dcgm.";
  for (const Variable& each : kVariables)
    if (std::ranges::find(taken, each.name) != taken.end() &&
        error.where == std::string(kSection) + std::string(each.key))
      error.where = "environment variable " + std::string(each.name);
  return error;
}

Result<EnvironmentSpec> with_environment(const Spec& spec, const std::vector<std::string>& entries) {
  Json section = spec.json();
  EnvironmentSpec result;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const std::string value = entry.substr(equals + 1);
    const auto* const found = std::ranges::find(kVariables, name, &Variable::name);
    if (found == kVariables.end()) {
      warn_of_unknown(name, result.warnings);
      continue;
    }
    SLIPWAY_TRY(asks, asks_for_something(*found, value));
    if (!asks) continue;
    if (found->treatment == Treatment::refused) return refusal(*found, value);
    if (found->treatment == Treatment::needless) {
      result.warnings.push_back(name + " has no effect: " + std::string(found->reason));
      continue;
    }
    SLIPWAY_CHECK(set_key(*found, value, section));
    result.taken.push_back(name);
  }
  // A node name in the spec and a variable that leaves out the label may both be set.
  if (std::ranges::count(result.taken, "DCGM_EXPORTER_NO_HOSTNAME") != 0 && section.value("no_hostname", false))
    section.erase("node");
  result.spec = Spec(std::move(section));
  return result;
}

}  // namespace slipway::dcgm
