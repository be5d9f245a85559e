// SPDX-License-Identifier: Apache-2.0
#include "sim/model/model.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/yaml/tree.hpp"
#include "sim/model/sim_file.hpp"

namespace slipway::sim {
namespace {

// The format of models, in the schema language of plugin manifests (docs/manifest.md).
constexpr std::string_view kModelSchema = R"(
apiVersion: {type: enum, values: [slipway.dev/sim/v1], required: true, help: version of this format}
model: {type: string, required: true, help: the name as NVML gives it}
brand: {type: enum, values: [tesla, nvidia, rtx, geforce], default: nvidia, help: product line}
architecture:
  type: enum
  values: [volta, turing, ampere, ada, hopper, blackwell]
  required: true
  help: generation
compute: {type: string, pattern: '[0-9]{1,2}\.[0-9]', example: "9.0", required: true, help: CUDA compute capability}
cores: {type: integer, default: 0, help: CUDA cores}
memory_mib: {type: integer, required: true, help: total memory}
reserved_mib: {type: integer, default: 0, help: what the driver keeps for itself}
bar1_mib: {type: integer, default: 256, help: size of BAR 1}
bus_width: {type: integer, default: 0, help: bits}
clocks:
  type: object
  help: MHz of graphics, SM, memory and video
  keys:
    max: {type: list, items: {type: integer}, required: true, help: the highest}
    idle: {type: list, items: {type: integer}, required: true, help: without work}
power_w:
  type: object
  help: watts
  keys:
    default: {type: integer, required: true, help: the limit unless set}
    min: {type: integer, required: true, help: the lowest limit}
    max: {type: integer, required: true, help: the highest limit}
    idle: {type: integer, required: true, help: without work}
temperature:
  type: object
  help: degrees Celsius
  keys:
    idle: {type: integer, required: true, help: without work}
    slowdown: {type: integer, required: true, help: clocks are lowered from here}
    shutdown: {type: integer, required: true, help: the GPU stops here}
fans: {type: integer, default: 0, help: how many}
ecc: {type: boolean, default: false, help: has ECC}
row_remapping: {type: boolean, default: false, help: remaps rows; else retires pages}
links:
  type: object
  help: NVLink
  keys:
    count: {type: integer, default: 0, help: links}
    version: {type: integer, default: 0, help: generation}
    mbytes_per_s: {type: integer, default: 0, help: of one link in one direction}
pcie:
  type: object
  help: PCI Express
  keys:
    generation: {type: integer, required: true, help: generation}
    width: {type: integer, default: 16, help: lanes}
gpm: {type: boolean, default: false, help: has profiling metrics}
c2c_links: {type: integer, default: 0, help: links to a Grace processor}
integrated: {type: boolean, default: false, help: shares its memory with the processor}
vbios: {type: string, default: '', help: version of the video BIOS}
part_number: {type: string, default: '', help: of the board}
mig:
  type: object
  help: Multi-Instance GPU
  keys:
    memory_slices: {type: integer, required: true, help: parts of the memory}
    compute_slices: {type: integer, required: true, help: parts of the processors}
    resetless: {type: boolean, default: false, help: the mode changes without a reset}
    query_when_disabled: {type: boolean, default: true, help: profiles are reported while the mode is off}
    media: {type: list, items: {type: integer}, required: true, help: "decoders, encoders, JPEG and OFA engines"}
    profiles:
      type: list
      required: true
      help: GPU instance profiles
      items:
        type: object
        keys:
          name: {type: string, required: true, help: without MIG in front}
          selector: {type: integer, required: true, help: NVML_GPU_INSTANCE_PROFILE_ number}
          id: {type: integer, required: true, help: what creating takes}
          slices: {type: integer, required: true, help: compute slices}
          max: {type: integer, required: true, help: how many at most}
          size: {type: integer, required: true, help: memory slices}
          starts: {type: list, items: {type: integer}, required: true, help: where one may begin}
          multiprocessors: {type: integer, required: true, help: SMs}
          memory_mib: {type: integer, required: true, help: memory}
          engines: {type: list, items: {type: integer}, required: true, help: "copy, decoder, encoder, JPEG, OFA"}
          graphics: {type: boolean, default: false, help: for graphics as well}
)";

std::uint32_t number(const Json& value) { return value.get<std::uint32_t>(); }

template <std::size_t size>
void set_numbers(std::uint32_t (&place)[size], const Json& list) {
  for (std::size_t i = 0; i < size && i < list.size(); ++i) place[i] = number(list[i]);
}

std::uint32_t architecture_of(const std::string& name) {
  // NVML_DEVICE_ARCH_ numbers, from Volta on.
  static const std::vector<std::string> names{"volta", "turing", "ampere", "ada", "hopper", "blackwell"};
  return 5 + static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin());
}

std::uint32_t brand_of(const std::string& name) {
  if (name == "tesla") return 2;
  if (name == "geforce") return 5;
  return name == "rtx" ? 13 : 14;
}

sim::MigProfile mig_profile(const Json& value) {
  sim::MigProfile profile{};
  sim::set_text(profile.name, value["name"]);
  profile.selector = number(value["selector"]);
  profile.id = number(value["id"]);
  profile.slices = number(value["slices"]);
  profile.max = number(value["max"]);
  profile.size = number(value["size"]);
  profile.multiprocessors = number(value["multiprocessors"]);
  profile.memory_mib = value["memory_mib"].get<std::uint64_t>();
  profile.graphics = value["graphics"].get<bool>() ? 1 : 0;
  std::uint32_t engines[5] = {};
  set_numbers(engines, value["engines"]);
  profile.copy_engines = engines[0];
  profile.decoders = engines[1];
  profile.encoders = engines[2];
  profile.jpeg = engines[3];
  profile.ofa = engines[4];
  set_numbers(profile.starts, value["starts"]);
  profile.start_count =
      std::min<std::uint32_t>(static_cast<std::uint32_t>(value["starts"].size()), sim::kMaxPlacements);
  return profile;
}

sim::MigModel mig_of(const Json& value) {
  sim::MigModel mig{};
  mig.capable = 1;
  mig.memory_slices = number(value["memory_slices"]);
  mig.compute_slices = number(value["compute_slices"]);
  mig.resetless = value["resetless"].get<bool>() ? 1 : 0;
  mig.query_when_disabled = value["query_when_disabled"].get<bool>() ? 1 : 0;
  set_numbers(mig.media, value["media"]);
  for (const Json& profile : value["profiles"]) mig.profiles[mig.profile_count++] = mig_profile(profile);
  return mig;
}

sim::Model model_of(const Json& value) {
  sim::Model model{};
  sim::set_text(model.name, value["model"]);
  sim::set_text(model.vbios, value["vbios"]);
  sim::set_text(model.part_number, value["part_number"]);
  model.brand = brand_of(value["brand"]);
  model.architecture = architecture_of(value["architecture"]);
  const std::string compute = value["compute"];
  model.compute_major = static_cast<std::uint32_t>(std::stoul(compute.substr(0, compute.find('.'))));
  model.compute_minor = static_cast<std::uint32_t>(compute.back() - '0');
  model.cores = number(value["cores"]);
  model.bus_width = number(value["bus_width"]);
  model.integrated = value["integrated"].get<bool>() ? 1 : 0;
  model.memory_mib = value["memory_mib"].get<std::uint64_t>();
  model.reserved_mib = value["reserved_mib"].get<std::uint64_t>();
  model.bar1_mib = value["bar1_mib"].get<std::uint64_t>();
  model.fans = number(value["fans"]);
  model.ecc = value["ecc"].get<bool>() ? 1 : 0;
  model.row_remapping = value["row_remapping"].get<bool>() ? 1 : 0;
  model.gpm = value["gpm"].get<bool>() ? 1 : 0;
  model.c2c_links = number(value["c2c_links"]);
  return model;
}

void add_groups(const Json& value, sim::Model& model) {
  if (const auto clocks = value.find("clocks"); clocks != value.end()) {
    set_numbers(model.clock_max, (*clocks)["max"]);
    set_numbers(model.clock_idle, (*clocks)["idle"]);
  }
  if (const auto power = value.find("power_w"); power != value.end()) {
    model.power_default_mw = number((*power)["default"]) * 1000;
    model.power_min_mw = number((*power)["min"]) * 1000;
    model.power_max_mw = number((*power)["max"]) * 1000;
    model.power_idle_mw = number((*power)["idle"]) * 1000;
  }
  if (const auto heat = value.find("temperature"); heat != value.end()) {
    model.temperature_idle = number((*heat)["idle"]);
    model.temperature_slowdown = number((*heat)["slowdown"]);
    model.temperature_shutdown = number((*heat)["shutdown"]);
  }
  if (const auto links = value.find("links"); links != value.end()) {
    model.links = number((*links)["count"]);
    model.link_version = number((*links)["version"]);
    model.link_mbytes_per_s = number((*links)["mbytes_per_s"]);
  }
  if (const auto pcie = value.find("pcie"); pcie != value.end()) {
    model.pcie_generation = number((*pcie)["generation"]);
    model.pcie_width = number((*pcie)["width"]);
  }
  if (const auto mig = value.find("mig"); mig != value.end()) model.mig = mig_of(*mig);
}

/// Returns the name in a model file's line "model: NAME", without reading the rest.
std::string model_name(const std::string& file) {
  for (const std::string& line : lines_of(read_regular(file, base::kYamlMaxBytes).value_or("")))
    if (line.starts_with("model: ")) return line.substr(7);
  return {};
}

/// Checks the simulator's limits.
void check_sizes(const Json& value, core::SchemaCheck& check) {
  const auto say = [&check](const std::string& key, const std::string& what) {
    check.problems.add(check.positions[key], key, what);
  };
  if (value.contains("links") && number(value["links"]["count"]) > sim::kMaxLinks)
    say("links.count", "the simulator has at most " + std::to_string(sim::kMaxLinks) + " links");
  const auto mig = value.find("mig");
  if (mig == value.end()) return;
  const Json& profiles = (*mig)["profiles"];
  if (profiles.size() > sim::kMaxProfiles)
    say("mig.profiles", "the simulator has at most " + std::to_string(sim::kMaxProfiles) + " profiles");
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const std::string key = "mig.profiles." + std::to_string(i);
    const std::uint32_t slices = number((*mig)["memory_slices"]);
    if (number(profiles[i]["slices"]) == 0 || number(profiles[i]["size"]) == 0)
      say(key, "a profile has at least one slice of each kind");
    if (profiles[i]["starts"].size() > sim::kMaxPlacements)
      say(key + ".starts", "the simulator has at most " + std::to_string(sim::kMaxPlacements) + " of them");
    for (const Json& start : profiles[i]["starts"])
      if (number(start) + number(profiles[i]["size"]) > slices)
        say(key + ".starts", "reaches beyond the memory slices");
  }
}

/// All numbers of the format must be counts and sizes.
void check_signs(const Json& value, const std::string& key, core::SchemaCheck& check) {
  if (value.is_number_integer() && value.get<std::int64_t>() < 0)
    check.problems.add(check.positions[key], key, "is negative");
  if (value.is_number_integer() && value.get<std::int64_t>() > INT32_MAX)
    check.problems.add(check.positions[key], key, "is too big");
  if (!value.is_structured()) return;
  for (const auto& [name, inner] : value.items()) check_signs(inner, core::below(key, name), check);
}

}  // namespace

Result<sim::Model> read_sim_model(const std::string& file) {
  const auto text = read_regular(file, base::kYamlMaxBytes);
  if (!text && text.error().code == ErrorCode::invalid) return text.error();
  if (!text) return Error{ErrorCode::not_found, "the model of a simulated GPU cannot be read", file, {}, {}};
  SLIPWAY_TRY(value, read_sim_file(*text, file, {kModelSchema, "the model of a simulated GPU"},
                                   [](const Json& checked, core::SchemaCheck& check) {
                                     check_signs(checked, "", check);
                                     if (check.problems.none()) check_sizes(checked, check);
                                   }));
  sim::Model model = model_of(value);
  add_groups(value, model);
  return model;
}

Result<sim::Model> find_sim_model(const std::string& name, const std::vector<std::string>& folders) {
  std::set<std::string> known;  // slipway's own file may be in two of the folders
  for (const std::string& folder : below_each(folders, "models"))
    for (const std::string& file : sim_file_names({folder})) {
      const std::string path = find_sim_file(file, {folder});
      const std::string existing = model_name(path);
      if (existing == name) return read_sim_model(path);
      if (!existing.empty()) known.insert(existing);
    }
  return Error{ErrorCode::not_found,
               "the GPU simulator has no model '" + name + "'",
               {},
               known.empty() ? "slipway's models are missing from this installation"
                             : "describe it in a file of the folder models/, or use one of: " + joined(known),
               {}};
}

}  // namespace slipway::sim
