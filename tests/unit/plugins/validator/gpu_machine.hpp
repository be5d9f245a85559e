// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/validator/gpu_machine.hpp - a running machine with two GPUs on which everything works, and NVML's
// mock.
#pragma once

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

#include "validator/check.hpp"
#include "validator/driver_look.hpp"

namespace slipway::validator::testing {

class GpuMachine : public ::testing::Test {
 protected:
  GpuMachine() {
    ::setenv("SLIPWAY_NVML", NVML_MOCK, 1);
    ::setenv("VALIDATOR_NVML", nvml.string().c_str(), 1);
    host.live("6.1.0-50-amd64").module_loaded_now("nvidia").module_loaded_now("nvidia_uvm");
    host.device_major("nvidia", 195).device_major("nvidia-uvm", 510);
    host.device("/dev/nvidiactl", 195, 255).device("/dev/nvidia-uvm", 510, 0).device("/dev/nvidia-uvm-tools", 510, 1);
    for (const int index : {0, 1}) {
      const std::string address = "0000:" + std::to_string(index + 1) + "b:00.0";
      host.pci({.address = address,
                .vendor = 0x10de,
                .device = 0x2330,
                .device_class = 0x030200,
                .driver = "nvidia",
                .numa_node = 0});
      host.file("/proc/driver/nvidia/gpus/" + address + "/information",
                "Device Minor: \t " + std::to_string(index) + "\n");
      host.device("/dev/nvidia" + std::to_string(index), 195, static_cast<unsigned>(index));
    }
    host.file("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "");
  }
  ~GpuMachine() override {
    ::unsetenv("SLIPWAY_NVML");
    ::unsetenv("VALIDATOR_NVML");
  }

  slipway::testing::FakeHost host;
  slipway::testing::TempDir nvml;
};

/// NVML in this process.
inline Result<DriverAnswers> look_here(const nvidia::nvml::LibraryChoice& library) {
  return look_at_driver(library, std::chrono::seconds(5));
}

inline std::string shown(const Finding& finding) {
  return std::string(to_string(finding.status)) + " " + finding.name + ": " + finding.text;
}

}  // namespace slipway::validator::testing
