// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/tools.hpp"

#include <algorithm>
#include <filesystem>

#include <slipway/text.hpp>

#include "nvidia/cdi/text.hpp"
#include "toolkit/cdi/component/facts.hpp"
#include "toolkit/cdi/component/machine.hpp"
#include "toolkit/cdi/component/spec_file.hpp"
#include "toolkit/options.hpp"

namespace slipway::toolkit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListUsage =
    "usage: slipway toolkit cdi list [--spec-dir DIR]... [-o text|json]\n"
    "\n"
    "Prints the devices that engines find, one on a line. Files that engines refuse, and devices that two files of "
    "one\n"
    "folder have, are named on standard error: engines find none of these. DIR is by default /etc/cdi and "
    "/var/run/cdi,\n"
    "of which a later one outranks those before it.\n"
    "The variable NVIDIA_CTK_CDI_SPEC_DIRS, with commas, stands for the option.\n";
constexpr const char* kValidateUsage =
    "usage: slipway toolkit cdi validate FILE... [-o text|json]\n"
    "\n"
    "Checks CDI specs, YAML or JSON, by the rules of the specification. Exit status 1 when one is broken.\n";

/// Takes "-o text" and "-o json" out of the words. @return whether JSON is asked for
Result<bool> take_form(std::vector<std::string>& words, const std::string& tool) {
  bool json = false;
  for (auto at = std::ranges::find(words, "-o"); at != words.end(); at = std::ranges::find(words, "-o")) {
    if (at + 1 == words.end()) return usage_error(tool, "-o needs a value");
    if (*(at + 1) != "text" && *(at + 1) != "json")
      return usage_error(tool, "-o takes text or json, not '" + *(at + 1) + "'");
    json = *(at + 1) == "json";
    words.erase(at, at + 2);
  }
  return json;
}

std::string document(const std::string& kind, Json members) {
  members.update({{"apiVersion", "slipway.dev/v1"}, {"kind", kind}});
  return pretty(members);
}

std::string absolute(const std::string& path) { return fs::absolute(path).lexically_normal().string(); }

/// "nvidia.yaml" -> "nvidia.coherent.yaml".
std::string with_suffix(const std::string& path, const std::string& suffix) {
  if (path.empty()) return path;
  fs::path file(path);
  return file.replace_extension(suffix + file.extension().string()).string();
}

/// To the file that was asked for, else to the standard output.
Status put(const nvidia::cdi::Spec& spec, const GenerateArguments& arguments, const std::string& path, ToolIo& io) {
  if (path.empty()) {
    io.print(spec_text(spec, arguments.json));
    return {};
  }
  SLIPWAY_CHECK(write_spec(path, spec, arguments.json));
  io.log("wrote " + path + ": " + spec.kind + ", " + std::to_string(spec.devices.size()) + " devices");
  return {};
}

Result<int> run_generate(const std::vector<std::string>& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(arguments, parse_generate_arguments(words, process_environment));
  SLIPWAY_TRY(machine, Machine::open(host, arguments.driver_root, arguments.dev_root));
  Inventory inventory;
  if (needs_inventory(arguments.options.mode)) {
    SLIPWAY_TRY(found, machine.inventory());
    inventory = std::move(found);
  }
  SLIPWAY_TRY(spec, generate(arguments.options, machine.roots(), inventory));
  SLIPWAY_CHECK(put(spec, arguments, arguments.output, io));
  for (const std::string& program : missing_hook_programs(spec, host))
    io.warn(missing_hook_text(program) +
            "; install slipway-cdi-hook there, name another with --nvidia-cdi-hook-path, or leave the hooks out with "
            "--disable-hook all");
  const auto halves = arguments.options.coherent ? split_coherent(spec) : std::vector<CoherentHalf>{};
  for (const CoherentHalf& half : halves)
    SLIPWAY_CHECK(put(half.spec, arguments, with_suffix(arguments.output, half.suffix), io));
  return 0;
}

Json to_json(const SpecFolders& found) {
  Json json{{"devices", Json::array()}, {"conflicts", Json::array()}, {"problems", Json::array()}};
  for (const auto& [name, path] : found.devices) json["devices"].push_back({{"name", name}, {"path", path}});
  for (const SpecConflict& each : found.conflicts)
    json["conflicts"].push_back(
        {{"paths", {each.first, each.second}}, {"devices", each.devices}, {"next", remedy_for(each)}});
  for (const Error& problem : found.problems) json["problems"].push_back(slipway::to_json(problem));
  return json;
}

Result<int> run_list(std::vector<std::string> words, const Host& host, ToolIo& io) {
  constexpr const char* kList = "slipway toolkit cdi list";
  SLIPWAY_TRY(json, take_form(words, kList));
  std::vector<std::string> folders;
  const Option folder{false, [&folders](const std::string& value) -> Status {
                        folders.push_back(absolute(value));
                        return {};
                      }};
  SLIPWAY_CHECK(take_options(words, {{"--spec-dir", folder}}, kList));
  if (folders.empty())
    for (const std::string& each : split_list(process_environment("NVIDIA_CTK_CDI_SPEC_DIRS")))
      folders.push_back(absolute(each));
  const SpecFolders found = read_spec_folders(host, folders.empty() ? default_spec_folders() : folders);
  for (const Error& problem : found.problems) io.warn("left out: " + problem.what + " (" + problem.where + ")");
  for (const SpecConflict& conflict : found.conflicts)
    io.warn(to_text(conflict) + ", so engines find them nowhere: " + remedy_for(conflict));
  if (json) io.print(document("CdiDevices", to_json(found)));
  for (const auto& [name, path] : found.devices)
    if (!json) io.print(name + "\n");
  return 0;
}

Result<int> run_validate(std::vector<std::string> words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(json, take_form(words, "slipway toolkit cdi validate"));
  for (const std::string& word : words)
    if (word.starts_with('-')) return usage_error("slipway toolkit cdi validate", "unknown option '" + word + "'");
  if (words.empty())
    return Error{ErrorCode::usage,
                 "no file is named",
                 "command line",
                 "`slipway toolkit cdi validate /var/run/cdi/nvidia.com-gpu.yaml`",
                 {}};
  int status = 0;
  Json files = Json::array();
  for (const std::string& word : words) {
    const auto text = host.read(absolute(word), nvidia::cdi::kMaxSpecBytes);
    const auto spec = text ? nvidia::cdi::parse_and_validate(*text, word) : Result<nvidia::cdi::Spec>(text.error());
    if (spec) {
      files.push_back({{"path", word}, {"valid", true}, {"kind", spec->kind}, {"devices", spec->devices.size()}});
      if (!json)
        io.print(word + ": valid, " + spec->kind + " with " + std::to_string(spec->devices.size()) + " devices\n");
      continue;
    }
    files.push_back({{"path", word}, {"valid", false}, {"error", slipway::to_json(spec.error())}});
    io.warn(spec.error().what + " (" + (spec.error().where.empty() ? word : spec.error().where) + ")");
    status = 1;
  }
  if (json) io.print(document("CdiValidation", {{"files", files}}));
  return status;
}

}  // namespace

std::vector<ToolInfo> CdiTools::list() const {
  return {{"generate", "writes the CDI spec of this machine's GPUs", generate_usage()},
          {"list", "prints the devices of the CDI specs that engines find", kListUsage},
          {"transform", "moves the paths of a CDI spec to another root", transform_usage()},
          {"validate", "checks CDI specs", kValidateUsage}};
}

Result<int> CdiTools::run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                          ToolIo& io) const {
  for (const std::string& argument : arguments) {
    if (argument != "--help" && argument != "-h") continue;
    const auto tools = list();
    for (const ToolInfo& each : tools)
      if (each.name == tool) io.print(each.usage);
    return 0;
  }
  if (tool == "generate") return run_generate(arguments, host, io);
  if (tool == "list") return run_list(arguments, host, io);
  if (tool == "transform") return run_transform(arguments, host, io);
  return run_validate(arguments, host, io);
}

}  // namespace slipway::toolkit
