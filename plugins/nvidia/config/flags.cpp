// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/flags.hpp"

#include <initializer_list>

#include <slipway/text.hpp>

namespace slipway::nvidia::config {
namespace {

/// The value whose word it is.
template <class Value>
Result<Value> choose(const Node& node, const std::string& text,
                     std::initializer_list<std::pair<const char*, Value>> all) {
  for (const auto& [word, value] : all)
    if (text == word) return value;
  std::vector<std::string> words;
  for (const auto& [word, value] : all) words.emplace_back(word);
  return node.wrong("'" + text + "' is not known here" + did_you_mean(text, words), "use one of " + joined(words));
}

/// Lists in the environment are separated by commas; in a file a text may be as well.
std::vector<std::string> words_in(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts)
    for (const std::string_view word : split<std::string_view>(text, ',')) words.emplace_back(trimmed(word));
  return words;
}

struct Variable {
  const char* name;
  Status (*set)(const Node&, Settings&);
};

constexpr Variable kVariables[] = {
    {"MIG_STRATEGY", set_mig_strategy},
    {"DEVICE_LIST_STRATEGY", set_list_strategies},
    {"DEVICE_ID_STRATEGY", set_id_strategy},
    {"SHARED_DEVICES_ALLOCATION_POLICY", set_policy},
    {"PASS_DEVICE_SPECS", [](const Node& node, Settings& s) { return set_flag(node, s.pass_device_specs); }},
    {"GDRCOPY_ENABLED", [](const Node& node, Settings& s) { return set_flag(node, s.gdrcopy); }},
    {"GDS_ENABLED", [](const Node& node, Settings& s) { return set_flag(node, s.gds); }},
    {"MOFED_ENABLED", [](const Node& node, Settings& s) { return set_flag(node, s.mofed); }},
    {"IMEX_REQUIRED", [](const Node& node, Settings& s) { return set_flag(node, s.imex_required); }},
    {"NVIDIA_DRIVER_ROOT", [](const Node& node, Settings& s) { return set_text(node, s.driver_root); }},
    {"NVIDIA_DEV_ROOT", [](const Node& node, Settings& s) { return set_text(node, s.dev_root); }},
    {"CDI_ANNOTATION_PREFIX", [](const Node& node, Settings& s) { return set_text(node, s.cdi_annotation_prefix); }},
    {"MPS_ROOT", set_mps_root},
    {"IMEX_CHANNEL_IDS",
     [](const Node& node, Settings& s) { return node.text.empty() ? Status() : set_imex_channels(node, s); }},
    {"DP_DISABLE_HEALTHCHECKS", [](const Node& node, Settings& s) { return set_text(node, s.health_checks_off); }},
    {"DP_ENABLE_HEALTHCHECKS", [](const Node& node, Settings& s) { return set_text(node, s.health_checks_on); }},
};

}  // namespace

Result<MigStrategy> parse_mig_strategy(const std::string& text, const std::string& where) {
  return choose<MigStrategy>(
      scalar(text, where), text,
      {{"none", MigStrategy::none}, {"single", MigStrategy::single}, {"mixed", MigStrategy::mixed}});
}

Status set_mig_strategy(const Node& node, Settings& settings) {
  SLIPWAY_TRY(value, parse_mig_strategy(node.text, node.where));
  settings.mig_strategy = value;
  return {};
}

Status set_list_strategies(const Node& node, Settings& settings) {
  SLIPWAY_TRY(texts, node.strings());
  std::set<ListStrategy> strategies;
  for (const std::string& word : words_in(texts)) {
    SLIPWAY_TRY(value, choose<ListStrategy>(node, word,
                                            {{"envvar", ListStrategy::envvar},
                                             {"volume-mounts", ListStrategy::volume_mounts},
                                             {"cdi-annotations", ListStrategy::cdi_annotations},
                                             {"cdi-cri", ListStrategy::cdi_cri}}));
    strategies.insert(value);
  }
  settings.list_strategies = strategies;
  return {};
}

Status set_id_strategy(const Node& node, Settings& settings) {
  SLIPWAY_TRY(value, choose<IdStrategy>(node, node.text, {{"uuid", IdStrategy::uuid}, {"index", IdStrategy::index}}));
  settings.id_strategy = value;
  return {};
}

Status set_policy(const Node& node, Settings& settings) {
  SLIPWAY_TRY(value, choose<AllocationPolicy>(
                         node, node.text,
                         {{"distributed", AllocationPolicy::distributed}, {"packed", AllocationPolicy::packed}}));
  settings.policy = value;
  return {};
}

Status set_imex_channels(const Node& node, Settings& settings) {
  SLIPWAY_TRY(texts, node.strings());
  std::vector<unsigned> channels;
  for (const std::string& word : words_in(texts)) {
    SLIPWAY_TRY(number, scalar(word, node.where).number());
    if (number < 0) return node.wrong("a channel has no negative number", "use [] or [0]");
    channels.push_back(static_cast<unsigned>(number));
  }
  settings.imex_channels = channels;
  return {};
}

// A variable that is there and empty counts as false; in a file the empty value is null and never comes here.
Status set_flag(const Node& node, bool& flag) {
  if (node.is_scalar() && node.text.empty()) {
    flag = false;
    return {};
  }
  SLIPWAY_TRY(value, node.boolean());
  flag = value;
  return {};
}

Status set_text(const Node& node, std::string& text) {
  SLIPWAY_TRY(value, node.string());
  text = value;
  return {};
}

Status set_mps_root(const Node& node, Settings& settings) {
  constexpr const char* kNext = "give an absolute path like /run/nvidia/mps, without .. and control characters";
  const auto controls = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  SLIPWAY_TRY(path, node.string());
  if (!path.starts_with('/')) return node.wrong("'" + path + "' is no absolute path", kNext);
  if (std::ranges::any_of(path, controls))
    return node.wrong("the path has a line break or another control character, and a systemd unit has to name it",
                      kNext);
  if ((path + "/").find("/../") != std::string::npos)
    return node.wrong("'" + path + "' has a .., and a systemd unit has to name it", kNext);
  settings.mps_root = path;
  return {};
}

Status take_environment(const char* (*get)(const char* name), Settings& settings) {
  for (const auto& [name, set] : kVariables) {
    if (const char* const value = get(name))
      SLIPWAY_CHECK(set(scalar(value, std::string("environment variable ") + name), settings));
  }
  return {};
}

}  // namespace slipway::nvidia::config
