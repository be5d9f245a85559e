// SPDX-License-Identifier: Apache-2.0
// kubelet-allocate FOLDER RESOURCE COUNT: stands in kubelet's place in its folder of device plugins until RESOURCE has
// COUNT healthy devices, asks for COUNT as kubelet does for a container, and prints as JSON what it was given
// (tests/e2e/device_plugin_container.py).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <slipway/json.hpp>

#include "tests/component/deviceplugin/kubelet.hpp"

namespace {

constexpr std::chrono::seconds kPatience{60};

int allocate(const std::string& folder, const std::string& resource, unsigned count) {
  slipway::testing::Kubelet kubelet(folder);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (kubelet.healthy(resource) < count) {
    if (std::chrono::steady_clock::now() > end) {
      std::cerr << "kubelet-allocate: " << resource << " has " << kubelet.healthy(resource) << " healthy devices\n";
      return 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto allocated = kubelet.allocate(resource, count);
  if (!allocated.status.ok()) {
    std::cerr << "kubelet-allocate: " << allocated.status.error_message() << "\n";
    return 1;
  }
  slipway::Json variables = slipway::Json::object();
  for (const auto& [name, value] : allocated.response.envs()) variables[name] = value;
  slipway::Json devices = slipway::Json::array();
  for (const auto& device : allocated.response.cdi_devices()) devices.push_back(device.name());
  std::cout << slipway::Json{{"capacity", kubelet.capacity(resource)},
                             {"ids", allocated.ids},
                             {"envs", variables},
                             {"cdi_devices", devices}}
                   .dump()
            << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc == 4 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 0;
  if (count == 0) {
    std::cerr << "usage: kubelet-allocate FOLDER RESOURCE COUNT\n";
    return 64;
  }
  return allocate(argv[1], argv[2], count);
}
