// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/write/exclusive_use.hpp"
#include "base/write/new_file.hpp"
#include "mig/config/checkpoint.hpp"
#include "mig/config/named_configs.hpp"
#include "mig/device/capabilities.hpp"
#include "mig/device/change.hpp"
#include "mig/device/holders.hpp"
#include "mig/device/read.hpp"
#include "mig/draw/picture.hpp"
#include "mig/tools/hooks.hpp"
#include "mig/tools/tools.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::mig {
namespace {

constexpr std::size_t kLongestConfig = 1 << 20;

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

/// Reads a file from the command line; "-": standard input.
Result<std::string> read_input(const std::string& file) {
  auto text = file == "-" ? read_all(STDIN_FILENO, shown_name(file), kLongestConfig) : read_named(file, kLongestConfig);
  if (text) return text;
  Error error = std::move(text).error();
  if (error.next.empty()) error.next = "name an existing file that can be read";
  return error;
}

Result<Entries> read_selected(const CommandWords& words, ToolIo& io) {
  const std::string file = words.text("config-file");
  SLIPWAY_TRY(text, read_input(file));
  SLIPWAY_TRY(configs, configs_from_yaml(text, shown_name(file)));
  for (const std::string& warning : configs.warnings) io.warn(warning);
  return select_config(configs, words.text("selected-config"));
}

/// Reads the GPUs without the lost ones, and warns about those.
Result<std::vector<Gpu>> read_with_warnings(nvidia::nvml::Nvml& nvml, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(gpus, read_gpus(nvml));
  name_lost_gpus(host, gpus);
  for (const Gpu& gpu : gpus)
    if (gpu.lost) io.warn("the driver cannot reach " + gpu.lost_text() + ", so nothing is known of it");
  return gpus;
}

Result<Intents> read_intents(const CommandWords& words, const Entries& entries, nvidia::nvml::Nvml& nvml,
                             const Host& host) {
  SLIPWAY_TRY(gpus, read_gpus(nvml));
  name_lost_gpus(host, gpus);
  SLIPWAY_CHECK(name_managers(host, Json(), gpus));
  SLIPWAY_TRY(intents, intents_of(entries, gpus));
  return words.flag("mode-only") ? modes_only(std::move(intents)) : std::move(intents);
}

Error not_applied(const Intents& intents) {
  Error error{.code = ErrorCode::conflict,
              .what = "assertion failure: selected configuration not currently applied",
              .where = {},
              .next = "run `slipway mig apply` with the same file and config"};
  for (const std::string& gpu : intents.lost) error.details.emplace_back("found", gpu + ": the driver cannot reach it");
  std::vector<std::pair<Gpu, std::string>> changes;
  for (const Intent& intent : intents.gpus)
    if (!intent.holds()) changes.emplace_back(intent.gpu, intent.change_text());
  for (const auto& [names, change] : named_by_text(changes)) error.details.emplace_back("found", names + ": " + change);
  return error;
}

Result<int> waits_for_reset(const CommandWords& words, const std::vector<std::string>& waiting, ToolIo& io) {
  for (const std::string& each : waiting)
    if (!each.empty()) io.warn(each);  // one text is about all GPUs, the others are empty
  if (words.flag("skip-reset") && words.flag("mode-only")) return 0;
  return Error{.code = ErrorCode::busy,
               .what = fmt::format("the MIG mode of {} GPUs waits for a reset", waiting.size()),
               .where = {},
               .next = "reset them or reboot, then run the same command again"};
}

/// Takes exclusive use of the GPUs that differ.
Result<Outcome> take_gpus(base::ExclusiveUse& use, const std::vector<Intent>& intents, const Host& host) {
  action::Custom needs{.name = "MIG layouts", .data = nullptr, .inverse = nullptr, .irreversible = {}};
  for (const Intent& intent : intents)
    if (!intent.holds()) needs.exclusives.push_back(nvidia::exclusive_of(intent.gpu.uuid));
  needs.quiesces_services = !needs.exclusives.empty();
  return use.take(host, action::custom(needs));
}

Status check_idle(nvidia::nvml::Nvml& nvml, const Host& host, const std::vector<Wanted>& wanted,
                  const std::string& kubelet_socket) {
  std::vector<Changing> changing;
  for (const Wanted& each : wanted)
    changing.push_back({.device = each.device, .gpu = &each.known, .target = &each.target});
  if (changing.empty()) return {};
  const auto holders = find_holders(nvml, host, changing, ask_kubelet(host, kubelet_socket));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (holders[i].empty()) continue;
    Error error = in_use(Outcome::waiting(in_use_text(wanted[i].known), nvidia::drain::few_texts_of(holders[i])));
    error.next = nvidia::drain::how_to_end(holders[i]) + ", then run the same command again";
    return error;
  }
  return {};
}

/// Returns the GPUs that differ, with their handles.
Result<std::vector<Wanted>> differing(nvidia::nvml::Nvml& nvml, const std::vector<Intent>& intents, ToolIo& io) {
  std::vector<Wanted> wanted;
  for (const Intent& intent : intents) {
    if (intent.holds()) continue;
    io.log(intent.gpu.text() + ": " + intent.change_text());
    wanted.push_back({.target = intent.target, .known = intent.gpu});
  }
  std::vector<Status> found(wanted.size());
  nvidia::nvml::in_parallel(nvml, wanted.size(), [&](nvidia::nvml::Nvml& own, std::size_t i) {
    const auto device = find_gpu(own, wanted[i].target);
    wanted[i].device = device.value_or(nullptr);
    if (!device) found[i] = device.error();
  });
  for (const Status& each : found) SLIPWAY_CHECK(each);
  return wanted;
}

/// Changes all GPUs that differ, in parallel; when one fails or is in use, the others get their former layouts back.
/// Meanwhile no other run changes these GPUs, and slipway's services have released the driver.
/// @return why GPUs wait for a reset
Result<std::vector<std::string>> change_all(nvidia::nvml::Nvml& nvml, const std::vector<Intent>& intents,
                                            const Host& host, ToolIo& io, bool resets,
                                            const std::string& kubelet_socket) {
  base::ExclusiveUse use;
  SLIPWAY_TRY(alone, take_gpus(use, intents, host));
  if (alone.kind == Outcome::Kind::waiting) {
    Error error = in_use(alone);
    error.next = "wait until that program has ended, then run the same command again";
    return error;
  }
  SLIPWAY_TRY(wanted, differing(nvml, intents, io));
  SLIPWAY_CHECK(check_idle(nvml, host, wanted, kubelet_socket));
  SLIPWAY_TRY(outcomes,
              change_gpus(nvml, host, wanted, {.busy = WhenBusy::undo_all, .resets = resets, .driver_root = {}}));
  SLIPWAY_CHECK(make_capability_nodes(host));
  std::vector<std::string> waiting;
  for (const Outcome& outcome : outcomes)
    if (outcome.kind == Outcome::Kind::reboot_required) waiting.push_back(outcome.reason);
  return waiting;
}

using ReadIntents = std::function<Result<Intents>(nvidia::nvml::Nvml&)>;

Result<int> change(const CommandWords& words, const Host& host, ToolIo& io, const ReadIntents& read,
                   const std::string& success) {
  SLIPWAY_TRY(nvml, open_nvml(host, {}, kChangeLimit));
  SLIPWAY_TRY(intents, read(*nvml));
  for (const std::string& note : intents.notes) io.warn(note);
  SLIPWAY_TRY(waiting, change_all(*nvml, intents.gpus, host, io, !words.flag("skip-reset"), kubelet_socket_of(words)));
  if (!waiting.empty()) return waits_for_reset(words, waiting, io);
  io.print(success);
  return 0;
}

/// Returns the options' variables with their values, in the form that upstream passes to hooks.
std::map<std::string, std::string> variables_of(const CommandWords& words) {
  std::map<std::string, std::string> variables{{"MIG_PARTED_HOOKS_FILE", words.text("hooks-file")}};
  for (const auto& [option, name] :
       {std::pair("config-file", "MIG_PARTED_CONFIG_FILE"), std::pair("selected-config", "MIG_PARTED_SELECTED_CONFIG"),
        std::pair("checkpoint-file", "MIG_PARTED_CHECKPOINT_FILE")})
    if (words.given(option)) variables[name] = words.text(option);
  for (const auto& [option, name] :
       {std::pair("mode-only", "MIG_PARTED_MODE_CHANGE_ONLY"), std::pair("skip-reset", "MIG_PARTED_SKIP_RESET")})
    variables[name] = words.flag(option) ? "true" : "false";
  return variables;
}

/// The GPUs are read again after the hooks: these may end programs on the GPUs, or reload the driver, which must not be
/// in use by this process then.
Status run_hooks_before(const Hooks& hooks, const std::map<std::string, std::string>& variables, const Host& host,
                        ToolIo& io, const ReadIntents& read, bool mode_only) {
  bool mode_differs = false;
  bool layout_differs = false;
  {
    SLIPWAY_TRY(nvml, open_nvml(host, {}));
    SLIPWAY_TRY(intents, read(*nvml));
    for (const Intent& intent : intents.gpus) {
      mode_differs = mode_differs || intent.gpu.enabled != intent.target.enabled;
      layout_differs = layout_differs || !intent.holds();
    }
  }
  if (mode_differs) SLIPWAY_CHECK(hooks.run("pre-apply-mode", variables, io));
  if (layout_differs && !mode_only) SLIPWAY_CHECK(hooks.run("pre-apply-config", variables, io));
  return {};
}

Result<int> change_with_hooks(const CommandWords& words, const Host& host, ToolIo& io, const ReadIntents& read,
                              const std::string& success) {
  const std::string file = words.text("hooks-file");
  if (file.empty()) return change(words, host, io, read, success);
  SLIPWAY_TRY(text, read_input(file));
  SLIPWAY_TRY(hooks, Hooks::from_yaml(text, shown_name(file)));
  for (const std::string& name : hooks.unknown()) io.warn(file + ": there is no hook '" + name + "', so it never runs");
  const auto variables = variables_of(words);
  SLIPWAY_CHECK(hooks.run("apply-start", variables, io));
  const Status before = run_hooks_before(hooks, variables, host, io, read, words.flag("mode-only"));
  const auto done = before ? change(words, host, io, read, success) : Result<int>(before.error());
  const Status after = hooks.run("apply-exit", variables, io);
  if (done && !after) return after.error();
  if (!after) io.warn(after.error().what);
  return done;
}

}  // namespace

Result<int> run_apply(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(entries, read_selected(words, io));
  return change_with_hooks(
      words, host, io, [&](nvidia::nvml::Nvml& nvml) { return read_intents(words, entries, nvml, host); },
      "MIG configuration applied successfully\n");
}

Result<int> run_assert(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(entries, read_selected(words, io));
  if (words.flag("valid-config")) {
    io.print("Selected MIG configuration is valid\n");
    return 0;
  }
  SLIPWAY_TRY(nvml, open_nvml_to_look(host));
  SLIPWAY_TRY(intents, read_intents(words, entries, *nvml, host));
  for (const std::string& note : intents.notes) io.warn(note);
  if (!std::ranges::all_of(intents.gpus, &Intent::holds) || !intents.lost.empty()) return not_applied(intents);
  io.print(words.flag("mode-only") ? "Selected MIG mode settings from configuration currently applied\n"
                                   : "Selected MIG configuration currently applied\n");
  return 0;
}

Result<int> run_export(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(nvml, open_nvml_to_look(host));
  SLIPWAY_TRY(gpus, read_with_warnings(*nvml, host, io));
  if (gpus.empty())  // apply would reject a config without an entry
    return Error{.code = ErrorCode::not_found,
                 .what = "there is no GPU on this machine, so there is no layout to export",
                 .where = {},
                 .next = "look for GPUs with `lspci -d 10de:`, and for those of the driver with `nvidia-smi -L`",
                 .details = {}};
  const std::map<std::string, Entries> configs{{words.text("config-label", "current"), present_entries(gpus)}};
  io.print(words.text("output-format", "yaml") == "json" ? to_json_text(configs, NoDevices::object) : to_yaml(configs));
  return 0;
}

Result<int> run_generate(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(nvml, open_nvml_to_look(host));
  SLIPWAY_TRY(gpus, read_with_warnings(*nvml, host, io));
  SLIPWAY_TRY(generated, generate_configs(gpus));
  for (const std::string& note : generated.notes) io.warn(note);
  const auto& configs = generated.configs.by_name;
  const std::string text =
      words.text("output-format", "yaml") == "json" ? to_json_text(configs, NoDevices::null) : to_yaml(configs);
  const std::string file = words.text("output-file");
  if (file.empty()) {
    io.print(text);
    return 0;
  }
  SLIPWAY_CHECK(base::put_file(std::filesystem::absolute(file).string(), text));
  io.log("wrote " + file);
  return 0;
}

Result<int> run_checkpoint(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(nvml, open_nvml_to_look(host));
  SLIPWAY_TRY(gpus, read_with_warnings(*nvml, host, io));
  SLIPWAY_CHECK(
      base::put_file(std::filesystem::absolute(words.text("checkpoint-file")).string(), checkpoint_text(gpus)));
  io.print("MIG configuration checkpointed successfully\n");
  return 0;
}

Result<int> run_restore(const CommandWords& words, const Host& host, ToolIo& io) {
  const std::string file = words.text("checkpoint-file");
  SLIPWAY_TRY(text, read_input(file));
  const auto intents = [&](nvidia::nvml::Nvml& nvml) -> Result<Intents> {
    SLIPWAY_TRY(gpus, read_gpus(nvml));
    name_lost_gpus(host, gpus);
    SLIPWAY_CHECK(name_managers(host, Json(), gpus));
    SLIPWAY_TRY(list, intents_of_checkpoint(text, shown_name(file), gpus));
    Intents all;
    for (Intent& each : list)
      if (each.gpu.manager.empty())
        all.gpus.push_back(std::move(each));
      else
        all.notes.push_back(each.gpu.text() + " is managed by " + each.gpu.manager + ", so it is left alone");
    return words.flag("mode-only") ? modes_only(std::move(all)) : std::move(all);
  };
  return change_with_hooks(words, host, io, intents, "MIG configuration restored successfully\n");
}

}  // namespace slipway::mig
