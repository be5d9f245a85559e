// SPDX-License-Identifier: Apache-2.0
// tests/component/mig/machine.hpp - a machine with simulated GPUs for the tools of `slipway mig`.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/component/gfd/program.hpp"

namespace slipway {

/// A machine that programs find through the environment, as on a host with a driver.
class MigMachine : public ::testing::Test {
 protected:
  void make(const std::string& profile) {
    ASSERT_EQ(run(SLIPWAY_SIM_PROGRAM " " + folder_.path() + " make " + profile).status, 0);
    const std::string library = run(SLIPWAY_SIM_PROGRAM " library").output;
    machine_ = "SLIPWAY_SIM=" + folder_.path() + " SLIPWAY_NVML=" + library.substr(0, library.find('\n')) +
               "/libnvidia-ml.so.1 ";
  }
  /// kubelet on the machine that runs the test does not belong to the simulated machine.
  Ran mig(const std::string& words) const {
    const bool asks = words.starts_with("show") || words.starts_with("apply") || words.starts_with("restore");
    return run(machine_ + SLIPWAY_PROGRAM " mig " + words + (asks ? " --kubelet-socket=" : ""));
  }
  Ran sim(const std::string& words) const { return run(SLIPWAY_SIM_PROGRAM " " + folder_.path() + " " + words); }
  /// Writes a file with a config `it` of one entry.
  std::string config(const std::string& entry) const {
    folder_.file("config.yaml", "version: v1\nmig-configs:\n  it:\n  - {" + entry + "}\n");
    return folder_.at("config.yaml");
  }

  Folder folder_;
  std::string machine_;
};

}  // namespace slipway
