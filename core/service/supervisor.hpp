// SPDX-License-Identifier: Apache-2.0
// core/service/supervisor.hpp - runs one component's service: its worker, signals, control socket, and reports to
// systemd.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "core/engine/ui.hpp"
#include "core/loader/plugin_file.hpp"

namespace slipway::core {

/// The configuration of a service.
struct ServiceConfig {
  ServiceFile file;
  Json section;                          ///< the component's section, already checked
  Json host;                             ///< HostConfig
  std::vector<std::string> environment;  ///< further variables for the worker; only those from the start are used
  // Granted by its unit; only the values from the start are used:
  std::vector<std::string> device_classes;  ///< globs of the devices that it may open
  std::vector<std::string> writes;          ///< the folders that it may write to
  bool delays_units = false;                ///< other units wait until it is ready
  // Read again at each reload:
  bool hands_over = false;  ///< a new process may run beside the old one before it replaces it
};

/// Returns the texts of a list in the service's file ("device_classes", "writes"); empty when there is no such list.
std::vector<std::string> texts_in(const Json& left, const char* key);

struct ServiceOptions {
  std::string component;
  bool own_environment = false;  ///< ignores SLIPWAY_ variables that choose libraries
  /// Reads the configuration, at the start and at each SIGHUP. After an error the service stays as it is.
  std::function<Result<ServiceConfig>()> read;
};

/// Starts once no process changes a device (open_between_changes()), and runs until SIGTERM or SIGINT. SIGHUP reads the
/// configuration again and applies it. Use one per process: it blocks these signals. It ends, so that systemd restarts
/// it, when it has lost access that its unit granted (granted_access.hpp). The plugin is in its own worker, which ends
/// together with this process. A service that other units wait for counts as started after 10 s, ready or not. A SIGHUP
/// after the service's file was replaced starts the new one in its place; with `hands_over` there is no gap: the old
/// one ends when the new one is ready. Errors: `locked` the service is already running; the service's own;
/// `plugin_defect` it crashed, or ended by itself; `timed_out` it did not stop within 20 s, or did not quiesce within
/// 30 s.
Status run_supervised(const ServiceOptions& options, const RootDir& root, Ui& ui);

}  // namespace slipway::core
