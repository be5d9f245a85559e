// SPDX-License-Identifier: Apache-2.0
#include "core/engine/advice.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

/// A command that acts on a root, and its options besides those that name the root.
struct RootCommand {
  std::string_view name;
  bool needs_spec = false;  ///< the other commands use the active generation
  bool takes_kernel = true;
  bool plans_units = false;  ///< takes --without-slipway
  bool takes_image = true;   ///< --image
  bool writes = false;       ///< changes the root's files
};
constexpr std::array kCommands{RootCommand{"apply", true, true, true, true, true},
                               RootCommand{"plan", true, true, true},
                               RootCommand{"verify"},
                               RootCommand{"doctor"},
                               RootCommand{"detect"},
                               RootCommand{"graph", false, false},
                               RootCommand{"init"},
                               RootCommand{"status", false, false},
                               RootCommand{"generations", false, false},
                               RootCommand{"diff", false, false},
                               RootCommand{"rollback", false, true, false, true, true},
                               RootCommand{"remove", false, true, false, true, true},
                               RootCommand{"repair", false, false, false, true, true},
                               RootCommand{"accept", false, true, false, true, true},
                               RootCommand{"gc", false, false, false, true, true},
                               RootCommand{"log", false, false},
                               RootCommand{"bugreport"},
                               RootCommand{"service", true},
                               RootCommand{"pause", false, false, false, false}};

/// Returns the options to add after the command's name; `words` is the whole command as advised.
std::string options_for(const RootCommand& command, std::string_view words, const SessionOptions& options) {
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty() && words.find(option) == std::string_view::npos) text += std::string(option) + shell_word(value);
  };
  if (options.root != "/") add(" --root ", options.root);
  // The files of a simulated machine do not belong into this machine's root.
  const bool is_simulated_here = options.root == "/" && !options.sim.empty() && !options.live.has_value();
  if (command.writes && is_simulated_here) add(" --root ", "DIR");
  if (options.root != "/" && options.live.value_or(false) && words.find(" --live") == std::string_view::npos)
    text += " --live";
  if (command.takes_image && options.root == "/" && !options.live.value_or(true) &&
      words.find(" --image") == std::string_view::npos)
    text += " --image";
  add(" --sim ", options.sim);
  if (command.takes_kernel && words.find(" --kernel ") == std::string_view::npos)
    for (const std::string& kernel : options.kernels) text += " --kernel " + shell_word(kernel);
  if (command.needs_spec) add(" -f ", options.spec);
  if (command.plans_units && options.without_slipway) text += " --without-slipway";
  return text;
}

/// Returns how this run names its simulated machine: "--root rootfs --sim h100x8", or the folder of the machine that
/// lives in the root; empty for a real machine.
std::string simulation_of(const Machine& machine) {
  const SessionOptions& options = machine.options();
  const bool is_here = options.root == "/";
  if (!options.sim.empty())
    return (is_here ? "" : "--root " + shell_word(options.root) + " ") + "--sim " + shell_word(options.sim);
  constexpr const char* kFolder = "/run/slipway/sim";
  return machine.host().exists(std::string(kFolder) + "/machine") ? (is_here ? "" : options.root) + kFolder : "";
}

/// True for a program of the running machine: of its system, or of a vendor, whose programs have names with a hyphen.
bool is_of_the_machine(std::string_view program) {
  constexpr std::array<std::string_view, 8> kOfTheSystem{"dmesg",    "journalctl", "lsmod", "lspci",
                                                         "modprobe", "mokutil",    "rmmod", "systemctl"};
  const bool is_hyphenated = program.find('-') != std::string_view::npos &&
                             program.find_first_of(":=/_") == std::string_view::npos && !program.starts_with('-');
  return is_hyphenated || std::ranges::count(kOfTheSystem, program) != 0;
}

/// True when a command of the text acts on the running machine, by a program or by `slipway pause`.
bool acts_on_the_machine(const std::string& text) {
  for (std::size_t at = text.find('`'); at != std::string::npos;) {
    const std::size_t end = std::min(text.find('`', at + 1), text.size());
    const std::string_view command = std::string_view(text).substr(at + 1, end - at - 1);
    if (command.starts_with("slipway pause") || is_of_the_machine(command.substr(0, command.find(' ')))) return true;
    at = end == text.size() ? std::string::npos : text.find('`', end + 1);
  }
  return false;
}

/// A GPU of a simulated machine must not send the user to the GPU of the same number in this machine.
std::string for_simulation(std::string text, const Machine& machine) {
  if (!acts_on_the_machine(text)) return text;
  const std::string simulation = simulation_of(machine);
  return simulation.empty() ? text : "on the simulated machine (" + simulation + "), not on this one: " + text;
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+@,=";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string advised(std::string text, const SessionOptions& options) {
  constexpr std::string_view kBegin = "`slipway ";
  const bool is_this_machine = options.root == "/" && options.sim.empty() && options.live.value_or(true);
  if (is_this_machine && options.spec.empty()) return text;
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) {
    const std::size_t name = at + kBegin.size();
    const std::size_t end = std::min(text.find('`', name), text.size());
    const std::size_t after = std::min(text.find_first_of(" `\n", name), text.size());
    const std::string_view all(text);
    const auto command = std::find_if(kCommands.begin(), kCommands.end(), [&](const RootCommand& known) {
      return known.name == all.substr(name, after - name);
    });
    if (command == kCommands.end()) continue;
    text.insert(after, options_for(*command, all.substr(at, end - at), options));
  }
  return text;
}

bool advises_apply(const std::string& text) {
  for (const std::string command : {"`slipway apply", "`slipway plan"})
    for (std::size_t at = text.find(command); at != std::string::npos; at = text.find(command, at + 1))
      if (const std::size_t end = at + command.size(); end < text.size() && (text[end] == '`' || text[end] == ' '))
        return true;
  return false;
}

bool keeps_edits(const std::string& text) { return text.find(" --replace-edits=") != std::string::npos; }

std::string edit_remedies(const std::vector<std::string>& paths) {
  const std::string what = paths.size() == 1 ? "it" : "them";
  std::string replace;
  std::string accept;
  for (const std::string& path : paths) {
    replace += " --replace-edits=" + shell_word(path);
    accept += " " + shell_word(path);
  }
  return "`slipway apply" + replace + "` replaces " + what + ", `slipway accept" + accept + "` makes " + what +
         " the new state";
}

std::string text_with_file(const Error& error) {
  const bool names_file = error.where.starts_with('/') && error.what.find(error.where) == std::string::npos;
  return names_file ? error.where + ": " + error.what : error.what;
}

Error advised(Error error, const SessionOptions& options) {
  error.next = advised(std::move(error.next), options);
  return error;
}

Error advised_by_plugin(Error error, const Machine& machine) {
  if (!machine.host_config().live) {
    error.next = sandbox::command_in_root(error.next, machine.host_config().root);
    for (auto& [name, text] : error.details)
      if (name == "found") text = sandbox::command_in_root(text, machine.host_config().root);
  }
  error.next = for_simulation(std::move(error.next), machine);
  return advised(std::move(error), machine.options());
}

Findings advised_by_plugin(const Findings& findings, const Machine& machine) {
  Findings all;
  for (Finding finding : findings.list()) {
    if (!machine.host_config().live)
      finding.remedy = sandbox::command_in_root(finding.remedy, machine.host_config().root);
    finding.remedy = advised(for_simulation(std::move(finding.remedy), machine), machine.options());
    all.add(std::move(finding));
  }
  return all;
}

}  // namespace slipway::core
