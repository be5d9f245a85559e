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

/// A service's messages to its supervisor. Thread-safe, and never blocking: without a listener, nothing happens.
class ServiceIo {
 public:
  virtual ~ServiceIo() = default;
  /// The service is working now. Call it once per run(); systemd then starts the units ordered after it.
  virtual void ready() = 0;
  /// Sets the status line for `systemctl status`.
  virtual void status(std::string_view line) = 0;
  /// Sets the present problems, a line each, for `slipway status`: "GPU 3 (0000:65:00.0) is unhealthy: XID 79".
  /// Replaces the former ones; empty when all is well.
  virtual void reasons(const std::vector<std::string>& lines) = 0;
  /// Writes a line to the journal. @param level  "debug", "info" or "warning"
  virtual void log(std::string_view level, std::string_view text) = 0;
  /// Tells that the service's loop is running.
  virtual void alive() = 0;
  /// Returns the interval at which alive() has to be called, or else the service is ended and restarted: a third of the
  /// unit's WatchdogSec. Empty: there is no watchdog. Calling it more often wakes another process each time.
  virtual std::optional<std::chrono::milliseconds> alive_every() const { return std::nullopt; }
  /// After a stop was requested: true when run() of a new Service follows in the same process, which is a reload.
  virtual bool runs_again() const { return false; }
};

/// Runs in its own process, under systemd or the agent. It recovers by itself when things that it depends on disappear
/// and return, and releases the driver while it is quiesced. sdk/slipway/service_loop.hpp has the loop that most
/// services need.
class Service {
 public:
  virtual ~Service() = default;

  /// Works until `stop` is requested, then returns. A changed spec (SIGHUP) is a stop, then run() of a new Service.
  /// Errors end the process with status 1; log problems that can resolve themselves instead of returning an error.
  virtual Status run(const Spec& spec, const Host& host, const std::stop_token& stop, ServiceIo& io) = 0;
  /// Releases every device and library of the driver, but keeps the service visible to its clients; returns when done.
  /// Called from another thread than run()'s, while run() is running. Limit: 30 s.
  virtual Status quiesce() = 0;
  /// Resumes work after quiesce(). Called from that same thread.
  virtual Status resume() = 0;
};

}  // namespace slipway
