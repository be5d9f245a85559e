// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/rules.hpp - the meaning of XIDs and counters for a GPU's health: rules.yaml, and a site's file
// over it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::health {

enum class Severity {
  information,  ///< nothing is wrong
  application,  ///< a mistake in a program; the GPU is fine
  degraded,     ///< the GPU works, but should be checked
  fatal,        ///< the GPU, or everything on it, needs the remedy
};
std::string_view to_string(Severity severity);

/// The part that an XID affects.
enum class Scope { job, mig, gpu, node };
std::string_view to_string(Scope scope);

/// The device plugin's reaction.
enum class DeviceEffect {
  none,         ///< continues to offer it
  until_quiet,  ///< unhealthy until no new XID came for a while
  reset,        ///< unhealthy until a reset
};
std::string_view to_string(DeviceEffect effect);

/// A unit of NVLink 5, named in the first word of numbers ("IntrInfo") of XIDs 144 to 150.
struct NvlinkUnit {
  std::string name;
  unsigned before_r575 = 0;  ///< number in bits 9 to 5
  unsigned from_r575 = 0;    ///< number in bits 6 to 0
  bool always_resets = false;
  std::set<std::uint32_t> resets;        ///< values of the second word ("ErrorStatus") that need a reset
  std::set<unsigned> sub_codes_without;  ///< exceptions in bits 25 to 20 that need none
};

struct XidRule {
  unsigned number = 0;
  std::string what;
  Severity severity = Severity::degraded;
  Scope scope = Scope::gpu;
  std::string action;                  ///< one of Rules::actions()
  std::string own_remedy;              ///< remedy of this row, which overrides the action's
  std::string remedy;                  ///< the effective remedy
  std::optional<DeviceEffect> device;  ///< empty: by severity
  bool device_of_site = false;         ///< set by a site's file, which overrides presets
  std::set<unsigned> cancels;          ///< XIDs that end with this one
  std::vector<NvlinkUnit> units;
};

struct CounterRule {
  std::string name;         ///< "row-remap-failure"
  std::string field;        ///< DCGM's name
  std::string field_place;  ///< place in the file, for messages
  std::string what;
  Severity severity = Severity::degraded;
  Scope scope = Scope::gpu;
  std::string action;
  std::string own_remedy;
  std::string remedy;
  std::optional<double> above;          ///< the value is above this
  std::chrono::milliseconds lasting{};  ///< for all of this time
  std::optional<double> rises;          ///< the value has grown by more than this
  std::chrono::milliseconds within{};   ///< in this time
};

struct Preset {
  std::string what;
  std::set<unsigned> xids;
  bool all_but = false;  ///< `xids` lists those that do not count
};

/// A value type. Reading is thread-safe.
class Rules {
 public:
  /// Adds the rows of a file: new ones, and single keys of existing ones. A file with a mistake changes nothing. @param
  /// file  for messages. Errors: `invalid`, with file:line:column and the key.
  Status add(const std::string& text, const std::string& file);
  Status add(const config::Node& file);

  /// Returns the row of a number; for an unknown number, a row that says so.
  XidRule xid(unsigned number) const;
  /// Returns the row, adjusted by the driver's text behind the number: an XID 154 is as serious as its recovery action,
  /// and one of NVLink 5 that is not fatal and needs no reset is informational. Without a text, the row itself.
  XidRule judged(unsigned number, std::string_view text) const;
  /// True when the XID is a fault: it is in the chosen preset; without one, it is degraded or fatal.
  bool counts(unsigned number) const;
  /// The same for a row of judged(): a row that its text makes harmless does not count.
  bool counts(const XidRule& judged) const;
  /// Uses the row and the preset; a device effect in a site's file overrides every preset.
  DeviceEffect effect(unsigned number) const;
  std::chrono::milliseconds forget_after(Severity severity) const;

  const std::map<unsigned, XidRule>& xids() const { return xids_; }
  const std::map<std::string, CounterRule>& counters() const { return counters_; }
  const std::map<std::string, Preset>& presets() const { return presets_; }
  const std::map<std::string, std::string>& actions() const { return actions_; }
  const std::string& preset() const { return preset_; }  ///< empty: no preset is chosen
  /// Errors: `invalid` there is no preset of that name.
  Status choose(const std::string& preset, const std::string& where);

 private:
  friend class RulesFile;
  std::map<unsigned, XidRule> xids_;
  std::map<std::string, CounterRule> counters_;
  std::map<std::string, Preset> presets_;
  std::map<std::string, std::string> actions_;
  std::chrono::milliseconds forget_degraded_{};
  std::chrono::milliseconds forget_fatal_{};
  std::string preset_;
};

/// The file rules.yaml.
std::string_view default_rules_text();
/// The rules in JSON, converted at build time, with all scalars as texts: reading YAML took half of a service's start.
std::string_view default_rules_json();
const Rules& default_rules();

/// Path of a site's own file, in the host's root.
inline constexpr const char* kSiteFile = "/etc/slipway/health-rules.yaml";
inline constexpr std::size_t kMostRuleBytes = std::size_t{1} << 20U;

/// Reads the default rules, overridden by a site's file. The file at kSiteFile may be missing; any other one must
/// exist. Errors: those of reading it and of Rules::add().
Result<Rules> read_rules(const Host& host, const std::string& path = kSiteFile);

/// The meaning of the numbers behind an NVLink 5 XID.
struct NvlinkDetail {
  std::string unit;
  unsigned sub_code = 0;
  std::optional<unsigned> link;  ///< empty: no single link ("Link -1")
  bool needs_reset = false;
};
/// "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x00405072 0x00000000 …)". Empty: the text has another form, or no unit of the
/// row. The unit's name in the text counts first, then its number.
/// @param driver_branch  575 for 575.57.08, which introduced another form of the numbers; 0: unknown
std::optional<NvlinkDetail> read_nvlink_detail(const XidRule& rule, std::string_view text, unsigned driver_branch);

/// Returns the recovery action of an XID 154: 0 none, 1 reset, 2 reboot, 3 and 4 drain; empty if its text has none.
std::optional<unsigned> read_recovery_action(std::string_view text);
/// The remedy for a recovery action of the driver, by the number in nvmlDeviceGetFieldValues and XID 154.
struct RecoveryAction {
  std::string_view what;  ///< "the driver asks for a reset of the GPU"
  std::string_view remedy;
};
RecoveryAction recovery_action(unsigned number);

/// Prints the tables of XIDs, counters and presets. If a preset is chosen, a column says which XIDs count. @param
/// markdown  in the form of docs/health-rules.md
std::string rules_text(const Rules& rules, bool markdown);
/// Returns the same as JSON, of kind HealthRules.
Json rules_json(const Rules& rules);

}  // namespace slipway::nvidia::health
