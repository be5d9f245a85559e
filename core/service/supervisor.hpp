// SPDX-License-Identifier: Apache-2.0
// core/service/supervisor.hpp - runs one component's service: its worker, its signals, its control socket, systemd.
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

/// What a service is run with.
struct ServiceConfig {
  ServiceFile file;
  Json section;                          ///< of the component, checked
  Json host;                             ///< HostConfig
  std::vector<std::string> environment;  ///< further entries for the worker; that of the start counts
  // Of the start, what its unit gives it:
  std::vector<std::string> device_classes;  ///< globs of the devices that it may open
  std::vector<std::string> writes;          ///< the folders that it may write to
  bool holds_up = false;                    ///< other units start once it is ready
  // Of the newest reading:
  bool hands_over = false;  ///< a new one may run beside it, and then takes its place
};

/// The texts of a list in what an apply left for a service ("device_classes", "writes"); none where there is no list.
std::vector<std::string> texts_in(const Json& left, const char* key);

struct ServiceOptions {
  std::string component;
  bool own_environment = false;  ///< the environment chooses no libraries
  /// Asked at the start and at each SIGHUP. An error then leaves the service as it is.
  std::function<Result<ServiceConfig>()> read;
};

/// Begins once nobody changes a device (open_between_changes()), and runs until SIGTERM or SIGINT. SIGHUP: the config
/// is read again and the service run with it. One per process: it blocks these signals. It ends, to be started afresh,
/// when it has lost what its unit gave it (granted.hpp). The plugin is in a worker of its own, which dies with this
/// process and with which it ends. A service that holds up other units counts as started after 10 s, ready or not.
/// SIGHUP after the service's file was replaced: the new one takes its place, and where it `hands_over`, without a gap:
/// the running one ends when the new one is ready. Errors: `locked` the service runs already; the service's own;
/// `plugin_defect` it crashed, or ended by itself; `timed_out` it did not stop within 20 s, or did not stand still
/// within 30 s.
Status run_supervised(const ServiceOptions& options, const RootDir& root, Ui& ui);

}  // namespace slipway::core
