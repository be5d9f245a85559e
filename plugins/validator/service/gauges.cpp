// SPDX-License-Identifier: Apache-2.0
#include "validator/service/gauges.hpp"

#include <slipway/service/metrics.hpp>

namespace slipway::validator {

std::string gauges_text(const Gauges& gauges) {
  MetricsText metrics;
  const auto add = [&](const char* name, const char* help, std::int64_t value) {
    metrics.begin(name, help);
    metrics.sample({{"node", gauges.node}}, value);
  };
  add("gpu_operator_node_metrics_ready_ts_seconds", "When this service started, in seconds since 1970",
      gauges.start_time);
  add("gpu_operator_node_driver_ready", "The file driver-ready exists", gauges.driver_ready);
  add("gpu_operator_node_toolkit_ready", "The file toolkit-ready exists", gauges.toolkit_ready);
  add("gpu_operator_node_plugin_ready", "The file plugin-ready exists", gauges.plugin_ready);
  add("gpu_operator_node_cuda_ready", "The file cuda-ready exists", gauges.cuda_ready);
  add("gpu_operator_node_driver_validation", "The driver works", gauges.driver_valid);
  add("gpu_operator_node_driver_validation_last_success_ts_seconds",
      "When the driver was last seen to work, in seconds since 1970", gauges.driver_valid_time);
  add("gpu_operator_node_device_plugin_devices_total", "Devices that kubelet has of NVIDIA's resources; -1: not known",
      gauges.plugin_devices);
  add("gpu_operator_node_device_plugin_validation_last_success_ts_seconds",
      "When kubelet last had such devices, in seconds since 1970", gauges.plugin_valid_time);
  add("gpu_operator_nvidia_pci_devices_total", "NVIDIA's functions on the PCI bus; -1: not known", gauges.pci_devices);
  return std::move(metrics).take();
}

}  // namespace slipway::validator
