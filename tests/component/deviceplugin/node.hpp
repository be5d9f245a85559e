// SPDX-License-Identifier: Apache-2.0
// tests/component/deviceplugin/node.hpp - a simulated machine with the device plugin's service and a kubelet's folders.
#pragma once

#include <cstdlib>

#include "tests/component/deviceplugin/kubelet.hpp"
#include "tests/component/service/running_service.hpp"

namespace slipway::testing {

inline constexpr const char* kGpu = "nvidia.com/gpu";

class Node {
 public:
  explicit Node(std::string profile, const std::string& section = "{}") : profile_(std::move(profile)) {
    spec(section);
    std::filesystem::create_directories(plugins());
  }
  const ScratchHost& host() const { return host_; }
  std::string plugins() const { return host_.path("var/lib/kubelet/device-plugins").string(); }
  void spec(const std::string& section) const { host_.spec("    deviceplugin: " + section + "\n"); }
  std::vector<std::string> words(const std::string& command = "service") const {
    std::vector<std::string> all{command};
    if (command == "service") all.emplace_back("deviceplugin");
    for (const auto& word :
         {std::string("-f"), host_.folder().at("host.yaml").string(), std::string("--sim"), profile_})
      all.push_back(word);
    return all;
  }
  /// Changes the simulated machine under the running service.
  void sim(const std::string& change) const {
    const std::string command = SLIPWAY_SIM_PROGRAM " " + host_.path("run/slipway/sim").string() + " " + change;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// Returns how often each function of NVML was called.
  std::string calls() const {
    const std::string file = host_.folder().at("calls").string();
    const std::string command = SLIPWAY_SIM_PROGRAM " " + host_.path("run/slipway/sim").string() + " calls >" + file;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Returns the service's status.
  Json status() const {
    Json status = Json::parse(host_.text("run/slipway/deviceplugin/status.json"), nullptr, false);
    return status.is_discarded() ? Json() : status;  // the file is not complete yet
  }

 private:
  std::string profile_;
  ScratchHost host_;
};

}  // namespace slipway::testing
