// SPDX-License-Identifier: Apache-2.0
// tests/unit/sim/sim_fixture.hpp - a simulated machine in a temporary folder, with the binding to call it.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "nvidia/nvml/nvml.hpp"
#include "sim/model/machine.hpp"
#include "sim/model/profile.hpp"

namespace slipway::sim {

class SimTest : public ::testing::Test {
 protected:
  void make(const std::string& profile) {
    const auto read = read_sim_profile(profile, {SIM_PROFILES});
    ASSERT_TRUE(read.ok()) << to_text(read.error());
    const auto machine = make_sim_machine(*read, {SIM_PROFILES});
    ASSERT_TRUE(machine.ok()) << to_text(machine.error());
    const Status written = write_sim_machine(**machine, folder_.string());
    ASSERT_TRUE(written.ok()) << to_text(written.error());
    setenv("SLIPWAY_SIM", folder_.string().c_str(), 1);
    unsetenv("SLIPWAY_SIM_FIRST");
    nvml_ = std::make_unique<nvidia::nvml::Nvml>(
        nvidia::nvml::NvmlOptions{.library = {.named = SIM_LIBRARY}, .call_limit = std::chrono::milliseconds(2000)});
    const Status opened = nvml_->reopen();
    ASSERT_TRUE(opened.ok()) << to_text(opened.error());
  }

  /// Runs slipway-sim as another process. @return its exit status
  int tool(const std::string& words) {
    const std::string command =
        "'" SIM_TOOL "' '" + folder_.string() + "' " + words + " > '" + folder_.string() + "/output'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  slipway::testing::TempDir folder_;
  std::unique_ptr<nvidia::nvml::Nvml> nvml_;
};

}  // namespace slipway::sim
