// SPDX-License-Identifier: Apache-2.0
#include "gfd/config.hpp"

#include <charconv>

namespace slipway::gfd {
namespace {

using std::chrono::milliseconds;

Error wrong(const std::string& what, const std::string& where, const std::string& next) {
  return Error{.code = ErrorCode::invalid, .what = what, .where = where, .next = next};
}

const Json& member(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

constexpr std::int64_t kMostReplicas = 1'000'000;
constexpr milliseconds kShortest{1000};

Status take_resource(const Json& resource, const std::string& where, Sharing& sharing) {
  const Json& named = member(resource, "name");
  std::string name = named.is_string() ? named.get<std::string>() : "";
  if (name.empty()) return wrong("a shared resource has no name", where, "for example nvidia.com/gpu");
  if (name.find('/') == std::string::npos) name = "nvidia.com/" + name;
  const Json& replicas = member(resource, "replicas");
  if (!replicas.is_number_integer() || replicas.get<std::int64_t>() < 2)
    return wrong("replicas of " + name + " is not 2 or more", where, "leave the resource out to share it with nobody");
  if (replicas.get<std::int64_t>() > kMostReplicas)
    return wrong("replicas of " + name + " is more than " + std::to_string(kMostReplicas), where, "name fewer");
  sharing.replicas[name] = replicas.get<unsigned>();
  return {};
}

/// One of `timeSlicing` and `mps`.
Result<Sharing> read_sharing(const Json& section, Sharing::Strategy strategy, const std::string& where) {
  Sharing sharing;
  const Json& rename = member(section, "renameByDefault");
  sharing.rename = rename.is_boolean() && rename.get<bool>();
  const Json& resources = member(section, "resources");
  if (!resources.is_array() || resources.empty())
    return wrong("sharing without resources", where, "list them: resources: [{name: nvidia.com/gpu, replicas: 4}]");
  for (const Json& resource : resources) SLIPWAY_CHECK(take_resource(resource, where, sharing));
  sharing.strategy = strategy;
  return sharing;
}

Status take_sharing(const Json& section, const std::string& where, Config& config) {
  // Where both are given, MPS is what is in force.
  if (const Json& slicing = member(section, "timeSlicing"); !slicing.is_null()) {
    SLIPWAY_TRY(sharing, read_sharing(slicing, Sharing::Strategy::time_slicing, where + ": sharing.timeSlicing"));
    config.sharing = sharing;
  }
  if (const Json& mps = member(section, "mps"); !mps.is_null()) {
    SLIPWAY_TRY(sharing, read_sharing(mps, Sharing::Strategy::mps, where + ": sharing.mps"));
    config.sharing = sharing;
  }
  return {};
}

Status take_flags(const Json& flags, const std::string& where, Config& config) {
  if (const Json& strategy = member(flags, "migStrategy"); strategy.is_string()) {
    SLIPWAY_TRY(parsed, parse_mig_strategy(strategy, where + ": flags.migStrategy"));
    config.mig_strategy = parsed;
  }
  const Json& own = member(flags, "gfd");
  if (const Json& none = member(own, "noTimestamp"); none.is_boolean()) config.timestamp = !none.get<bool>();
  if (const Json& file = member(own, "outputFile"); file.is_string()) config.output = file;
  if (const Json& file = member(own, "machineTypeFile"); file.is_string()) config.machine_type_file = file;
  const Json& interval = member(own, "sleepInterval");
  if (interval.is_string()) {
    SLIPWAY_TRY(parsed, parse_interval(interval, where + ": flags.gfd.sleepInterval"));
    config.interval = parsed;
  } else if (interval.is_number_integer()) {
    const auto given = std::chrono::nanoseconds(interval.get<std::int64_t>());
    config.interval = std::max(std::chrono::duration_cast<milliseconds>(given), kShortest);
  }
  return {};
}

/// Nanoseconds of one unit; 0: no unit.
double unit_of(std::string_view name) {
  if (name == "ns") return 1;
  if (name == "us" || name == "\xc2\xb5s") return 1e3;
  if (name == "ms") return 1e6;
  if (name == "s") return 1e9;
  if (name == "m") return 6e10;
  return name == "h" ? 3.6e12 : 0;
}

}  // namespace

std::string_view to_string(MigStrategy strategy) {
  if (strategy == MigStrategy::single) return "single";
  return strategy == MigStrategy::mixed ? "mixed" : "none";
}

Result<MigStrategy> parse_mig_strategy(const std::string& text, const std::string& where) {
  for (const MigStrategy strategy : {MigStrategy::none, MigStrategy::single, MigStrategy::mixed})
    if (text == to_string(strategy)) return strategy;
  return wrong("there is no MIG strategy '" + text + "'", where, "use none, single or mixed");
}

Result<std::optional<milliseconds>> parse_interval(const std::string& text, const std::string& where) {
  if (text == "infinite") return std::optional<milliseconds>();
  const Error error = wrong("'" + text + "' is no interval", where, "write it like 60s, 1m30s or infinite");
  constexpr double kLongest = 1e18;
  double nanoseconds = 0;
  std::string_view rest = text;
  if (rest.empty()) return error;
  while (!rest.empty()) {
    double amount = 0;
    const auto [end, problem] =
        std::from_chars(rest.data(), rest.data() + rest.size(), amount, std::chars_format::fixed);
    if (problem != std::errc{} || !(amount >= 0 && amount < kLongest)) return error;  // "nan" is read as well
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::string_view name = rest.substr(0, rest.find_first_of("0123456789."));
    if (unit_of(name) == 0) return error;
    nanoseconds += amount * unit_of(name);
    rest.remove_prefix(name.size());
  }
  const auto parsed = std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(nanoseconds, kLongest)));
  // A pass takes milliseconds: less than a second between two would only keep the machine busy.
  return std::optional(std::max(std::chrono::duration_cast<milliseconds>(parsed), kShortest));
}

Status take_upstream_config(const Json& file, const std::string& where, Config& config) {
  if (file.is_null()) return {};
  if (!file.is_object()) return wrong("the configuration is no map", where, "begin it with version: v1");
  const Json& version = member(file, "version");
  if (!version.is_null() && version != "v1")
    return wrong("unknown version of the configuration: " + canonical(version), where, "version: v1 is the only one");
  SLIPWAY_CHECK(take_flags(member(file, "flags"), where, config));
  return take_sharing(member(file, "sharing"), where, config);
}

Result<Config> config_of(const Spec& spec) {
  Config config;
  SLIPWAY_CHECK(take_upstream_config(spec.value("config"), "spec.components.gfd.config", config));
  if (spec.has("mig_strategy")) {
    SLIPWAY_TRY(strategy, parse_mig_strategy(spec.text("mig_strategy"), "spec.components.gfd.mig_strategy"));
    config.mig_strategy = strategy;
  }
  if (spec.has("interval")) {
    SLIPWAY_TRY(interval, parse_interval(spec.text("interval"), "spec.components.gfd.interval"));
    config.interval = interval;
  }
  if (spec.has("output")) config.output = spec.text("output");
  if (!config.output.empty() && !config.output.starts_with('/'))
    return wrong("the path '" + config.output + "' is not absolute", "spec.components.gfd.output",
                 "begin it with /: a service has no working directory");
  if (spec.has("machine_type_file")) config.machine_type_file = spec.text("machine_type_file");
  if (spec.has("timestamp")) config.timestamp = spec.flag("timestamp");
  if (spec.has("operator_labels")) config.operator_labels = spec.flag("operator_labels");
  if (spec.has("driver_root")) config.driver_root = spec.text("driver_root");
  return config;
}

}  // namespace slipway::gfd
