// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/table.cpp - the rules as tables for people.
#include <algorithm>
#include <array>
#include <charconv>

#include <slipway/text.hpp>

#include "nvidia/duration.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::nvidia::health {
namespace {

using Row = std::vector<std::string>;

std::string markdown_table(const std::vector<Row>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "| " + joined(rows[i], " | ") + " |\n";
    if (i == 0) text += "|" + joined(Row(rows[0].size(), "---"), "|") + "|\n";
  }
  return text;
}

/// Makes each column as wide as its widest cell; the last one is not padded.
std::string plain_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) text += padded(row[i], widths[i]) + "  ";
    text += row.back() + "\n";
  }
  return text;
}

std::string hexadecimal(std::uint32_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value, 16).ptr;
  return "0x" + std::string(digits.begin(), end);
}

std::string amount(double value) {
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::general, 15).ptr;
  return {digits.begin(), end};
}

std::string list_of(const std::set<unsigned>& numbers) {
  return joined(numbers, ", ", [](unsigned number) { return std::to_string(number); });
}

std::vector<Row> xid_rows(const Rules& rules) {
  const bool with_preset = !rules.preset().empty();
  std::vector<Row> rows{{"XID", "meaning", "severity", "scope", "device", "action"}};
  if (with_preset) rows[0].insert(rows[0].begin() + 1, "counts");
  for (const auto& [number, rule] : rules.xids()) {
    std::string what = rule.what;
    if (!rule.cancels.empty()) what += "; ends XID " + list_of(rule.cancels);
    rows.push_back({std::to_string(number), what, std::string(to_string(rule.severity)),
                    std::string(to_string(rule.scope)), std::string(to_string(rules.effect(number))),
                    rule.own_remedy.empty() ? rule.action : rule.own_remedy});
    if (with_preset) rows.back().insert(rows.back().begin() + 1, rules.counts(number) ? "yes" : "no");
  }
  return rows;
}

std::vector<Row> unit_rows(const Rules& rules) {
  std::vector<Row> rows{{"XID", "unit", "number below R575", "from R575", "error status that asks for a reset"}};
  for (const auto& [number, rule] : rules.xids())
    for (const NvlinkUnit& unit : rule.units) {
      std::string resets = unit.always_resets ? "any" : unit.resets.empty() ? "none" : "";
      for (const std::uint32_t value : unit.resets) resets += (resets.empty() ? "" : ", ") + hexadecimal(value);
      if (!unit.sub_codes_without.empty()) resets += ", but for sub-codes " + list_of(unit.sub_codes_without);
      rows.push_back({std::to_string(number), unit.name, std::to_string(unit.before_r575),
                      std::to_string(unit.from_r575), resets});
    }
  return rows;
}

std::vector<Row> counter_rows(const Rules& rules) {
  std::vector<Row> rows{{"finding", "when", "severity", "meaning", "action"}};
  for (const auto& [name, rule] : rules.counters()) {
    std::string when = rule.field;
    if (rule.above) when += " > " + amount(*rule.above);
    if (rule.lasting.count() != 0) when += " for " + duration_text(rule.lasting);
    if (rule.rises) when += " grows by more than " + amount(*rule.rises) + " in " + duration_text(rule.within);
    rows.push_back({name, when, std::string(to_string(rule.severity)), rule.what,
                    rule.own_remedy.empty() ? rule.action : rule.own_remedy});
  }
  return rows;
}

std::vector<Row> action_rows(const Rules& rules) {
  std::vector<Row> rows{{"action", "what to do"}};
  for (const auto& [name, text] : rules.actions()) rows.push_back({name, text});
  return rows;
}

std::vector<Row> preset_rows(const Rules& rules) {
  std::vector<Row> rows{{"preset", "whose", "XIDs that count"}};
  for (const auto& [name, preset] : rules.presets())
    rows.push_back({name + (name == rules.preset() ? " (chosen)" : ""), preset.what,
                    (preset.all_but ? "all but " : "") + list_of(preset.xids)});
  return rows;
}

Json when_of(const CounterRule& rule) {
  Json when{{"field", rule.field}};
  if (rule.above) when["above"] = *rule.above;
  if (rule.lasting.count() != 0) when["lasting"] = duration_text(rule.lasting);
  if (rule.rises) when["rises"] = *rule.rises;
  if (rule.within.count() != 0) when["within"] = duration_text(rule.within);
  return when;
}

template <class Rule>
Json verdict_json(const Rule& rule) {
  return {{"what", rule.what},
          {"severity", to_string(rule.severity)},
          {"scope", to_string(rule.scope)},
          {"action", rule.action},
          {"remedy", rule.remedy}};
}

}  // namespace

Json rules_json(const Rules& rules) {
  Json xids = Json::object();
  for (const auto& [number, rule] : rules.xids()) {
    Json& row = xids[std::to_string(number)] = verdict_json(rule);
    row["counts"] = rules.counts(number);
    row["device"] = to_string(rules.effect(number));
    if (!rule.cancels.empty()) row["cancels"] = rule.cancels;
  }
  Json counters = Json::object();
  for (const auto& [name, rule] : rules.counters()) {
    Json& row = counters[name] = verdict_json(rule);
    row["when"] = when_of(rule);
  }
  Json presets = Json::object();
  for (const auto& [name, preset] : rules.presets())
    presets[name] = {{"what", preset.what}, {preset.all_but ? "all_but" : "xids", preset.xids}};
  return {{"apiVersion", "slipway.dev/v1"}, {"kind", "HealthRules"},           {"preset", rules.preset()},
          {"xids", std::move(xids)},        {"counters", std::move(counters)}, {"actions", rules.actions()},
          {"presets", std::move(presets)}};
}

std::string rules_text(const Rules& rules, bool markdown) {
  std::string text;
  for (const auto& rows :
       {xid_rows(rules), unit_rows(rules), counter_rows(rules), action_rows(rules), preset_rows(rules)})
    text += (text.empty() ? "" : "\n") + (markdown ? markdown_table(rows) : plain_table(rows));
  return text;
}

}  // namespace slipway::nvidia::health
