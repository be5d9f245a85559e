// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/flags.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "nvidia/config/keys.hpp"

namespace slipway::nvidia::config {
namespace {

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr Word<MigStrategy> kMigStrategies[] = {
    {"none", MigStrategy::none}, {"single", MigStrategy::single}, {"mixed", MigStrategy::mixed}};
constexpr Word<ListStrategy> kListStrategies[] = {{"envvar", ListStrategy::envvar},
                                                  {"volume-mounts", ListStrategy::volume_mounts},
                                                  {"cdi-annotations", ListStrategy::cdi_annotations},
                                                  {"cdi-cri", ListStrategy::cdi_cri}};
constexpr Word<IdStrategy> kIdStrategies[] = {{"uuid", IdStrategy::uuid}, {"index", IdStrategy::index}};
constexpr Word<AllocationPolicy> kPolicies[] = {{"distributed", AllocationPolicy::distributed},
                                                {"packed", AllocationPolicy::packed}};

template <class Value, std::size_t Count>
std::string_view word_of(const Word<Value> (&all)[Count], Value value) {
  return std::ranges::find(all, value, &Word<Value>::value)->word;
}

/// Returns the value of a word.
template <class Value, std::size_t Count>
Result<Value> choose(const Word<Value> (&all)[Count], const std::string& text, const Node& node) {
  std::vector<std::string> words;
  for (const auto& [word, value] : all) {
    if (text == word) return value;
    words.emplace_back(word);
  }
  return node.wrong("'" + text + "' is not a known value here" + did_you_mean(text, words),
                    "use one of " + joined(words));
}

/// Lists in the environment are separated by commas; a text in a file may be too.
std::vector<std::string> words_in(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts)
    for (const std::string_view word : split<std::string_view>(text, ',')) words.emplace_back(trimmed(word));
  return words;
}

constexpr Key<Settings> kVariables[] = {
    {"MIG_STRATEGY", set_mig_strategy},
    {"FAIL_ON_INIT_ERROR", [](const Node& node, Settings& s) { return set_flag(node, s.fail_on_init_error); }},
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

std::string_view to_string(MigStrategy strategy) { return word_of(kMigStrategies, strategy); }
std::string_view to_string(ListStrategy strategy) { return word_of(kListStrategies, strategy); }

Result<MigStrategy> parse_mig_strategy(const std::string& text, const std::string& where) {
  return choose(kMigStrategies, text, scalar(text, where));
}

/// Sets one of the words in a table.
template <class Words, class Value>
Status set_choice(const Words& words, const Node& node, Value& target) {
  SLIPWAY_TRY(value, choose(words, node.text, node));
  target = value;
  return {};
}

Status set_mig_strategy(const Node& node, Settings& settings) {
  return set_choice(kMigStrategies, node, settings.mig_strategy);
}

Status set_list_strategies(const Node& node, Settings& settings) {
  SLIPWAY_TRY(texts, node.strings());
  std::set<ListStrategy> strategies;
  for (const std::string& word : words_in(texts)) {
    SLIPWAY_TRY(value, choose(kListStrategies, word, node));
    strategies.insert(value);
  }
  settings.list_strategies = strategies;
  settings.list_strategies_given = true;
  return {};
}

Status set_id_strategy(const Node& node, Settings& settings) {
  return set_choice(kIdStrategies, node, settings.id_strategy);
}

Status set_policy(const Node& node, Settings& settings) { return set_choice(kPolicies, node, settings.policy); }

Status set_imex_channels(const Node& node, Settings& settings) {
  SLIPWAY_TRY(texts, node.strings());
  std::vector<unsigned> channels;
  for (const std::string& word : words_in(texts)) {
    SLIPWAY_TRY(number, scalar(word, node.where).number());
    if (number < 0) return node.wrong("the number of a channel cannot be negative", "use [] or [0]");
    channels.push_back(static_cast<unsigned>(number));
  }
  settings.imex_channels = channels;
  return {};
}

// An empty variable counts as false; in a file the empty value is null and never gets here.
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

Status set_discovery(const Node& node, Settings&) {
  SLIPWAY_TRY(text, node.string());
  if (text == "auto" || text == "nvml") return {};
  if (text == "tegra" || text == "vfio")
    return node.wrong("slipway does not support finding devices by '" + text + "'",
                      "use nvml or auto: both find devices by NVML");
  return node.wrong("'" + text + "' is not a known value here", "use nvml or auto");
}

Status set_mps_root(const Node& node, Settings& settings) {
  constexpr const char* kNext = "give an absolute path like /run/nvidia/mps, without .. or control characters";
  const auto controls = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  SLIPWAY_TRY(path, node.string());
  if (!path.starts_with('/')) return node.wrong("'" + path + "' is not an absolute path", kNext);
  if (std::ranges::any_of(path, controls))
    return node.wrong("the path has a line break or another control character, which systemd units must not contain",
                      kNext);
  if ((path + "/").find("/../") != std::string::npos)
    return node.wrong("'" + path + "' contains .., which paths in systemd units must not", kNext);
  settings.mps_root = path;
  return {};
}

Status take_environment(const std::function<const char*(const char* name)>& get,
                        const std::function<std::string(const char* name)>& place_of, Settings& settings) {
  for (const auto& [name, set] : kVariables) {
    const char* const value = get(name);
    Status done = value == nullptr ? Status() : set(scalar(value, place_of(name)), settings);
    if (done) continue;
    Error error = std::move(done).error();
    error.code = ErrorCode::usage;
    return error;
  }
  return {};
}

}  // namespace slipway::nvidia::config
