// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/machine.hpp"

#include <system_error>

#include <slipway/local_host.hpp>

namespace slipway::toolkit {
namespace {

std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

Result<std::unique_ptr<Host>> open_root(const Host& host, const std::string& root, bool with_devices) {
  if (!host.exists(root))
    return Error{ErrorCode::not_found,
                 "there is no folder " + root,
                 root,
                 with_devices ? "name the folder that has dev/ in it: --dev-root DIR"
                              : "name the folder that the driver is installed in: --driver-root DIR",
                 {}};
  HostConfig config;
  config.root = without_slash(host.root_folder()) + root;
  if (with_devices) config.kernel_view = config.root;
  return open_host(config);
}

}  // namespace

Result<Machine> Machine::open(const Host& host, const std::string& driver_root, const std::string& dev_root) {
  Machine machine(host);
  machine.driver_root_ = without_slash(driver_root);
  machine.dev_root_ = without_slash(dev_root);
  if (!machine.driver_root_.empty()) {
    SLIPWAY_TRY(driver, open_root(host, machine.driver_root_, false));
    machine.driver_ = std::move(driver);
  }
  if (!machine.dev_root_.empty()) {
    SLIPWAY_TRY(dev, open_root(host, machine.dev_root_, true));
    machine.dev_ = std::move(dev);
  }
  return machine;
}

Roots Machine::roots() const {
  return {driver_ ? *driver_ : host_, dev_ ? *dev_ : host_, host_, driver_root_, dev_root_};
}

void Machine::begin_inventory() {
  ends_soon_ = true;
  // A Host serves one thread. With a loaded driver, opening NVML does not use the Host.
  if (!host_.module_loaded("nvidia")) return;
  auto library = nvidia::nvml::choose_library(host_, driver_root_.empty() ? "/" : driver_root_);
  if (!library) return;
  library->machine = nullptr;
  const nvidia::nvml::SignalsBlocked blocked;
  try {
    opening_ = std::async(std::launch::async,
                          [options = nvidia::nvml::NvmlOptions{.library = *std::move(library), .until_exit = true}] {
                            return nvidia::nvml::Nvml::open(options);
                          });
  } catch (const std::system_error&) {
    // No thread can be created: inventory() opens it.
  }
}

Result<Inventory> Machine::inventory() {
  if (opening_.valid()) {
    SLIPWAY_TRY(opened, opening_.get());
    return read_inventory(*opened, host_);
  }
  SLIPWAY_TRY(library, nvidia::nvml::choose_library(host_, driver_root_.empty() ? "/" : driver_root_));
  SLIPWAY_TRY(nvml,
              nvidia::nvml::Nvml::open({.library = library, .until_exit = ends_soon_, .find_hanging = !ends_soon_}));
  return read_inventory(*nvml, host_);
}

}  // namespace slipway::toolkit
