// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/rules_file.cpp - reads a file of rules, key by key.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include <slipway/text.hpp>

#include "nvidia/config/strict_keys.hpp"
#include "nvidia/duration.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::nvidia::health {
namespace {

using config::Node;
constexpr unsigned kMaxXid = 65535;
constexpr std::size_t kMostRows = 4096;

template <class Target>
using Key = config::StrictKey<Target>;

Result<std::uint32_t> whole(const Node& node, std::uint32_t most) {
  std::string_view text = node.text;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (!node.is_scalar() || problem != std::errc{} || end != text.data() + text.size() || value > most)
    return node.wrong("'" + node.text + "' is not a whole number up to " + std::to_string(most),
                      "write it like 79 or 0x4f");
  return value;
}

Result<std::set<unsigned>> numbers(const Node& node, std::uint32_t most) {
  if (!node.is_list()) return node.wrong("expected a list of numbers", "write it like [48, 79]");
  std::set<unsigned> all;
  for (const Node& item : node.items) {
    SLIPWAY_TRY(number, whole(item, most));
    all.insert(number);
  }
  return all;
}

Status take_text(const Node& node, std::string& text) {
  if (!node.is_scalar() || node.text.find_first_of("\n\r") != std::string::npos)
    return node.wrong("expected a string of one line", "write one sentence");
  text = node.text;
  return {};
}

template <class Word>
Status take_word(const Node& node, std::initializer_list<Word> words, Word& word) {
  std::vector<std::string> known;
  for (const Word each : words) {
    if (node.is_scalar() && node.text == to_string(each)) {
      word = each;
      return {};
    }
    known.emplace_back(to_string(each));
  }
  return node.wrong("'" + node.text + "' is not one of " + joined(known, ", "), "write one of these words");
}

Status take_severity(const Node& node, Severity& severity) {
  return take_word(node, {Severity::information, Severity::application, Severity::degraded, Severity::fatal}, severity);
}
Status take_scope(const Node& node, Scope& scope) {
  return take_word(node, {Scope::job, Scope::mig, Scope::gpu, Scope::node}, scope);
}

Status take_length(const Node& node, std::chrono::milliseconds& length) {
  const auto parsed = node.is_scalar() ? parse_duration(node.text) : std::nullopt;
  if (!parsed) return node.wrong("'" + node.text + "' is not a duration", "write it like 90s, 10m or 24h");
  length = std::chrono::duration_cast<std::chrono::milliseconds>(*parsed);
  return {};
}

Status take_amount(const Node& node, std::optional<double>& amount) {
  char* end = nullptr;
  const double value = std::strtod(node.text.c_str(), &end);
  if (!node.is_scalar() || end != node.text.c_str() + node.text.size() || !std::isfinite(value))
    return node.wrong("'" + node.text + "' is not a number", "write it like 85 or 0.5");
  amount = value;
  return {};
}

/// A new action brings its own remedy.
template <class Row>
Status take_action(const Node& node, Row& row) {
  row.own_remedy.clear();
  return take_text(node, row.action);
}

Status take_unit(const Node& node, NvlinkUnit& unit) {
  constexpr unsigned kMostSubCode = 63;
  const std::vector<Key<NvlinkUnit>> keys{{"name", [](const Node& n, NvlinkUnit& u) { return take_text(n, u.name); }},
                                          {"before_r575",
                                           [](const Node& n, NvlinkUnit& u) -> Status {
                                             SLIPWAY_TRY(number, whole(n, 31));
                                             u.before_r575 = number;
                                             return {};
                                           }},
                                          {"from_r575",
                                           [](const Node& n, NvlinkUnit& u) -> Status {
                                             SLIPWAY_TRY(number, whole(n, 127));
                                             u.from_r575 = number;
                                             return {};
                                           }},
                                          {"reset",
                                           [](const Node& n, NvlinkUnit& u) -> Status {
                                             u.always_resets = n.is_scalar() && n.text == "all";
                                             u.resets.clear();
                                             if (u.always_resets) return {};
                                             SLIPWAY_TRY(values, numbers(n, UINT32_MAX));
                                             u.resets = std::move(values);
                                             return {};
                                           }},
                                          {"not_sub_codes", [](const Node& n, NvlinkUnit& u) -> Status {
                                             SLIPWAY_TRY(codes, numbers(n, kMostSubCode));
                                             u.sub_codes_without = std::move(codes);
                                             return {};
                                           }}};
  SLIPWAY_CHECK(config::take_strictly(node, "units", keys, unit));
  return unit.name.empty() ? Status(node.wrong("a unit needs a name", "write {name: RLW_CTRL, from_r575: 3}"))
                           : Status();
}

Status take_units(const Node& node, XidRule& rule) {
  if (!node.is_list()) return node.wrong("expected a list of units", "write - {name: RLW_CTRL, from_r575: 3}");
  rule.units.clear();
  for (const Node& item : node.items) SLIPWAY_CHECK(take_unit(item, rule.units.emplace_back()));
  return {};
}

Status take_device(const Node& node, XidRule& rule) {
  DeviceEffect effect{};
  SLIPWAY_CHECK(take_word(node, {DeviceEffect::none, DeviceEffect::until_quiet, DeviceEffect::reset}, effect));
  rule.device = effect;
  return {};
}

const std::vector<Key<XidRule>>& xid_keys() {
  static const std::vector<Key<XidRule>> keys{
      {"what", [](const Node& n, XidRule& r) { return take_text(n, r.what); }},
      {"severity", [](const Node& n, XidRule& r) { return take_severity(n, r.severity); }},
      {"scope", [](const Node& n, XidRule& r) { return take_scope(n, r.scope); }},
      {"action", take_action<XidRule>},
      {"remedy", [](const Node& n, XidRule& r) { return take_text(n, r.own_remedy); }},
      {"device", take_device},
      {"cancels",
       [](const Node& n, XidRule& r) -> Status {
         SLIPWAY_TRY(all, numbers(n, kMaxXid));
         r.cancels = std::move(all);
         return {};
       }},
      {"units", take_units}};
  return keys;
}

const std::vector<Key<CounterRule>>& counter_keys() {
  static const std::vector<Key<CounterRule>> keys{
      {"field",
       [](const Node& n, CounterRule& r) {
         r.field_place = n.where;
         return take_text(n, r.field);
       }},
      {"what", [](const Node& n, CounterRule& r) { return take_text(n, r.what); }},
      {"severity", [](const Node& n, CounterRule& r) { return take_severity(n, r.severity); }},
      {"scope", [](const Node& n, CounterRule& r) { return take_scope(n, r.scope); }},
      {"action", take_action<CounterRule>},
      {"remedy", [](const Node& n, CounterRule& r) { return take_text(n, r.own_remedy); }},
      {"above", [](const Node& n, CounterRule& r) { return take_amount(n, r.above); }},
      {"lasting", [](const Node& n, CounterRule& r) { return take_length(n, r.lasting); }},
      {"rises", [](const Node& n, CounterRule& r) { return take_amount(n, r.rises); }},
      {"within", [](const Node& n, CounterRule& r) { return take_length(n, r.within); }}};
  return keys;
}

const std::vector<Key<Preset>>& preset_keys() {
  const auto take_xids = [](bool all_but) {
    return [all_but](const Node& node, Preset& preset) -> Status {
      SLIPWAY_TRY(all, numbers(node, kMaxXid));
      preset.xids = std::move(all);
      preset.all_but = all_but;
      return {};
    };
  };
  static const std::vector<Key<Preset>> keys{{"what", [](const Node& n, Preset& p) { return take_text(n, p.what); }},
                                             {"xids", take_xids(false)},
                                             {"xids_but", take_xids(true)}};
  return keys;
}

}  // namespace

/// Applies one file to the existing rules.
class RulesFile {
 public:
  explicit RulesFile(Rules& rules) : rules_(rules), is_default_(rules.xids().empty()) {}

  Status read(const Node& root) {
    const std::vector<Key<RulesFile>> keys{
        {"version", [](const Node& n, RulesFile&) { return version(n); }},
        {"actions", [](const Node& n, RulesFile& f) { return f.actions(n); }},
        {"forget_after", [](const Node& n, RulesFile& f) { return f.lengths(n); }},
        {"presets", [](const Node& n, RulesFile& f) { return f.rows(n, "presets", preset_keys(), f.rules_.presets_); }},
        {"preset", [](const Node& n, RulesFile& f) { return f.choose(n); }},
        {"xids", [](const Node& n, RulesFile& f) { return f.xids(n); }},
        {"counters", [](const Node& n, RulesFile& f) { return f.counters(n); }}};
    SLIPWAY_CHECK(config::take_strictly(root, "", keys, *this));
    if (root.at("version").is_null())
      return root.wrong("the file has no version", "begin it with the line version: v1");
    if (!place_.empty()) SLIPWAY_CHECK(rules_.choose(chosen_, place_));
    return complete();
  }

 private:
  static Status version(const Node& node) {
    if (node.text == "v1") return {};
    return node.wrong("unknown version '" + node.text + "' of the health rules", "version: v1 is the only one");
  }

  Status choose(const Node& node) {
    place_ = node.where;
    return take_text(node, chosen_);
  }

  Status actions(const Node& node) {
    if (!node.is_map()) return node.wrong("actions has to be a map", "write {reset-gpu: what to do}");
    for (std::size_t i = 0; i < node.keys.size(); ++i)
      SLIPWAY_CHECK(take_text(node.items[i], rules_.actions_[node.keys[i]]));
    return {};
  }

  Status lengths(const Node& node) {
    const std::vector<Key<Rules>> keys{
        {"degraded", [](const Node& n, Rules& r) { return take_length(n, r.forget_degraded_); }},
        {"fatal", [](const Node& n, Rules& r) { return take_length(n, r.forget_fatal_); }}};
    return config::take_strictly(node, "forget_after", keys, rules_);
  }

  template <class Row>
  static Status rows(const Node& node, const std::string& name, const std::vector<Key<Row>>& keys,
                     std::map<std::string, Row>& all) {
    if (!node.is_map()) return node.wrong(name + " has to be a map", "write a name, and the keys of its row");
    if (node.keys.size() > kMostRows) return node.wrong(name + " has too many rows", "4096 are the most");
    for (std::size_t i = 0; i < node.keys.size(); ++i)
      SLIPWAY_CHECK(config::take_strictly(node.items[i], name + "." + node.keys[i], keys, all[node.keys[i]]));
    return {};
  }

  Status xids(const Node& node) {
    if (!node.is_map()) return node.wrong("xids has to be a map", "write 79: {severity: fatal}");
    if (node.keys.size() > kMostRows) return node.wrong("xids has too many rows", "4096 are the most");
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      Node key = config::scalar(node.keys[i], node.items[i].where);
      SLIPWAY_TRY(number, whole(key, kMaxXid));
      XidRule& rule = rules_.xids_[number];
      rule.number = number;
      if (const auto [before, first] = places_.emplace(number, node.items[i].where); !first)
        return node.items[i].wrong(
            "xids has " + std::to_string(number) + " twice; the other row is at " + before->second,
            "leave one of the two out");
      SLIPWAY_CHECK(config::take_strictly(node.items[i], "xids." + node.keys[i], xid_keys(), rule));
      if (!is_default_ && !node.items[i].at("device").is_null()) rule.device_of_site = true;
      SLIPWAY_CHECK(settle(node.items[i], "xids." + node.keys[i], rule));
    }
    return {};
  }

  Status counters(const Node& node) {
    SLIPWAY_CHECK(rows(node, "counters", counter_keys(), rules_.counters_));
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      CounterRule& rule = rules_.counters_[node.keys[i]];
      rule.name = node.keys[i];
      const std::string path = "counters." + node.keys[i];
      if (rule.field.empty()) return node.items[i].wrong(path + " names no field", "add field: DCGM_FI_DEV_…");
      if (rule.above.has_value() == rule.rises.has_value())
        return node.items[i].wrong(
            path + " needs either above or rises",
            "write above: 85 to limit the value, or rises: 0 and within: 1h to limit its growth");
      if (rule.rises && rule.within.count() == 0)
        return node.items[i].wrong(path + ": rises needs within", "add within: 1h");
      if (rule.rises ? rule.lasting.count() != 0 : rule.within.count() != 0)
        return node.items[i].wrong(
            path + (rule.rises ? ": lasting applies only with above" : ": within applies only with rises"),
            "leave it out");
      SLIPWAY_CHECK(settle(node.items[i], path, rule));
    }
    return {};
  }

  /// A row needs a text, and an action with a remedy.
  template <class Row>
  Status settle(const Node& node, const std::string& path, Row& rule) {
    if (rule.what.empty()) return node.wrong(path + " is new, so it needs `what`", "add what: one sentence");
    if (rule.action.empty()) rule.action = "contact-support";
    actions_named_[path] = node.at("action").where;
    return {};
  }

  /// Actions may follow the rows that name them, and a site's file may change an action's text.
  Status complete() {
    for (auto& [number, rule] : rules_.xids_) SLIPWAY_CHECK(complete("xids." + std::to_string(number), rule));
    for (auto& [name, rule] : rules_.counters_) SLIPWAY_CHECK(complete("counters." + name, rule));
    return {};
  }

  template <class Row>
  Status complete(const std::string& path, Row& rule) const {
    const auto known = rules_.actions_.find(rule.action);
    if (known == rules_.actions_.end()) return unknown_action(path, rule.action);
    rule.remedy = rule.own_remedy.empty() ? known->second : rule.own_remedy;
    return {};
  }

  Status unknown_action(const std::string& path, const std::string& action) const {
    std::vector<std::string> known;
    for (const auto& [name, text] : rules_.actions_) known.push_back(name);
    const auto place = actions_named_.find(path);
    return Error{.code = ErrorCode::invalid,
                 .what = path + ".action: there is no action '" + action + "'",
                 .where = place == actions_named_.end() ? "" : place->second,
                 .next = suggestion(action, known, "use one of " + joined(known, ", ") + ", or add it under actions:")};
  }

  Rules& rules_;
  bool is_default_;                         ///< the file is slipway's own
  std::map<unsigned, std::string> places_;  ///< places of the rows about XIDs
  std::string chosen_;
  std::string place_;                                 ///< of `preset`
  std::map<std::string, std::string> actions_named_;  ///< place of the action, by the path of the row
};

Status Rules::add(const std::string& text, const std::string& file) {
  SLIPWAY_TRY(root, config::node_from_yaml(text, file));
  return add(root);
}

Status Rules::add(const config::Node& root) {
  Rules changed = *this;
  if (!root.is_null()) SLIPWAY_CHECK(RulesFile(changed).read(root));
  *this = std::move(changed);
  return {};
}

}  // namespace slipway::nvidia::health
