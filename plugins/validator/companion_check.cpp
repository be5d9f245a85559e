// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_check.hpp"

namespace slipway::validator {

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
