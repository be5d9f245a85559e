// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service.hpp - the long-running part of a component: `slipway service NAME`.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway {

/// What a service tells whoever runs it. Thread-safe, and never in the way: when nobody listens, nothing happens.
class ServiceIo {
 public:
  virtual ~ServiceIo() = default;
  /// The service does its work now. Said once per run(); systemd starts what comes after it.
  virtual void ready() = 0;
  /// One line on how things are, for `systemctl status`.
  virtual void status(std::string_view line) = 0;
  /// What is not as it should be, a line each, for `slipway status`: "GPU 3 (0000:65:00.0) is unhealthy: XID 79". It
  /// takes the place of what was said before; none when all is well.
  virtual void reasons(const std::vector<std::string>& lines) = 0;
  /// A line for the journal. @param level  "debug", "info" or "warning"
  virtual void log(std::string_view level, std::string_view text) = 0;
  /// The service's loop turns.
  virtual void alive() = 0;
  /// How often alive() has to be said at least, or the service is ended and started afresh: a third of the unit's
  /// WatchdogSec. Empty: nobody waits for it. Saying it more often wakes another process each time.
  virtual std::optional<std::chrono::milliseconds> alive_every() const { return std::nullopt; }
  /// Once a stop is requested: a new Service's run() follows in the same process, which a reload is.
  virtual bool runs_again() const { return false; }
};

/// Runs in a process of its own, under systemd or the agent. It recovers by itself from what it depends on coming and
/// going, and releases the driver while it is quiesced. sdk/slipway/service_loop.hpp has the loop that most need.
class Service {
 public:
  virtual ~Service() = default;

  /// Works until `stop` is requested, then returns. A changed spec (SIGHUP) is a stop, then run() of a new Service.
  /// Errors end the process with status 1; what can mend itself is not an error, but a line of the log.
  virtual Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) = 0;
  /// Releases every device and library of the driver, keeping what others see of the service; returns when it has.
  /// Called from another thread than run()'s, while that one is in run(). Limit: 30 s.
  virtual Status quiesce() = 0;
  /// Takes up work again after quiesce(). Called from that same thread.
  virtual Status resume() = 0;
};

}  // namespace slipway
