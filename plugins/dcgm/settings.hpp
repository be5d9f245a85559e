// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/settings.hpp - the component's section of the spec, as types.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "dcgm/counters/config_file.hpp"
#include "dcgm/counters/counters.hpp"
#include "dcgm/engine/options.hpp"
#include "dcgm/exposition/exposition.hpp"
#include "dcgm/pods/attribution.hpp"
#include "dcgm/selection/devices.hpp"
#include "dcgm/takeover/exporter_port.hpp"

namespace slipway::dcgm {

/// See dcgm.component.yaml for what each key means.
struct Settings {
  std::string address;
  std::uint16_t port = 0;
  std::chrono::milliseconds interval{0};  ///< 0: not set in the spec; take_config() sets it
  std::string config_file;                ///< dcgm-exporter's YAML file; empty: none
  ConfigFile config;                      ///< contents of config_file, after take_config()
  std::string collectors;                 ///< a file of counters, in the host's root; empty: the default counters
  std::string web_config;
  std::vector<std::string> host_names;  ///< further names under which clients may address the service
  std::string node;                     ///< the label of the host; empty: no label
  std::string driver_root;
  bool takes_over = false;           ///< existing_exporter: takeover
  bool systemd_socket = false;       ///< systemd listens on the port and passes the socket
  bool blanks_in_model_name = true;  ///< replace_blanks_in_model_name: false
  std::string engine;                ///< "none", "external", "managed"
  EngineAddress engine_address;      ///< address of the external engine
  AttributionSettings attribution;
  NameSets names;
  DeviceSelection devices;
  LinkSelection links;
  DeviceSelection processors;
  EventWindows windows;
  std::string health_rules;     ///< a site's file
  bool page = true;             ///< serves GET / and /overview.json
  bool page_processes = false;  ///< the page shows processes too
};

/// Errors: `invalid` an invalid address or duration.
Result<Settings> read_settings(const Spec& spec);

/// Returns the text of a file below the host's root.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
/// `host` is borrowed. Errors: those of Host::read(); for a missing file the message has the path outside of the root.
ReadFile reader_of(const Host& host, std::size_t limit_bytes);

/// Reads the file that config_file names; an empty path gives an empty config. Errors: with the spec's key, for a file
/// that cannot be read; those of parse_config_file().
Result<ConfigFile> read_config_file(const Host& host, const std::string& path);
/// Applies the config file's values to the settings that the spec leaves open.
void take_config(ConfigFile config, Settings& settings);

/// Reads "127.0.0.1:9400", "[::1]:9400", or ":9400" for every address of the machine, into `settings`. Errors:
/// `invalid`.
Status read_listen(const std::string& text, Settings& settings);

/// Returns the settings that decide how the service treats other programs on its port.
TakeoverSettings takeover_settings(const Settings& settings);

/// Reads a duration from 100 ms to an hour. @param where  the key or the option, for messages. Errors: `invalid`.
Result<std::chrono::milliseconds> read_interval(const std::string& text, const std::string& where);

/// Returns the counters in a file's text; an empty path gives the default ones. Errors: those of parse_counters().
Result<Counters> counters_of(const std::string& path, const Result<std::string>& text);
/// Returns the counters that the settings select: those of `collectors`, or of the config file, with their intervals.
/// @param read  reads the file of counters
/// Errors: those of `read`, with the key that names the file; those of parse_counters() and check_groups(); `invalid`
/// no row gives a metric.
Result<Counters> counters_of(const Settings& settings, const ReadFile& read);

/// Returns $NODE_NAME, or the host's name if it is not set.
std::string this_node();

}  // namespace slipway::dcgm
