// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/tools.hpp"

#include <filesystem>
#include <sstream>

#include "nvidia/cdi/text.hpp"
#include "toolkit/cdi/component/facts.hpp"
#include "toolkit/cdi/component/machine.hpp"
#include "toolkit/cdi/component/spec_file.hpp"

namespace slipway::toolkit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListUsage =
    "usage: slipway toolkit cdi list [--spec-dir DIR]...\n"
    "\n"
    "Prints the devices that engines find, one on a line; files that they refuse are named in the log.\n"
    "The variable NVIDIA_CTK_CDI_SPEC_DIRS, with commas, stands for the option.\n";
constexpr const char* kValidateUsage =
    "usage: slipway toolkit cdi validate FILE...\n"
    "\n"
    "Checks CDI specs, YAML or JSON, by the rules of the specification. Exit status 1 when one is broken.\n";

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

Result<int> run_list(const std::vector<std::string>& words, const Host& host, ToolIo& io) {
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--spec-dir="))
      folders.push_back(words[i].substr(words[i].find('=') + 1));
    else if (words[i] == "--spec-dir" && i + 1 < words.size())
      folders.push_back(words[++i]);
    else
      return Error{ErrorCode::invalid,
                   "cdi list takes --spec-dir DIR only, not '" + words[i] + "'",
                   "slipway toolkit cdi list",
                   "`slipway toolkit cdi list --help`",
                   {}};
  }
  if (folders.empty()) {
    std::istringstream named(process_environment("NVIDIA_CTK_CDI_SPEC_DIRS"));
    for (std::string folder; std::getline(named, folder, ',');)
      if (!folder.empty()) folders.push_back(folder);
  }
  const SpecFolders found = read_spec_folders(host, folders.empty() ? default_spec_folders() : folders);
  for (const Error& problem : found.problems) io.log("left out: " + problem.what + " (" + problem.where + ")");
  for (const std::string& conflict : found.conflicts) io.log("left out: " + conflict);
  for (const auto& [name, path] : found.devices) io.print(name + "\n");
  return 0;
}

Result<int> run_validate(const std::vector<std::string>& words, const Host& host, ToolIo& io) {
  if (words.empty())
    return Error{ErrorCode::invalid,
                 "no file is named",
                 "slipway toolkit cdi validate",
                 "`slipway toolkit cdi validate /var/run/cdi/nvidia.com-gpu.yaml`",
                 {}};
  int status = 0;
  for (const std::string& word : words) {
    const std::string path = fs::absolute(word).string();
    const auto text = host.read(path, nvidia::cdi::kMaxSpecBytes);
    const auto spec = text ? nvidia::cdi::parse_and_validate(*text, word) : Result<nvidia::cdi::Spec>(text.error());
    if (spec) {
      io.print(word + ": valid, " + spec->kind + " with " + std::to_string(spec->devices.size()) + " devices\n");
      continue;
    }
    io.warn(spec.error().what + " (" + (spec.error().where.empty() ? word : spec.error().where) + ")");
    status = 1;
  }
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
