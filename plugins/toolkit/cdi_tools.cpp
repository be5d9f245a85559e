// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi_tools.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "nvidia/cdi/read.hpp"
#include "nvidia/cdi/write.hpp"
#include "toolkit/machine.hpp"
#include "toolkit/spec_folder.hpp"

namespace slipway::toolkit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kListUsage =
    "usage: slipway toolkit cdi list [--spec-dir DIR]...\n"
    "\n"
    "Prints the devices that engines find, one on a line; files that they refuse are named in the log.\n";
constexpr const char* kValidateUsage =
    "usage: slipway toolkit cdi validate FILE...\n"
    "\n"
    "Checks CDI specs, YAML or JSON, by the rules of the specification. Exit status 1 when one is broken.\n";

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// Readers see the former file or the whole new one.
Status write_file(const std::string& path, const std::string& text) {
  std::error_code problem;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, problem);
  std::string temporary = path + ".XXXXXX";
  const Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return system_error("write", path, errno);
  Status written = write_all(file.get(), text, path);
  if (written && ::fchmod(file.get(), 0644) != 0) written = system_error("set the mode of", path, errno);
  if (written && ::fsync(file.get()) != 0) written = system_error("write", path, errno);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = system_error("write", path, errno);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<int> run_generate(const std::vector<std::string>& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(arguments, parse_generate_arguments(words));
  SLIPWAY_TRY(machine, Machine::open(host, arguments.driver_root, arguments.dev_root));
  Inventory inventory;
  if (needs_inventory(arguments.options.mode)) {
    SLIPWAY_TRY(found, machine.inventory());
    inventory = std::move(found);
  }
  SLIPWAY_TRY(spec, generate(arguments.options, machine.roots(), inventory));
  const std::string text = arguments.json ? nvidia::cdi::to_json_text(spec) : nvidia::cdi::to_yaml(spec);
  if (arguments.output.empty()) {
    io.print(text);
    return 0;
  }
  SLIPWAY_CHECK(write_file(arguments.output, text));
  io.log("wrote " + arguments.output + ": " + spec.kind + ", " + std::to_string(spec.devices.size()) + " devices");
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
    io.log(to_text(spec.error()));
    status = 1;
  }
  return status;
}

}  // namespace

std::vector<ToolInfo> CdiTools::list() const {
  return {{"generate", "writes the CDI spec of this machine's GPUs", generate_usage()},
          {"list", "prints the devices of the CDI specs that engines find", kListUsage},
          {"validate", "checks CDI specs", kValidateUsage}};
}

Result<int> CdiTools::run(std::string_view tool, const std::vector<std::string>& arguments, const Host& host,
                          ToolIo& io) const {
  for (const std::string& argument : arguments)
    if (argument == "--help" || argument == "-h") {
      io.print(tool == "generate" ? generate_usage() : tool == "list" ? kListUsage : kValidateUsage);
      return 0;
    }
  if (tool == "generate") return run_generate(arguments, host, io);
  if (tool == "list") return run_list(arguments, host, io);
  return run_validate(arguments, host, io);
}

}  // namespace slipway::toolkit
