// SPDX-License-Identifier: Apache-2.0
// tests/component/mig/node.hpp - a node with simulated GPUs, and the output of slipway and the GPUs.
#pragma once

#include <string>
#include <vector>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway::testing {

/// Its machine is created by the first command, and keeps its state.
class MigNode {
 public:
  explicit MigNode(std::string profile) : profile_(std::move(profile)) {}

  /// The component's section.
  void section(const std::string& keys) const { host_.spec("    mig: {" + keys + "}\n"); }
  Ran slipway(std::vector<std::string> words) const {
    words.insert(words.end(), {"--sim", profile_});
    return host_.slipway(words);
  }
  /// Applies that named config.
  Ran apply(const std::string& config) const {
    section("config: " + config);
    return slipway({"apply"});
  }
  Ran plan(const std::string& config) const {
    section("config: " + config);
    return slipway({"plan"});
  }

  /// Changes the machine without slipway.
  Ran sim(const std::string& words) const {
    return shell(SLIPWAY_SIM_PROGRAM " " + host_.path("run/slipway/sim").string() + " " + words);
  }
  /// Returns the GPUs with their instances from the simulator: modes, places and sizes.
  std::string gpus() const { return sim("show").out; }
  /// Returns the instances of one GPU, "1g.10gb at 0:1", in the order of their places; "off" while MIG is disabled.
  std::vector<std::string> instances(unsigned gpu = 0) const {
    std::vector<std::string> found;
    std::istringstream lines(gpus());
    bool is_it = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("gpu ")) is_it = line.starts_with("gpu " + std::to_string(gpu) + ":");
      if (is_it && line.ends_with("mig off")) found.emplace_back("off");
      const auto name = line.find(": ");
      if (is_it && line.starts_with("  gi ")) found.push_back(line.substr(name + 2, line.find(',') - name - 2));
    }
    const auto place = [](const std::string& text) { return std::atoi(text.c_str() + text.find(" at ") + 4); };
    std::ranges::stable_sort(found, [&](const auto& one, const auto& other) { return place(one) < place(other); });
    return found;
  }

  const ScratchHost& host() const { return host_; }

 private:
  Ran shell(const std::string& command) const {
    const std::string out = host_.folder().at("sim-out").string();
    const int status = std::system((command + " > '" + out + "' 2>&1").c_str());
    std::ifstream in(out);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, {std::istreambuf_iterator<char>(in), {}}, {}};
  }

  std::string profile_;
  ScratchHost host_;
};

}  // namespace slipway::testing
