// SPDX-License-Identifier: Apache-2.0
#include "dcgm/settings.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include <arpa/inet.h>
#include <unistd.h>

#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "dcgm/names/name_sets.hpp"
#include "nvidia/config/config_map.hpp"
#include "nvidia/duration.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::chrono::milliseconds kUsualInterval{10000};
constexpr const char* kUsualEngine = "localhost:5555";
constexpr const char* kUsualKubeletSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";

std::string spec_key(const std::string& key) { return "spec.components.dcgm." + key; }

Error without_effect(const std::string& key, const std::string& why, const std::string& next) {
  return Error{.code = ErrorCode::invalid, .what = key + " has no effect " + why, .where = spec_key(key), .next = next};
}

Result<std::chrono::milliseconds> read_window(const Spec& spec, const char* key) {
  return read_interval(spec.text(key), std::string("spec.components.dcgm.") + key);
}

AttributionSettings read_attribution(const Spec& spec) {
  return {.kubernetes = spec.flag("kubernetes"),
          .virtual_gpus = spec.flag("kubernetes_virtual_gpus"),
          .by_device_name = spec.text("kubernetes_gpu_id_type") == "device-name",
          .old_names = spec.flag("use_old_namespace"),
          .resource_names = spec.texts("nvidia_resource_names"),
          .any_resource = spec.section_of("deviceplugin").has_value(),
          .kubelet_socket = spec.text("pod_resources_kubelet_socket"),
          .job_folder = spec.text("hpc_job_mapping_dir")};
}

/// Rejects keys that have no effect unless `kubernetes` is set.
Status check_attribution(const AttributionSettings& attribution) {
  if (attribution.kubernetes) return {};
  const bool own_socket = !attribution.kubelet_socket.empty() && attribution.kubelet_socket != kUsualKubeletSocket;
  const char* const idle = attribution.virtual_gpus              ? "kubernetes_virtual_gpus"
                           : attribution.by_device_name          ? "kubernetes_gpu_id_type"
                           : !attribution.resource_names.empty() ? "nvidia_resource_names"
                           : own_socket                          ? "pod_resources_kubelet_socket"
                                                                 : nullptr;
  if (idle == nullptr) return {};
  return without_effect(idle, "without kubernetes: true", "add kubernetes: true, or remove the key");
}

/// Rejects keys that have no effect because of another key.
Status check_idle_keys(const Spec& spec, const Settings& settings) {
  if (settings.engine != "external" && spec.has("engine_address") && spec.text("engine_address") != kUsualEngine)
    return without_effect("engine_address", "without engine: external", "add engine: external, or remove the key");
  if (spec.flag("no_hostname") && !spec.text("node").empty())
    return without_effect("node", "with no_hostname: true", "remove one of the two keys");
  if (const std::string processes = spec.text("page_processes");
      !spec.flag("page") && !processes.empty() && processes != "local")
    return without_effect("page_processes", "with page: false", "remove one of the two keys");
  return {};
}

/// Returns the path of a file as seen from outside of the host's root.
std::string path_in(const Host& host, const std::string& path) {
  return host.root_folder() == "/" ? path : host.root_folder() + path;
}

bool is_address(const std::string& text) {
  std::array<char, sizeof(in6_addr)> room{};
  return inet_pton(AF_INET, text.c_str(), room.data()) == 1 || inet_pton(AF_INET6, text.c_str(), room.data()) == 1;
}

/// True when only programs of this machine can reach the address.
bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

/// Points the error at the key that names the file, because the user fixes it there.
Error unreadable(Error error, std::string where, const std::string& instead) {
  error.where = std::move(where);
  if (error.code == ErrorCode::not_found) error.code = ErrorCode::invalid;  // no component creates the file
  if (error.next.empty()) error.next = "create the file, or " + instead;
  return error;
}

Result<std::string> read_counter_file(const Settings& settings, const ReadFile& read) {
  auto text = read(settings.collectors);
  if (text) return text;
  if (settings.collectors != settings.config.counters_file)
    return unreadable(text.error(), spec_key("collectors"), "remove collectors from the spec");
  return unreadable(text.error(), settings.config_file + ": metrics.file", "correct metrics.file");
}

/// Fails if the service would sample nothing: that is a mistake in the file. An engine may supply counters that NVML
/// lacks, and the other sets of names have fields of their own.
Status check_any_series(const Settings& settings, const Counters& counters) {
  const bool any = !counters.series.empty() || !counters.links.empty() || !counters.processors.empty() ||
                   !counters.exporter.empty() || settings.names.openmetrics || settings.names.articles ||
                   (settings.engine != "none" && !counters.foreign.empty());
  if (any) return {};
  const std::string file = settings.collectors.empty() ? settings.config_file : settings.collectors;
  return Error{
      .code = ErrorCode::invalid,
      .what = "no row of " + file + " gives a metric" +
              (counters.left_out.empty() ? ": all are labels" : ": NVML does not have " + joined(counters.left_out)),
      .where = file,
      .next = "add rows of fields that NVML has (`slipway dcgm fields` prints them)"};
}

}  // namespace

TakeoverSettings takeover_settings(const Settings& settings) {
  return {.address = settings.address,
          .port = settings.port,
          .takes_over = settings.takes_over,
          .systemd_socket = settings.systemd_socket,
          .engine = settings.engine};
}

Status read_listen(const std::string& text, Settings& settings) {
  const Error error{
      .code = ErrorCode::invalid,
      .what = "'" + text + "' is not an address to listen on",
      .where = "spec.components.dcgm.listen",
      .next = "write it like 127.0.0.1:9400 or [::1]:9400; :9400 listens on every address of this machine"};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return error;
  std::string address = text.substr(0, colon);
  const bool bracketed = address.starts_with('[') && address.ends_with(']');
  if (bracketed) address = address.substr(1, address.size() - 2);
  if (bracketed != (address.find(':') != std::string::npos)) return error;
  if (!address.empty() && !is_address(address)) return error;
  const char* const end = text.data() + text.size();
  std::uint16_t port = 0;
  const auto [stop, problem] = std::from_chars(text.data() + colon + 1, end, port);
  if (problem != std::errc{} || stop != end || port == 0) return error;
  settings.address = address.empty() ? "::" : address;
  settings.port = port;
  return {};
}

Result<std::chrono::milliseconds> read_interval(const std::string& text, const std::string& where) {
  const auto length = nvidia::parse_duration(text);
  if (length && *length >= kShortestInterval && *length <= kLongestInterval)
    return std::chrono::duration_cast<std::chrono::milliseconds>(*length);
  return Error{
      .code = ErrorCode::invalid,
      .what = length ? "an interval of " + text + " is " + (*length < kShortestInterval ? "too short" : "too long")
                     : "'" + text + "' is not an interval",
      .where = where,
      .next = "write it like 10s, 1m30s or 500ms; at least 100ms, at most 1h"};
}

Result<Counters> counters_of(const std::string& path, const Result<std::string>& text) {
  if (path.empty()) return parse_counters(default_counters(), "default-counters.csv");
  if (!text) return text.error();
  SLIPWAY_TRY(in_config_map, nvidia::config::text_in_config_map(*text, path, "metrics"));
  return parse_counters(in_config_map.value_or(*text), path);
}

Result<Counters> counters_of(const Settings& settings, const ReadFile& read) {
  const bool has_rows = settings.collectors.empty() && !settings.config.rows.empty();
  SLIPWAY_TRY(counters, has_rows ? counters_of_rows(settings.config.rows, settings.config_file)
                                 : counters_of(settings.collectors, settings.collectors.empty()
                                                                        ? Result<std::string>(std::string())
                                                                        : read_counter_file(settings, read)));
  SLIPWAY_CHECK(check_groups(settings.config.groups, counters));
  SLIPWAY_CHECK(check_any_series(settings, counters));
  counters.warnings.insert(counters.warnings.begin(), settings.config.warnings.begin(), settings.config.warnings.end());
  counters = with_fields_of(settings.names, std::move(counters));
  give_intervals(settings.config.groups, settings.interval, counters);
  return counters;
}

ReadFile reader_of(const Host& host, std::size_t limit_bytes) {
  return [&host, limit_bytes](const std::string& path) -> Result<std::string> {
    auto text = read_trusted(host, path, limit_bytes);
    if (text || text.error().code != ErrorCode::not_found) return text;
    return Error{.code = ErrorCode::not_found, .what = path_in(host, path) + " is missing"};
  };
}

Result<ConfigFile> read_config_file(const Host& host, const std::string& path) {
  if (path.empty()) return ConfigFile();
  const auto text = reader_of(host, kMostConfigBytes)(path);
  if (!text) return unreadable(text.error(), spec_key("config_file"), "remove config_file from the spec");
  return parse_config_file(*text, path);
}

void take_config(ConfigFile config, Settings& settings) {
  settings.config = std::move(config);
  if (settings.collectors.empty()) settings.collectors = settings.config.counters_file;
  if (settings.interval.count() == 0) settings.interval = settings.config.interval.value_or(kUsualInterval);
}

std::string this_node() {
  if (const char* named = std::getenv("NODE_NAME"); named != nullptr && *named != '\0') return named;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<Settings> read_settings(const Spec& spec) {
  Settings settings{.config_file = spec.text("config_file"),
                    .collectors = spec.text("collectors"),
                    .web_config = spec.text("web_config_file"),
                    .host_names = spec.texts("host_names"),
                    .node = spec.text("node"),
                    .driver_root = spec.text("driver_root"),
                    .takes_over = spec.text("existing_exporter") == "takeover",
                    .systemd_socket = spec.flag("systemd_socket"),
                    .blanks_in_model_name = !spec.flag("replace_blanks_in_model_name"),
                    .engine = spec.has("engine") ? spec.text("engine") : "none",
                    .health_rules = spec.text("health_rules")};
  SLIPWAY_CHECK(read_listen(spec.text("listen"), settings));
  if (const std::string text = spec.text("interval"); !text.empty()) {
    SLIPWAY_TRY(interval, read_interval(text, "spec.components.dcgm.interval"));
    settings.interval = interval;
  }
  if (settings.node.empty()) settings.node = this_node();
  settings.attribution = read_attribution(spec);
  SLIPWAY_CHECK(check_attribution(settings.attribution));
  SLIPWAY_CHECK(check_idle_keys(spec, settings));
  SLIPWAY_TRY(names, parse_name_sets(spec.texts("names"), "spec.components.dcgm.names"));
  settings.names = names;
  SLIPWAY_TRY(devices, parse_devices(spec.text("devices"), "spec.components.dcgm.devices"));
  settings.devices = std::move(devices);
  SLIPWAY_TRY(links, parse_links(spec.text("switch_devices"), "spec.components.dcgm.switch_devices"));
  settings.links = std::move(links);
  if (settings.links.kind == DeviceSelection::Kind::gpus && settings.engine == "none")
    return Error{
        .code = ErrorCode::invalid,
        .what = "'" + spec.text("switch_devices") + "' selects NVSwitches, which NVML does not know",
        .where = "spec.components.dcgm.switch_devices",
        .next = "write f or i (all NVLinks of the GPUs), i:1,3-4 (some of each GPU's), or add engine: external"};
  for (const unsigned number : settings.links.numbers)
    if (settings.engine == "none" && (number == 0 || number > LinkSelection::kMostLinks))
      return Error{.code = ErrorCode::invalid,
                   .what = "no GPU has an NVLink " + std::to_string(number),
                   .where = "spec.components.dcgm.switch_devices",
                   .next = "write numbers from 1: one more than `nvidia-smi nvlink -s` prints"};
  SLIPWAY_TRY(processors, parse_processors(spec.text("cpu_devices"), "spec.components.dcgm.cpu_devices"));
  settings.processors = std::move(processors);
  SLIPWAY_TRY(xids, read_window(spec, "xid_count_window_size"));
  SLIPWAY_TRY(clock_events, read_window(spec, "clock_events_count_window_size"));
  settings.windows = {.xids = xids, .clock_events = clock_events};
  if (spec.flag("no_hostname")) settings.node.clear();
  SLIPWAY_TRY(engine_address,
              read_engine_address(spec.has("engine_address") ? spec.text("engine_address") : kUsualEngine));
  settings.engine_address = engine_address;
  settings.page = spec.flag("page");
  const std::string processes = spec.text("page_processes");
  settings.page_processes =
      processes == "always" || (processes == "local" && !settings.systemd_socket && is_loopback(settings.address));
  return settings;
}

}  // namespace slipway::dcgm
