// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service.hpp - the long-running part of a component: `slipway service NAME`.
#pragma once

#include <stop_token>

#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway {

/// Runs in a process of its own, under systemd or the agent. It recovers by itself from what it depends on coming and
/// going, and lets go of the driver while it is quiesced.
class Service {
 public:
  virtual ~Service() = default;

  /// Works until `stop` is requested, then returns. Errors end the process with status 1.
  virtual Status run(const Spec& spec, const Host& host, const std::stop_token& stop) = 0;
  /// Lets go of every device and library, keeping what others see of it; called from another thread than run()'s.
  virtual Status quiesce() = 0;
  /// Takes up work again after quiesce().
  virtual Status resume() = 0;
};

}  // namespace slipway
