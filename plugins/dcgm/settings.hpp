// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/settings.hpp - the component's section of the spec, as types.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/engine/options.hpp"
#include "dcgm/exposition/exposition.hpp"
#include "dcgm/pods/attribution.hpp"
#include "dcgm/selection/devices.hpp"
#include "dcgm/takeover/standing.hpp"

namespace slipway::dcgm {

/// See dcgm.component.yaml for what each key means.
struct Settings {
  std::string address;
  std::uint16_t port = 0;
  std::chrono::milliseconds interval{0};
  std::string collectors;  ///< a file of counters, in the host's root; empty: the default counters
  std::string web_config;
  std::string node;  ///< the label of the host; empty: without it
  std::string driver_root;
  bool takes_over = false;           ///< existing_exporter: takeover
  bool systemd_socket = false;       ///< systemd has the port, and hands it over
  bool blanks_in_model_name = true;  ///< replace_blanks_in_model_name: false
  std::string engine;                ///< "none", "external", "managed"
  EngineAddress engine_address;      ///< of the external one
  AttributionSettings attribution;
  NameSets names;
  DeviceSelection devices;
  EventWindows windows;
  std::string health_rules;     ///< a site's file
  bool page = true;             ///< GET / and /overview.json
  bool page_processes = false;  ///< and processes in them
};

/// Errors: `invalid` an address or a length of time that is none.
Result<Settings> read_settings(const Spec& spec);

/// "127.0.0.1:9400", "[::1]:9400", ":9400" for every address of the machine; into `settings`. Errors: `invalid`.
Status read_listen(const std::string& text, Settings& settings);

/// What of them decides about others that have the port.
TakeoverSettings takeover_settings(const Settings& settings);

/// A length of time from 100 ms to an hour. @param where  the key or the option, for messages. Errors: `invalid`.
Result<std::chrono::milliseconds> read_interval(const std::string& text, const std::string& where);

/// The counters of a file's text; without a path the default ones. Errors: those of parse_counters().
Result<Counters> counters_of(const std::string& path, const Result<std::string>& text);

/// $NODE_NAME, else the host's name.
std::string this_node();

}  // namespace slipway::dcgm
