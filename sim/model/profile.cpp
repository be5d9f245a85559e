// SPDX-License-Identifier: Apache-2.0
#include "sim/model/profile.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <slipway/action.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/yaml/tree.hpp"
#include "core/loader/installation.hpp"
#include "sim/model/sim_file.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;

// The format of profiles, in the schema language of plugin manifests (docs/manifest.md).
constexpr std::string_view kProfileSchema = R"(
apiVersion: {type: enum, values: [slipway.dev/sim/v1], required: true, help: version of this format}
name: {type: string, required: true, help: the name of the file without .yaml}
about: {type: string, required: true, help: one sentence for lists}
machine:
  type: object
  required: true
  help: the machine as a whole
  keys:
    arch: {type: string, required: true, help: as uname -m prints it}
    kernel: {type: string, required: true, help: release of the kernel that runs there}
    secure_boot: {type: boolean, help: no value stands for no EFI}
    product: {type: string, help: what DMI calls the machine}
pci:
  type: list
  help: PCI functions, one entry per model
  items:
    type: object
    keys:
      role: {type: enum, values: [gpu, nvswitch, other], required: true, help: what it is}
      model: {type: string, help: name as NVML gives it}
      vendor: {type: string, pattern: '0x[0-9a-f]{4}', expects: four hexadecimal digits after 0x,
        example: "0x10de", required: true, help: as in sysfs}
      device: {type: string, pattern: '0x[0-9a-f]{4}', expects: four hexadecimal digits after 0x,
        example: "0x2330", required: true, help: as in sysfs}
      subsystem_vendor: {type: string, pattern: '0x[0-9a-f]{4}', expects: four hexadecimal digits after 0x,
        help: as in sysfs}
      subsystem_device: {type: string, pattern: '0x[0-9a-f]{4}', expects: four hexadecimal digits after 0x,
        help: as in sysfs}
      class: {type: string, pattern: '0x[0-9a-f]{6}', example: "0x030200", required: true, help: as in sysfs}
      at:
        type: list
        required: true
        help: where it sits
        items:
          type: object
          keys:
            address:
              type: string
              pattern: '[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]'
              example: "0000:1b:00.0"
              required: true
              help: PCI address
            numa_node: {type: integer, help: no value where the kernel does not know it}
            pcie_switch: {type: integer, help: those with the same number sit at one PCIe switch}
modules:
  type: list
  help: kernel modules that are loaded
  items:
    type: object
    keys:
      name: {type: string, required: true, help: with _ as in /proc/modules}
      version: {type: string, help: of /sys/module/NAME/version}
      size_bytes: {type: integer, default: 0, help: second field of /proc/modules}
character_majors:
  type: list
  help: further lines of /proc/devices
  items:
    type: object
    keys:
      major: {type: integer, required: true, help: number}
      name: {type: string, required: true, help: name}
files:
  type: map
  items: {type: string}
  help: further files of the kernel, by their path below /sys, /proc or /dev
links:
  type: map
  items: {type: string}
  help: likewise, what links there point to
nodes:
  type: map
  help: character devices below /dev
  items:
    type: object
    keys:
      major: {type: integer, required: true, least: 0, most: 4095, help: number}
      minor: {type: integer, required: true, least: 0, most: 1048575, help: number}
nvml:
  type: object
  help: the driver that answers on the machine
  keys:
    driver_version: {type: string, pattern: '[0-9]{3}\.[0-9]{1,3}(\.[0-9]{1,3})?', default: "550.90.07", help: its version}
    costs: {type: string, help: "what its calls cost, for the setting costs=on: a file of the folder costs, without .yaml"}
    cuda_version: {type: string, pattern: '[0-9]{2}\.[0-9]', default: "12.4", help: the newest CUDA that it supports}
    links:
      type: list
      help: NVLinks from GPU to GPU; without any, all links go to NVSwitches
      items:
        type: object
        keys:
          gpus: {type: list, items: {type: integer}, example: [0, 1], required: true, help: the two by address order}
          count: {type: integer, default: 1, help: how many links}
    fabric:
      type: object
      help: the NVLink fabric of several nodes that the machine is part of
      keys:
        cluster:
          type: string
          pattern: '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
          example: 7b968a6d-c8aa-45e1-9e07-e1e51be99c31
          required: true
          help: its UUID
        clique: {type: integer, default: 0, help: the part that this machine is in}
)";

/// Reads an id that the schema has checked: "0x" and hexadecimal digits.
std::uint32_t id(const Json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  std::uint32_t value = 0;
  std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, 16);
  return value;
}

std::optional<std::uint16_t> optional_id(const Json& group, const char* key) {
  if (!group.contains(key)) return std::nullopt;
  return static_cast<std::uint16_t>(id(group[key]));
}

SimPciFunction function_of(const Json& group, const Json& place) {
  SimPciFunction function{.role = group["role"], .model = group.value("model", ""), .address = place["address"]};
  function.vendor = static_cast<std::uint16_t>(id(group["vendor"]));
  function.device = static_cast<std::uint16_t>(id(group["device"]));
  function.device_class = id(group["class"]);
  function.subsystem_vendor = optional_id(group, "subsystem_vendor");
  function.subsystem_device = optional_id(group, "subsystem_device");
  if (place.contains("numa_node")) function.numa_node = place["numa_node"].get<unsigned>();
  if (place.contains("pcie_switch")) function.pcie_switch = place["pcie_switch"].get<unsigned>();
  return function;
}

void read_driver(const Json& value, SimProfile& profile) {
  profile.driver_version = value.value("driver_version", "550.90.07");
  const std::string cuda = value.value("cuda_version", "12.4");
  profile.cuda_version = 1000 * static_cast<unsigned>(std::stoul(cuda)) + 10 * static_cast<unsigned>(cuda.back() - '0');
  profile.costs = value.value("costs", "");
  const Json links = value.value("links", Json::array());
  profile.direct_links = !links.empty();
  for (const Json& link : links)
    profile.links.push_back({link["gpus"][0], link["gpus"][1], link["count"].get<unsigned>()});
  const Json fabric = value.value("fabric", Json::object());
  profile.fabric_cluster = fabric.value("cluster", "");
  profile.fabric_clique = fabric.value("clique", 0U);
}

SimProfile profile_of(const Json& value) {
  const Json none = Json::array();
  SimProfile profile{.name = value["name"], .about = value["about"]};
  profile.arch = value["machine"]["arch"];
  profile.kernel_release = value["machine"]["kernel"];
  if (value["machine"].contains("secure_boot")) profile.secure_boot = value["machine"]["secure_boot"].get<bool>();
  for (const Json& group : value.value("pci", none))
    for (const Json& place : group["at"]) profile.pci.push_back(function_of(group, place));
  for (const Json& module : value.value("modules", none))
    profile.modules.push_back({module["name"], module.value("version", ""), module["size_bytes"]});
  for (const Json& entry : value.value("character_majors", none))
    profile.character_majors.emplace_back(entry["major"], entry["name"]);
  profile.files = value.value("files", profile.files);
  profile.file_links = value.value("links", profile.file_links);
  const Json nodes = value.value("nodes", Json::object());
  for (const auto& [path, node] : nodes.items())
    profile.nodes[path] = {node["major"].get<unsigned>(), node["minor"].get<unsigned>()};
  std::ranges::sort(profile.pci, {}, &SimPciFunction::address);
  profile.product = value["machine"].value("product", "");
  read_driver(value.value("nvml", Json::object()), profile);
  return profile;
}

/// Checks that links connect two different existing GPUs.
void check_links(const Json& value, core::SchemaCheck& check) {
  std::int64_t gpus = 0;
  const Json groups = value.value("pci", Json::array());
  for (const Json& group : groups)
    if (group["role"] == "gpu") gpus += static_cast<std::int64_t>(group["at"].size());
  const Json links = value.value("nvml", Json::object()).value("links", Json::array());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string key = "nvml.links." + std::to_string(i);
    const Json& ends = links[i]["gpus"];
    const auto existing = [gpus](const Json& end) {
      return end.get<std::int64_t>() >= 0 && end.get<std::int64_t>() < gpus;
    };
    if (ends.size() != 2 || !existing(ends[0]) || !existing(ends[1]) || ends[0] == ends[1])
      check.problems.add(check.positions[key + ".gpus"], key, "a link joins two different GPUs of the machine",
                         "number them from 0 in the order of their addresses");
    if (links[i].value("count", 1) < 1)
      check.problems.add(check.positions[key + ".count"], key, "there is at least one link", "leave the entry out");
  }
}

/// Checks rules beyond the schema: addresses must be unique, and numbers not negative.
void check_rest(const Json& value, core::SchemaCheck& check) {
  std::set<std::string> addresses;
  const Json groups = value.value("pci", Json::array());
  for (const auto& [group, entry] : groups.items()) {
    for (const auto& [place, where] : entry["at"].items()) {
      const std::string key = "pci." + group + ".at." + place;
      const std::string address = where["address"];
      if (!addresses.insert(address).second)
        check.problems.add(check.positions[key + ".address"], key, "the address " + address + " appears twice");
      for (const char* number : {"numa_node", "pcie_switch"})
        if (where.value(number, 0) < 0)
          check.problems.add(check.positions[key + "." + number], key, std::string(number) + " is not negative",
                             "leave it out where it is not known");
    }
  }
  for (const char* kind : {"files", "links", "nodes"}) {
    const Json entries = value.value(kind, Json::object());
    for (const auto& [path, what] : entries.items()) {
      const auto normal = normal_path(path);
      const bool of_kernel = path.starts_with("/dev/") || (std::string_view(kind) != "nodes" &&
                                                           (path.starts_with("/sys/") || path.starts_with("/proc/")));
      if (!normal || *normal != path || !of_kernel)
        check.problems.add(check.positions[std::string(kind) + "." + path], kind,
                           "'" + path + "' is not a path of the kernel's",
                           std::string("write an absolute path below ") +
                               (std::string_view(kind) == "nodes" ? "/dev" : "/sys, /proc or /dev") + ", without '..'");
    }
  }
  check_links(value, check);
}

Result<SimProfile> read_file(const std::string& file) {
  const auto text = read_regular(file, base::kYamlMaxBytes);
  if (!text && text.error().code == ErrorCode::invalid) return text.error();
  if (!text)
    return Error{ErrorCode::not_found,
                 "the simulation profile cannot be read",
                 file,
                 "give a profile's name (`slipway plan --sim h100x8 …`), or the path of a readable file",
                 {}};
  SLIPWAY_TRY(value, read_sim_file(*text, file, {kProfileSchema, "a simulation profile"}, check_rest));
  SimProfile profile = profile_of(value);
  profile.text = *text;
  return profile;
}

/// Splits "h100x2", which is MODELxCOUNT; the count is 0 when the name has another form.
std::pair<std::string, std::size_t> model_and_count(const std::string& name) {
  const auto cross = name.rfind('x');
  std::size_t count = 0;
  if (cross == std::string::npos || cross == 0) return {name, 0};
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + cross + 1, end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {name, 0};
  return {name.substr(0, cross), count};
}

/// Returns a part of a bigger machine, like a virtual machine with some of its GPUs: switches are not passed through.
SimProfile first_gpus(SimProfile profile, const std::string& name, std::size_t count) {
  profile.name = name;
  profile.about = "the first " + std::to_string(count) + " of: " + profile.about;
  std::erase_if(profile.pci, [&count](const SimPciFunction& function) {
    if (function.role == "nvswitch") return true;
    if (function.role != "gpu" || count == 0) return function.role == "gpu";
    --count;
    return false;
  });
  const auto gpus = std::ranges::count(profile.pci, "gpu", &SimPciFunction::role);
  std::erase_if(profile.links, [gpus](const SimLinks& link) { return std::max(link.first, link.second) >= gpus; });
  return profile;
}

Error unknown_profile(const std::string& name, const std::vector<std::string>& folders) {
  const std::vector<std::string> names = sim_profile_names(folders);
  const std::string known = joined(names);
  const std::string near = nearest_word(name, names);
  Error error{.code = ErrorCode::not_found,
              .what = "there is no simulation profile '" + name + "'",
              .where = "--sim " + name,
              .next = (near.empty() ? "" : "did you mean '" + near + "'? Else ") + "use one of: " + known +
                      "; a smaller count, as in h100x2; or the path of a profile of your own"};
  if (!known.empty()) return error;
  error.next = "install slipway-sim, which contains the profiles, or give the path of a profile file";
  for (const auto& folder : folders) error.details.emplace_back("looked in", folder);
  return error;
}

}  // namespace

namespace {

/// Removes ",KEY=VALUE,…" from the end of a profile's name.
std::vector<std::pair<std::string, std::string>> take_settings(std::string& name) {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto comma = name.find(',');
  if (comma == std::string::npos) return settings;
  const std::vector<std::string> parts = split_list(std::string_view(name).substr(comma + 1));
  name.resize(comma);
  for (const std::string& part : parts) {
    const auto equals = std::min(part.find('='), part.size());
    settings.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
  }
  return settings;
}

Result<SimProfile> read_named(const std::string& name_or_file, const std::vector<std::string>& folders) {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".yaml")) return read_file(name_or_file);
  if (const auto file = find_sim_file(name_or_file, folders); !file.empty()) return read_file(file);
  const auto [model, count] = model_and_count(name_or_file);
  if (count == 0) return unknown_profile(name_or_file, folders);
  for (const auto& other : sim_profile_names(folders)) {
    const auto [other_model, other_count] = model_and_count(other);
    if (other_model != model || other_count < count) continue;
    SLIPWAY_TRY(profile, read_file(find_sim_file(other, folders)));
    return first_gpus(std::move(profile), name_or_file, count);
  }
  return unknown_profile(name_or_file, folders);
}

}  // namespace

Result<SimProfile> read_sim_profile(const std::string& name_or_file, const std::vector<std::string>& folders) {
  std::string name = name_or_file;
  auto settings = take_settings(name);
  SLIPWAY_TRY(profile, read_named(name, folders));
  profile.settings = std::move(settings);
  return std::move(profile);
}

std::vector<std::string> sim_profile_folders() {
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const auto& folder :
       {core::own_prefix() / "share/slipway/sim", fs::path(SLIPWAY_SIM_FOLDER), fs::path(SLIPWAY_SIM_SOURCE_FOLDER)})
    if (fs::is_directory(folder, ignored)) folders.push_back(folder.string());
  return folders;
}

std::vector<std::string> sim_profile_names(const std::vector<std::string>& folders) { return sim_file_names(folders); }

}  // namespace slipway::sim
