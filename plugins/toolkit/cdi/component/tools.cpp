// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/tools.hpp"

#include <cstdlib>
#include <filesystem>

#include "nvidia/cdi/folders.hpp"
#include "nvidia/cdi/text.hpp"
#include "toolkit/cdi/component/facts.hpp"
#include "toolkit/cdi/component/machine.hpp"
#include "toolkit/cdi/programs.hpp"

namespace slipway::toolkit {
namespace {

namespace fs = std::filesystem;

CommandOption form() { return {"o", "text|json", "output format (default: text)"}; }

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

/// Writes to the requested file, else to standard output.
Status put(const nvidia::cdi::Spec& spec, const GenerateArguments& arguments, const std::string& path, ToolIo& io) {
  if (path.empty()) {
    io.print(spec_text(spec, arguments.json));
    return {};
  }
  SLIPWAY_CHECK(write_spec(path, spec, arguments.json));
  io.log("wrote " + path + ": " + spec.kind + ", " + std::to_string(spec.devices.size()) + " devices");
  return {};
}

Result<int> run_generate(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(arguments, generate_arguments(words));
  SLIPWAY_TRY(machine, Machine::open(host, arguments.driver_root, arguments.dev_root));
  const bool needs_gpus = needs_inventory(arguments.options.mode);
  if (needs_gpus) machine.begin_inventory();
  const auto inventory = [&]() -> Result<Inventory> {
    if (!needs_gpus) return Inventory();
    SLIPWAY_TRY(found, machine.inventory());
    for (const LostNote& lost : lost_notes(found)) io.warn(lost.text + "; " + lost.remedy);
    return found;
  };
  arguments.options.program_folders = folders_of_path(std::getenv("PATH"));
  std::vector<std::string> notes;
  SLIPWAY_TRY(spec, generate(arguments.options, machine.roots(), inventory, notes));
  for (const std::string& note : notes) io.warn(note);
  SLIPWAY_CHECK(put(spec, arguments, arguments.output, io));
  for (const std::string& program : missing_hook_programs(spec, host))
    io.warn(missing_hook_text(program) +
            "; install slipway-cdi-hook there, name another with --nvidia-cdi-hook-path, or leave the hooks out with "
            "--disable-hook all");
  // Standard output gets one spec only.
  const bool splits = arguments.options.coherent && !arguments.output.empty();
  const auto halves = splits ? split_coherent(spec) : std::vector<CoherentHalf>{};
  for (const CoherentHalf& half : halves)
    SLIPWAY_CHECK(put(half.spec, arguments, with_suffix(arguments.output, half.suffix), io));
  return 0;
}

Json to_json(const nvidia::cdi::SpecFolders& found) {
  Json json{{"devices", Json::array()}, {"conflicts", Json::array()}, {"problems", Json::array()}};
  for (const auto& [name, path] : found.devices) json["devices"].push_back({{"name", name}, {"path", path}});
  for (const nvidia::cdi::SpecConflict& each : found.conflicts)
    json["conflicts"].push_back(
        {{"paths", {each.first, each.second}}, {"devices", each.devices}, {"next", remedy_for(each)}});
  for (const Error& problem : found.problems) json["problems"].push_back(slipway::to_json(problem));
  return json;
}

/// One of several folders may be missing, as /etc/cdi often is.
Status expect_a_folder(const std::vector<std::string>& folders, const Host& host, ToolIo& io) {
  std::vector<Error> missing;
  for (const std::string& folder : folders)
    if (const auto names = host.list(folder); !names) missing.push_back(names.error());
  if (!missing.empty() && missing.size() == folders.size()) {
    missing.front().next = "name a folder of CDI specs with --spec-dir; without it, those of engines are read";
    return missing.front();
  }
  for (const Error& error : missing) io.warn("left out: " + error.what + " (" + error.where + ")");
  return {};
}

Result<int> run_list(const CommandWords& words, const Host& host, ToolIo& io) {
  const bool json = words.text("o") == "json";
  std::vector<std::string> folders;
  for (const std::string& each : words.list("spec-dir")) folders.push_back(absolute(each));
  SLIPWAY_CHECK(expect_a_folder(folders, host, io));
  const nvidia::cdi::SpecFolders found =
      nvidia::cdi::read_spec_folders(host, folders.empty() ? nvidia::cdi::default_spec_folders() : folders);
  for (const Error& problem : found.problems) io.warn("left out: " + problem.what + " (" + problem.where + ")");
  for (const nvidia::cdi::SpecConflict& conflict : found.conflicts)
    io.warn(to_text(conflict) + ", so engines find them nowhere: " + remedy_for(conflict));
  if (json) io.print(document("CdiDevices", to_json(found)));
  for (const auto& [name, path] : found.devices)
    if (!json) io.print(name + "\n");
  return 0;
}

/// Combines the errors of several files, with a line for each.
Error broken_specs(const std::vector<std::pair<std::string, Error>>& broken, std::size_t all) {
  if (broken.size() == 1) {
    Error error = broken.front().second;
    if (error.where.empty()) error.where = broken.front().first;
    if (error.next.empty()) error.next = "name files of CDI specs, YAML or JSON";
    return error;
  }
  Error error{.code = ErrorCode::invalid,
              .what = std::to_string(broken.size()) + " of " + std::to_string(all) + " files are not CDI specs",
              .next = "correct these files, or leave them out"};
  for (const auto& [file, each] : broken)
    error.details.emplace_back("file", (each.where.empty() ? file : each.where) + ": " + each.what);
  return error;
}

Result<int> run_validate(const CommandWords& words, const Host& host, ToolIo& io) {
  const bool json = words.text("o") == "json";
  std::vector<std::pair<std::string, Error>> broken;
  Json files = Json::array();
  for (const std::string& word : words.arguments) {
    const auto text = host.read(absolute(word), nvidia::cdi::kMaxSpecBytes);
    const auto spec = text ? nvidia::cdi::parse_and_validate(*text, word) : Result<nvidia::cdi::Spec>(text.error());
    if (spec) {
      files.push_back({{"path", word}, {"valid", true}, {"kind", spec->kind}, {"devices", spec->devices.size()}});
      if (!json)
        io.print(word + ": valid, " + spec->kind + " with " + std::to_string(spec->devices.size()) + " devices\n");
      continue;
    }
    files.push_back({{"path", word}, {"valid", false}, {"error", slipway::to_json(spec.error())}});
    broken.emplace_back(word, spec.error());
  }
  if (json) {  // the document contains the errors
    io.print(document("CdiValidation", {{"files", files}}));
    return broken.empty() ? 0 : 1;
  }
  if (!broken.empty()) return broken_specs(broken, words.arguments.size());
  return 0;
}

}  // namespace

CdiTools::CdiTools()
    : ToolTable(
          {{"generate", "writes the CDI spec of this machine's GPUs", generate_line(), run_generate},
           {"list",
            "prints the devices of the CDI specs that engines find",
            {.about = "Prints the devices that engines find, one on a line. Files that engines refuse, and devices "
                      "that two files of one folder have, are named on standard error: engines ignore these.",
             .options =
                 {{.name = "spec-dir",
                   .value = "DIR",
                   .help = "where specs are (default: /etc/cdi and /var/run/cdi, of which the latter has priority over "
                           "the former)",
                   .variables = {"NVIDIA_CTK_CDI_SPEC_DIRS"},
                   .repeats = true},
                  form()},
             .examples = {"slipway cdi list", "slipway cdi list --spec-dir ./cdi -o json"},
             .last_counts = true},
            run_list},
           {"transform", "moves the paths of a CDI spec to another root", transform_line(), run_transform},
           {"validate",
            "checks CDI specs",
            {.usage = "FILE… [-o text|json]",
             .about = "Checks CDI specs, YAML or JSON, by the rules of the specification. Exit status 1 when one is "
                      "broken.",
             .options = {form()},
             .least_arguments = 1,
             .most_arguments = kAnyNumber,
             .examples = {"slipway cdi validate /var/run/cdi/nvidia.yaml", "slipway cdi validate -o json *.yaml"},
             .last_counts = true},
            run_validate}}) {}

}  // namespace slipway::toolkit
