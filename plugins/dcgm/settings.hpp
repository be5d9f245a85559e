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
#include "dcgm/takeover/standing.hpp"

namespace slipway::dcgm {

/// See dcgm.component.yaml for what each key means.
struct Settings {
  std::string address;
  std::uint16_t port = 0;
  std::chrono::milliseconds interval{0};  ///< 0: the spec says nothing, until take_config()
  std::string config_file;                ///< dcgm-exporter's YAML file; empty: none
  ConfigFile config;                      ///< what is in it, after take_config()
  std::string collectors;                 ///< a file of counters, in the host's root; empty: the default counters
  std::string web_config;
  std::vector<std::string> host_names;  ///< under which it is asked, besides this machine's own
  std::string node;                     ///< the label of the host; empty: without it
  std::string driver_root;
  bool takes_over = false;           ///< existing_exporter: takeover
  bool systemd_socket = false;       ///< systemd has the port, and hands it over
  bool blanks_in_model_name = true;  ///< replace_blanks_in_model_name: false
  std::string engine;                ///< "none", "external", "managed"
  EngineAddress engine_address;      ///< of the external one
  AttributionSettings attribution;
  NameSets names;
  DeviceSelection devices;
  LinkSelection links;
  DeviceSelection processors;
  EventWindows windows;
  std::string health_rules;     ///< a site's file
  bool page = true;             ///< GET / and /overview.json
  bool page_processes = false;  ///< and processes in them
};

/// Errors: `invalid` an address or a length of time that is none.
Result<Settings> read_settings(const Spec& spec);

/// Text of a file of the host's root.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
/// `host` is borrowed. Errors: of Host::read(); a file that is not there is named as it is called outside of the root.
ReadFile reader_of(const Host& host, std::size_t limit_bytes);

/// What the file that config_file names says; of no file, nothing. Errors: with the spec's key, of a file that cannot
/// be read; those of parse_config_file().
Result<ConfigFile> read_config_file(const Host& host, const std::string& path);
/// It counts where the spec says nothing else.
void take_config(ConfigFile config, Settings& settings);

/// "127.0.0.1:9400", "[::1]:9400", ":9400" for every address of the machine; into `settings`. Errors: `invalid`.
Status read_listen(const std::string& text, Settings& settings);

/// What of them decides about others that have the port.
TakeoverSettings takeover_settings(const Settings& settings);

/// A length of time from 100 ms to an hour. @param where  the key or the option, for messages. Errors: `invalid`.
Result<std::chrono::milliseconds> read_interval(const std::string& text, const std::string& where);

/// The counters of a file's text; without a path the default ones. Errors: those of parse_counters().
Result<Counters> counters_of(const std::string& path, const Result<std::string>& text);
/// The same by the settings: those of `collectors`, or of the config file, with their intervals.
/// @param read  reads the file of counters
/// Errors: those of `read`, with the key that names the file; those of parse_counters() and check_groups(); `invalid`
/// no row gives a metric.
Result<Counters> counters_of(const Settings& settings, const ReadFile& read);

/// $NODE_NAME, else the host's name.
std::string this_node();

}  // namespace slipway::dcgm
