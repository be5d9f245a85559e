// SPDX-License-Identifier: Apache-2.0
#include "core/host/sim_profile.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <regex>
#include <set>

#include <yaml-cpp/yaml.h>

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kApiVersion = "slipway.dev/sim/v1";

/// Reads one profile file; the first thing that is wrong becomes error() and ends the reading.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<SimProfile> read() {
    try {
      read_document(YAML::LoadFile(file_));
    } catch (const YAML::BadFile&) {
      return Error{.code = ErrorCode::not_found,
                   .what = "the simulation profile cannot be read",
                   .where = file_,
                   .next = "give a profile's name, or the path of a readable file"};
    } catch (const YAML::Exception& problem) {
      fail(problem.mark, problem.msg);
    }
    if (error_) return *error_;
    std::sort(profile_.pci.begin(), profile_.pci.end(),
              [](const auto& one, const auto& other) { return one.address < other.address; });
    return profile_;
  }

 private:
  void fail(const YAML::Mark& mark, std::string what) {
    if (error_) return;
    const std::string line = std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
    error_ = Error{.code = ErrorCode::invalid,
                   .what = std::move(what),
                   .where = file_ + ":" + line,
                   .next = "tests/sim/README.md describes the format of simulation profiles"};
  }

  bool has_only(const YAML::Node& map, const std::string& what, const std::set<std::string>& known) {
    if (!map.IsMap()) {
      fail(map.Mark(), what + " must be a map");
      return false;
    }
    for (const auto& entry : map) {
      if (known.contains(entry.first.Scalar())) continue;
      fail(entry.first.Mark(), "unknown key '" + entry.first.Scalar() + "' in " + what);
      return false;
    }
    return true;
  }

  std::string text(const YAML::Node& map, const std::string& key, bool required = true) {
    const YAML::Node value = map[key];
    if (value && value.IsScalar() && !value.Scalar().empty()) return value.Scalar();
    if (value || required) fail(value ? value.Mark() : map.Mark(), "'" + key + "' must be a text");
    return {};
  }

  std::uint64_t number(const YAML::Node& map, const std::string& key) {
    const std::string digits = text(map, key);
    std::uint64_t value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end.ec != std::errc() || end.ptr != digits.data() + digits.size())
      fail(map[key].Mark(), "'" + key + "' must be a number, not '" + digits + "'");
    return value;
  }

  /// A PCI id: "0x" and exactly `digits` hexadecimal digits, as sysfs prints it.
  std::uint32_t id(const YAML::Node& map, const std::string& key, std::size_t digits) {
    const std::string value = text(map, key);
    std::uint32_t result = 0;
    const char* end = value.data() + value.size();
    const bool shaped = value.size() == digits + 2 && value.starts_with("0x");
    if (!shaped || std::from_chars(value.data() + 2, end, result, 16).ptr != end)
      fail(map[key].Mark(), "'" + key + "' must be 0x and " + std::to_string(digits) + " digits, not '" + value + "'");
    return result;
  }

  void read_document(const YAML::Node& document) {
    if (!has_only(document, "the profile",
                  {"apiVersion", "name", "about", "machine", "pci", "modules", "character_majors", "nvml"}))
      return;
    if (text(document, "apiVersion") != kApiVersion)
      fail(document["apiVersion"].Mark(), "'apiVersion' must be " + std::string(kApiVersion));
    profile_.name = text(document, "name");
    profile_.about = text(document, "about");
    if (!document["machine"]) return fail(document.Mark(), "'machine' is missing");
    read_machine(document["machine"]);
    read_list(document, "pci", &Reader::read_group);
    read_list(document, "modules", &Reader::read_module);
    read_list(document, "character_majors", &Reader::read_major);
  }

  void read_list(const YAML::Node& map, const std::string& key, void (Reader::*read_item)(const YAML::Node&)) {
    const YAML::Node list = map[key];
    if (!list) return;
    if (!list.IsSequence()) return fail(list.Mark(), "'" + key + "' must be a list");
    for (const auto& item : list) (this->*read_item)(item);
  }

  void read_machine(const YAML::Node& machine) {
    if (!has_only(machine, "'machine'", {"arch", "kernel", "secure_boot"})) return;
    profile_.arch = text(machine, "arch");
    profile_.kernel_release = text(machine, "kernel");
    if (!machine["secure_boot"]) return;
    const std::string value = text(machine, "secure_boot");
    if (value != "true" && value != "false") fail(machine["secure_boot"].Mark(), "'secure_boot' must be true or false");
    profile_.secure_boot = value == "true";
  }

  void read_group(const YAML::Node& group) {
    if (!has_only(group, "an entry of 'pci'",
                  {"role", "model", "vendor", "device", "subsystem_vendor", "subsystem_device", "class", "at"}))
      return;
    SimPciFunction function;
    function.role = text(group, "role");
    if (function.role != "gpu" && function.role != "nvswitch" && function.role != "other")
      fail(group["role"].Mark(), "'role' must be gpu, nvswitch or other");
    function.model = text(group, "model", false);
    function.vendor = static_cast<std::uint16_t>(id(group, "vendor", 4));
    function.device = static_cast<std::uint16_t>(id(group, "device", 4));
    function.device_class = id(group, "class", 6);
    for (const auto& [key, member] : {std::pair{"subsystem_vendor", &function.subsystem_vendor},
                                      std::pair{"subsystem_device", &function.subsystem_device}})
      if (group[key]) *member = static_cast<std::uint16_t>(id(group, key, 4));
    if (!group["at"] || !group["at"].IsSequence()) return fail(group.Mark(), "'at' must be a list of addresses");
    for (const auto& place : group["at"]) read_place(place, function);
  }

  void read_place(const YAML::Node& place, SimPciFunction function) {
    if (!has_only(place, "an entry of 'at'", {"address", "numa_node"})) return;
    static const std::regex shape("[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]");
    function.address = text(place, "address");
    if (!std::regex_match(function.address, shape))
      fail(place["address"].Mark(), "'address' must look like 0000:1b:00.0, not '" + function.address + "'");
    if (!addresses_.insert(function.address).second)
      fail(place["address"].Mark(), "the address " + function.address + " is there twice");
    if (place["numa_node"]) function.numa_node = static_cast<unsigned>(number(place, "numa_node"));
    profile_.pci.push_back(std::move(function));
  }

  void read_module(const YAML::Node& module) {
    if (!has_only(module, "an entry of 'modules'", {"name", "version", "size_bytes"})) return;
    SimModule result{.name = text(module, "name"), .version = text(module, "version", false)};
    if (module["size_bytes"]) result.size_bytes = number(module, "size_bytes");
    profile_.modules.push_back(std::move(result));
  }

  void read_major(const YAML::Node& entry) {
    if (!has_only(entry, "an entry of 'character_majors'", {"major", "name"})) return;
    profile_.character_majors.emplace_back(static_cast<unsigned>(number(entry, "major")), text(entry, "name"));
  }

  std::string file_;
  SimProfile profile_;
  std::set<std::string> addresses_;
  std::optional<Error> error_;
};

std::string find(const std::string& name, const std::vector<std::string>& folders) {
  for (const auto& folder : folders) {
    const fs::path file = fs::path(folder) / (name + ".yaml");
    if (fs::is_regular_file(file)) return file.string();
  }
  return {};
}

/// "h100x2" is MODELxCOUNT: the model and the count; a count of 0 when it is not of that form.
std::pair<std::string, std::size_t> model_and_count(const std::string& name) {
  const auto cross = name.rfind('x');
  std::size_t count = 0;
  if (cross == std::string::npos || cross == 0) return {name, 0};
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + cross + 1, end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {name, 0};
  return {name.substr(0, cross), count};
}

/// A part of a bigger machine, as a virtual machine with some of its GPUs shows it: no switch is passed through.
SimProfile first_gpus(SimProfile profile, const std::string& name, std::size_t count) {
  profile.name = name;
  profile.about = "the first " + std::to_string(count) + " of: " + profile.about;
  std::erase_if(profile.pci, [&count](const SimPciFunction& function) {
    if (function.role == "nvswitch") return true;
    if (function.role != "gpu" || count == 0) return function.role == "gpu";
    --count;
    return false;
  });
  return profile;
}

Error unknown_profile(const std::string& name, const std::vector<std::string>& folders) {
  std::string known;
  for (const auto& other : sim_profile_names(folders)) known += (known.empty() ? "" : ", ") + other;
  Error error{.code = ErrorCode::not_found,
              .what = "there is no simulation profile '" + name + "'",
              .where = "--sim " + name,
              .next = "use one of: " + known + "; a smaller count, as in h100x2; or the path of a profile of your own"};
  if (!known.empty()) return error;
  error.next = "give the path of a profile file: slipway's own are missing from this installation";
  for (const auto& folder : folders) error.details.emplace_back("looked in", folder);
  return error;
}

}  // namespace

Result<SimProfile> read_sim_profile(const std::string& name_or_file, const std::vector<std::string>& folders) {
  if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".yaml"))
    return Reader(name_or_file).read();
  if (const auto file = find(name_or_file, folders); !file.empty()) return Reader(file).read();
  const auto [model, count] = model_and_count(name_or_file);
  if (count == 0) return unknown_profile(name_or_file, folders);
  for (const auto& other : sim_profile_names(folders)) {
    const auto [other_model, other_count] = model_and_count(other);
    if (other_model != model || other_count < count) continue;
    SLIPWAY_TRY(profile, Reader(find(other, folders)).read());
    return first_gpus(std::move(profile), name_or_file, count);
  }
  return unknown_profile(name_or_file, folders);
}

std::vector<std::string> sim_profile_folders() {
  std::vector<std::string> folders;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const auto& folder : {program.parent_path().parent_path() / "share/slipway/sim", fs::path(SLIPWAY_SIM_FOLDER),
                             fs::path(SLIPWAY_SIM_SOURCE_FOLDER)})
    if (fs::is_directory(folder, ignored)) folders.push_back(folder.string());
  return folders;
}

std::vector<std::string> sim_profile_names(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

}  // namespace slipway::core
