// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/machine.hpp - a host with its driver root and device root, and the GPUs that its NVML
// shows.
#pragma once

#include <future>
#include <memory>
#include <string>

#include <slipway/host.hpp>

#include "toolkit/cdi/generate.hpp"

namespace slipway::toolkit {

class Machine {
 public:
  /// @param host  borrowed for the machine's life
  /// @param driver_root, dev_root  absolute inside the host; "/" or empty: the host itself
  /// Errors: `not_found` there is no such folder.
  static Result<Machine> open(const Host& host, const std::string& driver_root, const std::string& dev_root);

  /// For a tool that ends soon after inventory(): starts to open NVML, which takes 13 ms, in parallel with the caller's
  /// work. inventory() reports errors.
  void begin_inventory();

  Roots roots() const;
  /// Reads NVML once. Modes that need no GPUs read only the driver's version, which may be missing. Errors: those of
  /// Nvml::open() and read_inventory().
  Result<Inventory> inventory();

 private:
  explicit Machine(const Host& host) : host_(host) {}

  const Host& host_;
  std::unique_ptr<Host> driver_;  ///< null: host_
  std::unique_ptr<Host> dev_;     ///< null: host_
  std::string driver_root_;
  std::string dev_root_;
  bool ends_soon_ = false;                                            ///< set by begin_inventory()
  std::future<Result<std::unique_ptr<nvidia::nvml::Nvml>>> opening_;  ///< of begin_inventory()
};

struct DriverRoots {
  std::string driver;
  std::string dev;
};

/// Finds roots that the spec leaves open ("auto"): the driver in the root itself, else in a driver container's root at
/// /run/nvidia/driver; the nodes below that root if it has some, else in the root itself. "/" if there is no driver.
DriverRoots find_driver_roots(const Host& host, const std::string& driver, const std::string& dev);

}  // namespace slipway::toolkit
