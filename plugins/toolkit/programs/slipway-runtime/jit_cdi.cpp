// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/slipway-runtime/jit_cdi.cpp - mode jit-cdi: specs that are created when a container starts.
#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>
#include <slipway/text.hpp>

#include "nvidia/cdi/text.hpp"
#include "toolkit/requests/specs.hpp"

namespace slipway::shim {
namespace {

constexpr std::chrono::seconds kLimit{30};  // the first program to use a driver without persistence waits for its GPUs
constexpr std::size_t kMostWords = 2000;    // bytes of an error in a message
constexpr std::size_t kLongestName = 128;   // a MIG device under the UUID of its GPU has 90

/// The class of each generated kind, and the mode that generates it.
constexpr const char* kModes[][2] = {{"gpu", "nvml"},        {"gds", "gds"},           {"mofed", "mofed"},
                                     {"gdrcopy", "gdrcopy"}, {"nvswitch", "nvswitch"}, {"imex-channel", "imex"}};
constexpr const char* kManagement = "management.nvidia.com/gpu";

/// Empty: only files have the kind.
std::string mode_of(const std::string& kind, const Config& config) {
  if (kind == kManagement) return "management";
  if (kind == config.default_kind) return "nvml";
  if (!kind.starts_with("nvidia.com/")) return {};
  for (const auto& [name, mode] : kModes)
    if (kind.substr(kind.find('/') + 1) == name) return mode;
  return {};
}

/// Returns the folder of this program, where packages install the others too.
std::string own_folder() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return path.empty() ? "/usr/bin" : path.substr(0, path.rfind('/'));
}

bool is_there(const std::string& path, int how) { return ::access(path.c_str(), how) == 0; }

std::vector<std::string> command_for(const std::string& kind, const std::string& mode,
                                     const std::vector<std::string>& names, const Config& config) {
  const std::string folder = own_folder();
  std::vector<std::string> words{folder + "/slipway",
                                 "cdi",
                                 "generate",
                                 "--format=json",
                                 "--mode=" + mode,
                                 "--vendor=" + kind.substr(0, kind.find('/')),
                                 "--class=" + kind.substr(kind.find('/') + 1)};
  // Uses the form --option=value: `slipway` would take a separate value that begins with '-' for an option.
  const auto add = [&](const char* option, const std::string& value) { words.push_back(option + ("=" + value)); };
  if (!config.driver_root.empty() && config.driver_root != "/") {
    add("--driver-root", config.driver_root);
    add("--dev-root", is_there(config.driver_root + "/dev/nvidiactl", F_OK) ? config.driver_root : "/");
  }
  if (is_there(folder + "/slipway-cdi-hook", X_OK)) add("--nvidia-cdi-hook-path", folder + "/slipway-cdi-hook");
  for (const std::string& flag : config.jit_features) add("--feature-flag", flag);
  for (const std::string& hook : config.jit_disabled_hooks) add("--disable-hook", hook);
  const bool picks = mode == "nvml" || mode == "imex";
  if (picks && std::ranges::count(names, "all") == 0)
    for (const std::string& name : names) add("--device-id", name);
  return words;
}

/// Leaves out NVIDIA's variables, which would change the command, and the rest of the engine's environment.
std::vector<std::string> plain_environment() { return {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}; }

/// Returns the end of the program's output, on one line.
std::string last_words(const std::string& errors) {
  std::string text(trimmed(errors.size() > kMostWords ? errors.substr(errors.size() - kMostWords) : errors));
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Takes the warnings about a generated spec, one per line in the front end's form ("cdi: warning: …").
void add_warnings(const std::string& errors, std::vector<std::string>& warnings) {
  constexpr std::string_view kMark = "warning: ";
  std::string_view text(errors);
  if (text.size() > kMostWords) text.remove_suffix(text.size() - kMostWords);
  for (std::string_view line : split<std::string_view>(text, '\n')) {
    if (const auto mark = line.find(kMark); mark != std::string_view::npos) line.remove_prefix(mark + kMark.size());
    if (!trimmed(line).empty()) warnings.push_back("`slipway cdi generate`: " + std::string(trimmed(line)));
  }
}

Error generation_error(const std::string& kind, const ChildResult& result, const Request& request) {
  const bool late = result.end == ChildResult::End::timed_out;
  Error error{late ? ErrorCode::timed_out : ErrorCode::not_found,
              "no CDI spec of " + kind + " can be made for this machine, as the mode jit-cdi requires: " +
                  (late ? "`slipway cdi generate` did not end within " + std::to_string(kLimit.count()) + " s"
                        : last_words(result.errors)),
              {},
              "run `slipway cdi generate` and `slipway doctor`, or set the mode cdi to use the specs of the host",
              {{"asked for by", request.source}}};
  if (!late && result.errors.empty()) error.what += ending_of(result.status);
  return error;
}

Result<std::string> make_spec(const std::string& kind, const std::vector<std::string>& command, Request& request) {
  auto result = run_child({.argv = command, .environment = plain_environment(), .own_session = true},
                          {.limit = kLimit, .most_bytes = nvidia::cdi::kMaxSpecBytes, .ends_flood = true});
  if (!result) {
    Error error = result.error();
    error.next = error.code == ErrorCode::not_found
                     ? "install slipway beside slipway-runtime, or set the mode cdi to use the specs of the host"
                     : "try again, or set the mode cdi to use the specs of the host";
    return error;
  }
  const bool good =
      result->end == ChildResult::End::by_itself && WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0;
  if (!good) return generation_error(kind, *result, request);
  add_warnings(result->errors, request.warnings);
  return std::move(result->output);
}

}  // namespace

Result<Specs> specs_made_now(Request& request, const Config& config) {
  std::map<std::string, std::vector<std::string>> names;  // by kind
  for (const std::string& device : request.devices) {
    const auto equals = device.find('=');
    const std::string name = device.substr(equals + 1);
    // The name comes from the user who starts a container, and is passed to a program of root.
    if (name.size() > kLongestName || !nvidia::cdi::is_device_name(name))
      return Error{ErrorCode::invalid,
                   "'" + device.substr(0, kLongestName) + "' is not a name of a CDI device",
                   {},
                   "ask for all, an index, a UUID or a MIG device such as 0:1",
                   {{"asked for by", request.source}}};
    names[device.substr(0, equals)].push_back(name);
  }
  if (request.driver_only && !names.contains(config.default_kind)) names[config.default_kind] = {"none"};
  Specs specs = Specs::read(config.spec_folders);
  for (const auto& [kind, wanted] : names) {
    const std::string mode = mode_of(kind, config);
    if (mode.empty()) continue;
    const std::vector<std::string> command = command_for(kind, mode, wanted, config);
    SLIPWAY_TRY(text, make_spec(kind, command, request));
    SLIPWAY_CHECK(specs.replace(kind, "`slipway cdi generate --mode " + mode + "`", text));
  }
  return specs;
}

}  // namespace slipway::shim
