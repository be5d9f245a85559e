// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/rules.hpp - what XIDs and counters say of a GPU's health: rules.yaml, and a site's file over
// it.
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
  application,  ///< a program's mistake; the GPU is fine
  degraded,     ///< the GPU works, and somebody has to look at it
  fatal,        ///< the GPU, or all that runs on it, needs the remedy
};
std::string_view to_string(Severity severity);

/// What an XID is about.
enum class Scope { job, mig, gpu, node };
std::string_view to_string(Scope scope);

/// What the device plugin does with a GPU.
enum class DeviceEffect {
  none,   ///< goes on handing it out
  quiet,  ///< waits until the GPU has been quiet for a while
  reset,  ///< waits for a reset
};
std::string_view to_string(DeviceEffect effect);

/// A unit of NVLink 5, which XIDs 144 to 150 name in their first word of numbers ("IntrInfo").
struct NvlinkUnit {
  std::string name;
  unsigned before_r575 = 0;  ///< its number in bits 9 to 5
  unsigned from_r575 = 0;    ///< in bits 6 to 0
  bool always_resets = false;
  std::set<std::uint32_t> resets;        ///< values of the second word ("ErrorStatus") that ask for a reset
  std::set<unsigned> sub_codes_without;  ///< in bits 25 to 20, that ask for none all the same
};

struct XidRule {
  unsigned number = 0;
  std::string what;
  Severity severity = Severity::degraded;
  Scope scope = Scope::gpu;
  std::string action;                  ///< a word of Rules::actions()
  std::string own_remedy;              ///< of this row, in the place of the action's
  std::string remedy;                  ///< for people: one of the two
  std::optional<DeviceEffect> device;  ///< empty: by the severity
  bool device_of_site = false;         ///< a site's file has it, which no preset hides
  std::set<unsigned> cancels;          ///< XIDs that are over with this one
  std::vector<NvlinkUnit> units;
};

struct CounterRule {
  std::string name;         ///< "row-remap-failure"
  std::string field;        ///< DCGM's name
  std::string field_place;  ///< where it is written, for messages
  std::string what;
  Severity severity = Severity::degraded;
  Scope scope = Scope::gpu;
  std::string action;
  std::string own_remedy;
  std::string remedy;
  std::optional<double> above;          ///< the value is more than that
  std::chrono::milliseconds lasting{};  ///< all of this time
  std::optional<double> rises;          ///< the value has grown by more than that
  std::chrono::milliseconds within{};   ///< in this time
};

struct Preset {
  std::string what;
  std::set<unsigned> xids;
  bool all_but = false;  ///< `xids` are those that do not count
};

/// A value. Reading is thread-safe.
class Rules {
 public:
  /// Takes the rows of a file: new ones, and single keys of those that are there. Nothing is changed by a file with a
  /// mistake. @param file  for messages. Errors: `invalid`, with file:line:column and the key.
  Status add(const std::string& text, const std::string& file);
  Status add(const config::Node& file);

  /// The row of a number; of one that is not known, a row that says so.
  XidRule xid(unsigned number) const;
  /// The row, changed by what the driver wrote behind the number: an XID 154 is as serious as the recovery action that
  /// it names, and one of NVLink 5 that is not fatal and asks for no reset is for information. Without a text, the row.
  XidRule judged(unsigned number, std::string_view text) const;
  /// It speaks against the GPU: it is in the preset that is chosen; without one, degraded or fatal.
  bool counts(unsigned number) const;
  /// The same of a row of judged(): one that its text makes harmless does not count.
  bool counts(const XidRule& judged) const;
  /// By the row and the preset; what a site's file says of the device counts with every preset.
  DeviceEffect effect(unsigned number) const;
  std::chrono::milliseconds forget_after(Severity severity) const;

  const std::map<unsigned, XidRule>& xids() const { return xids_; }
  const std::map<std::string, CounterRule>& counters() const { return counters_; }
  const std::map<std::string, Preset>& presets() const { return presets_; }
  const std::map<std::string, std::string>& actions() const { return actions_; }
  const std::string& preset() const { return preset_; }  ///< empty: none is chosen
  /// Errors: `invalid` there is none of that name.
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
/// The same as the build has read it, with all scalars as texts: reading YAML took half of a service's start.
std::string_view default_rules_json();
const Rules& default_rules();

/// Where a site's own file is looked for, in the host's root.
inline constexpr const char* kSiteFile = "/etc/slipway/health-rules.yaml";
inline constexpr std::size_t kMostRuleBytes = std::size_t{1} << 20U;

/// The default rules with a site's file over them. A file at kSiteFile need not be there; any other one must.
/// Errors: those of reading it and of Rules::add().
Result<Rules> read_rules(const Host& host, const std::string& path = kSiteFile);

/// What the numbers behind an XID of NVLink 5 say.
struct NvlinkDetail {
  std::string unit;
  unsigned sub_code = 0;
  std::optional<unsigned> link;  ///< empty: none is meant ("Link -1")
  bool needs_reset = false;
};
/// "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x00405072 0x00000000 …)". Nothing: the text is not like that, or names no
/// unit of the row's. A unit's name in the text counts, else its number.
/// @param driver_branch  575 for 575.57.08; the numbers have another form from that one on; 0: not known
std::optional<NvlinkDetail> read_nvlink_detail(const XidRule& rule, std::string_view text, unsigned driver_branch);

/// The recovery action that an XID 154 changes to: 0 none, 1 reset, 2 reboot, 3 and 4 drain; nothing where its text has
/// none.
std::optional<unsigned> read_recovery_action(std::string_view text);
/// What to do for a recovery action that the driver asks for, as nvmlDeviceGetFieldValues and XID 154 number them.
struct RecoveryAction {
  std::string_view what;  ///< "the driver asks for a reset of the GPU"
  std::string_view remedy;
};
RecoveryAction recovery_action(unsigned number);

/// The tables for people: of XIDs, counters, presets. Where a preset is chosen, a column says which XIDs count. @param
/// markdown  as docs/health-rules.md has them
std::string rules_text(const Rules& rules, bool markdown);
/// The same for programs, of kind HealthRules.
Json rules_json(const Rules& rules);

}  // namespace slipway::nvidia::health
