// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>
#include <slipway/text/display.hpp>
#include <slipway/trusted_owner.hpp>

#include "app/build_container.hpp"
#include "app/edits.hpp"
#include "app/recorded_apply.hpp"
#include "base/log/lines.hpp"
#include "base/write/standard_output.hpp"
#include "base/yaml/tree.hpp"
#include "cli/command.hpp"
#include "cli/render/text.hpp"
#include "core/service/service_ui.hpp"

namespace slipway::cli {
namespace {

/// Units of a boot wait for slipway-boot.service, whose own limit is 15 minutes.
constexpr std::chrono::minutes kPackagesOfABoot{5};
constexpr const char* kDefaultSpec = "/etc/slipway/host.yaml";
constexpr const char* kDefaultLock = "/etc/slipway/slipway.lock";
constexpr const char* kLockBesideSpec = "slipway.lock";

/// Reads a file of the root that controls what is done there; nothing if not found, or this user may not read it.
Result<std::optional<std::string>> read_own(const RootDir& root, const char* path, std::size_t limit_bytes) {
  SLIPWAY_CHECK(check_only_ours(root, path));
  auto text = read_regular(root, path, limit_bytes);
  if (!text && (text.error().code == ErrorCode::not_found || text.error().code == ErrorCode::denied))
    return std::optional<std::string>();
  if (!text) return text.error();
  return std::optional(std::move(*text));
}

bool readable(const std::string& file) { return ::access(file.c_str(), R_OK) == 0; }

std::string beside(const std::string& file, const std::string& name) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? name : file.substr(0, slash + 1) + name;
}

/// Returns --lock, else slipway.lock beside the spec (of -f or the root's own), else the packages of the active
/// generation.
Result<core::Lock> load_lock(core::Session& session, const Options& options) {
  if (!options.lock.empty()) {
    const bool may_be_new = !options.locked && (options.command == "plan" || options.command == "apply");
    return readable(options.lock) || !may_be_new ? core::Lock::read(options.lock) : Result<core::Lock>(core::Lock{});
  }
  if (options.spec.empty()) {
    SLIPWAY_TRY(text, read_own(session.root().root(), kDefaultLock, core::Lock::kMostBytes));
    if (text) return core::Lock::from_json(parse_foreign(*text), kDefaultLock);
  } else if (const std::string near = beside(options.spec, kLockBesideSpec); readable(near)) {
    return core::Lock::read(near);
  }
  SLIPWAY_TRY(current, core::applied_now(session));
  if (!current) return core::Lock{};
  return core::Lock::from_json(current->lock, "generation " + std::to_string(current->number));
}

/// True when an apply was interrupted, is under way, or has left a component failed.
Result<bool> has_unfinished_apply(core::Session& session) {
  if (session.state().is_closed()) return false;
  SLIPWAY_TRY(unfinished, core::read_unfinished(session));
  SLIPWAY_TRY(failing, session.state().failing());
  return unfinished.recovery || unfinished.damaged || !unfinished.pending.empty() || !unfinished.at_work.empty() ||
         !failing.empty();
}

/// For a root in which the first apply did not end well: verify and doctor report its unfinished work.
Result<SpecAndLock> without_generation(core::Session& session, const Options& options) {
  SLIPWAY_TRY(spec, app::spec_of_last_apply(session, log_folder(options)));
  session.set_advised_spec(spec);
  if (options.command == "verify" || options.command == "doctor") return SpecAndLock{};
  return core::advised(Error{ErrorCode::not_found,
                             "there is no host spec, and the first apply did not complete",
                             kDefaultSpec,
                             "run `slipway apply` again; `slipway doctor` tells what is unfinished",
                             {}},
                       session.options());
}

/// For a root in which the first apply failed and was undone.
Error after_failed_apply(core::Session& session, const Options& options, const std::string& why) {
  const auto spec = app::spec_of_last_apply(session, log_folder(options));
  session.set_advised_spec(spec ? *spec : "SPEC");
  return core::advised(Error{ErrorCode::not_found,
                             "nothing is provisioned: the first apply failed (" + why + ")",
                             kDefaultSpec,
                             "correct the cause, then run `slipway apply` again",
                             {}},
                       session.options());
}

Result<SpecAndLock> from_generation(core::Session& session, const Options& options) {
  SLIPWAY_CHECK(session.state().check_format());
  SLIPWAY_TRY(current, core::applied_now(session));
  if (!current && session.state().leaves_out("generations/current")) return SpecAndLock{};
  if (!current && session.state().is_closed())
    return Error{ErrorCode::denied,
                 "there is no host spec, and this user may not read the one that was applied",
                 kDefaultSpec,
                 "run the command as root (sudo), or name a spec with -f",
                 {}};
  if (!current) {
    SLIPWAY_TRY(is_unfinished, has_unfinished_apply(session));
    if (is_unfinished) return without_generation(session, options);
    if (const std::string why = app::failure_of_last_apply(session, log_folder(options)); !why.empty())
      return after_failed_apply(session, options, why);
  }
  if (!current)
    return Error{ErrorCode::not_found,
                 "there is no host spec",
                 kDefaultSpec,
                 "write a spec with `slipway init > host.yaml`, or name yours with -f",
                 {}};
  SpecAndLock loaded;
  loaded.from_generation = true;
  SLIPWAY_TRY(spec, core::spec_of(*current, session.plugins()));
  SLIPWAY_TRY(lock, core::Lock::from_json(current->lock, "generation " + std::to_string(current->number)));
  SLIPWAY_CHECK(take_kernels(session, *current));
  loaded.spec = std::move(spec);
  loaded.lock = std::move(lock);
  return loaded;
}

/// Commands that read devices, or change things, must know whether "/" is a machine or an image.
Status check_machine(const Options& options) {
  constexpr std::array<std::string_view, 9> kAsk{"detect", "plan",     "apply",  "verify", "doctor",
                                                 "remove", "rollback", "repair", "accept"};
  if (std::ranges::count(kAsk, options.command) == 0) return {};
  const auto signs = doubts_about_machine(options);
  return signs.empty() ? Status{} : Status(app::asks_for_image_or_live(signs));
}

/// Warns of variables that slipway would otherwise use; those about its output count all the same.
void warn_of_ignored_variables(TerminalUi& ui) {
  constexpr std::string_view kOurs = "SLIPWAY_";
  constexpr std::array<std::string_view, 2> kHarmless{"SLIPWAY_LOG", "SLIPWAY_COLUMNS"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (name.starts_with(kOurs) && std::ranges::count(kHarmless, name) == 0)
      ui.log(core::Ui::Level::warning, "",
             std::string(name) +
                 " in the environment is ignored: for root on the machine itself, only `slipway plan`, tools, --sim "
                 "and services started by hand use it; unset this variable");
  }
}

/// Describes how to undo what a stopped run has already done: "run the same command again, or `slipway rollback 3`".
std::string after_stop(const Options& options, int before, const std::string& again) {
  if (options.command != "apply" || before == 0) return again;
  const std::string back = "`slipway rollback " + std::to_string(before) + "`";
  return again + ", or " + core::advised(back, options.session) + " to go back to the previous generation";
}

/// Returns the text with control characters as escapes, except line ends, tabs, and the colours of a Page.
std::string without_controls(std::string_view text) {
  constexpr std::string_view kBegin = "\x1b[";
  std::string clean;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find(kBegin), text.size());
    clean += base::printable(text.substr(0, begin), true);
    text.remove_prefix(begin);
    if (text.empty()) break;
    const std::size_t end = text.find_first_not_of("0123456789;", kBegin.size());
    const bool is_colour = end != std::string_view::npos && text[end] == 'm';
    const std::size_t size = is_colour ? end + 1 : 1;
    clean += is_colour ? std::string(text.substr(0, size)) : base::printable(text.substr(0, size), true);
    text.remove_prefix(size);
  }
  return clean;
}

/// Reports each error once, and one error for all components that a stop kept from being applied.
void report_failed(const Options& options, const core::ApplyResult& result, TerminalUi& ui) {
  const core::PlannedRun& run = result.run;
  std::optional<Error> stop;
  std::vector<std::string> stopped;
  for (const core::PlannedComponent& component : run.components) {
    if (!component.error) continue;
    if (component.error->code == ErrorCode::cancelled) {
      stop = component.error;
      stopped.push_back(component.name);
    } else if (const std::string text = error_text(run, component); !text.empty()) {
      ui.failed(component.name, *component.error, text);
    }
  }
  if (!stop) return;
  stop->what += "; not applied: " + listed(stopped, "and");
  stop->next = after_stop(options, result.before, stop->next);
  ui.failed({}, *stop, to_text(*stop));
}

/// Returns the key of the first secret in a spec ("spec.components.driver.signing.key"), which is read from a file or
/// the environment; empty if not found.
std::string key_of_secret(const Json& value, const std::string& key) {
  if (value.is_object() && value.size() == 1 && (value.contains("file") || value.contains("env"))) return key;
  std::string found;
  for (auto each = value.begin(); value.is_structured() && found.empty() && each != value.end(); ++each)
    found = key_of_secret(*each, value.is_object() ? key + "." + each.key() : key);
  return found;
}

/// Refuses secrets: a root to provision may be another user's image, whose spec could have modules signed with this
/// machine's key.
Status has_no_secrets(const core::HostSpec& spec) {
  const std::string key = key_of_secret(spec.document.value("spec", Json::object()), "spec");
  if (key.empty()) return {};
  return Error{ErrorCode::denied,
               "the root's own spec names a secret of this machine",
               spec.position(key) + "  " + key,
               "check that the spec is yours, then name it: `-f " + spec.file + "`",
               {}};
}

}  // namespace

Result<const core::Manifest*> named_component(const core::Plugins& plugins, const std::string& name) {
  if (const core::Manifest* const manifest = plugins.manifest(name)) return manifest;
  std::vector<std::string> known;
  for (const auto& [component, path] : plugins.component_to_path) known.push_back(component);
  return Error{ErrorCode::usage,
               "there is no component '" + name + "'",
               "command line",
               suggestion(name, known, "`slipway plugin list` lists the components"),
               {}};
}

std::vector<std::string> doubts_about_machine(const Options& options) {
  std::error_code problem;
  const bool decided = options.session.live || options.is_of_a_boot() || !options.session.sim.empty() ||
                       std::filesystem::canonical(options.session.root, problem) != "/";
  return decided ? std::vector<std::string>{} : app::signs_of_a_build("/");
}

Status take_names(Options& options) {
  if (!options.arguments.empty() && !options.only.empty())
    return Error{ErrorCode::usage,
                 "components are named twice: " + listed(options.arguments, "and") + ", and with --only",
                 "command line",
                 "name all components either as arguments or with --only",
                 {}};
  options.only.insert(options.only.end(), options.arguments.begin(), options.arguments.end());
  return {};
}

bool environment_counts(const Options& options) {
  constexpr std::array<std::string_view, 3> kTried{"plan", "service", "log"};
  std::error_code problem;
  if (options.is_of_a_boot()) return false;
  return ::geteuid() != 0 || !options.session.sim.empty() || !options.session.live.value_or(true) ||
         std::filesystem::canonical(options.session.root, problem) != "/" ||
         std::ranges::count(kTried, options.command) != 0;
}

Status take_kernels(core::Session& session, const core::Generation& generation) {
  // A running machine keeps its running kernel; an image has none.
  const bool counts = generation.kernels.size() > (session.host_config().live ? 1U : 0U);
  return counts && session.options().kernels.empty() ? session.set_kernels(generation.kernels) : Status{};
}

Result<SpecAndLock> load_spec(core::Session& session, const Options& options) {
  const std::string& root = session.host_config().root;
  SpecAndLock loaded;
  std::optional<std::string> text;
  const bool of_generation = options.is_of_a_boot() || options.of_generation;
  if (!of_generation && options.spec.empty()) {
    SLIPWAY_TRY(own, read_own(session.root().root(), kDefaultSpec, base::kYamlMaxBytes));
    text = std::move(own);
  }
  if (of_generation || (options.spec.empty() && !text)) {
    SLIPWAY_TRY(generation, from_generation(session, options));
    loaded = std::move(generation);
    if (!options.lock.empty()) {
      SLIPWAY_TRY(lock, load_lock(session, options));
      if (readable(options.lock)) loaded.lock = std::move(lock);
    }
  } else {
    SLIPWAY_TRY(current, core::applied_now(session));
    const Json applied = current ? current->plugins : Json::object();
    SLIPWAY_TRY(spec, text ? core::host_spec_from_text(*text, (root == "/" ? "" : root) + kDefaultSpec,
                                                       session.plugins(), applied)
                           : core::read_host_spec(options.spec, session.plugins(), applied));
    SLIPWAY_TRY(lock, load_lock(session, options));
    loaded.spec = std::move(spec);
    loaded.lock = std::move(lock);
  }
  const bool acts = options.command == "plan" || options.command == "apply";
  if (acts && options.spec.empty() && !options.is_of_a_boot() && root != "/" && !session.host_config().live)
    SLIPWAY_CHECK(has_no_secrets(loaded.spec));
  if (options.update) loaded.lock = core::Lock{};
  session.set_hardware(loaded.spec.hardware);
  return loaded;
}

Result<std::unique_ptr<core::Session>> open_session(const Options& options, TerminalUi& ui) {
  SLIPWAY_CHECK(check_machine(options));
  core::SessionOptions wanted = options.session;
  wanted.own_environment = !environment_counts(options);
  if (wanted.own_environment) warn_of_ignored_variables(ui);
  wanted.spec = options.spec;
  wanted.booting = options.boot;
  if (options.boot && options.command == "apply") wanted.package_limit = options.within.value_or(kPackagesOfABoot);
  wanted.without_slipway = options.without_slipway;
  SLIPWAY_TRY(time, app::noted_time(options.session, options.image));
  wanted.time = std::move(time);
  auto session = core::Session::open(wanted, ui);
  if (session) ui.set_generation(core::generation_in_force((*session)->root().root()));
  return session;
}

Result<core::PlanOptions> plan_options(const core::Session& session, const Options& options, const core::Lock& lock) {
  const bool is_image = !session.host_config().live && options.session.sim.empty();
  if (options.without_slipway && !is_image)
    return Error{ErrorCode::usage,
                 "--without-slipway is for images: it has no effect on a running or simulated machine",
                 "command line",
                 "leave it out",
                 {}};
  return core::PlanOptions{.only = options.only,
                           .lock = lock,
                           .locked = options.locked,
                           .needs_slipway = is_image && !options.without_slipway,
                           .replace_edits = options.replace_edits};
}

std::string log_folder(const Options& options) { return app::machine_log_folder(!environment_counts(options)); }

app::ChangeRequest change_request(const Options& options) {
  return {.command = options.command,
          .arguments = options.arguments,
          .only = options.only,
          .boot = options.boot,
          .image = options.image,
          .log_folder = log_folder(options),
          .version = SLIPWAY_VERSION};
}

Result<app::ApplyAttempt> open_attempt(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  SLIPWAY_TRY(wanted, plan_options(*session, options, loaded.lock));
  core::ApplyOptions apply;
  apply.plan = wanted;
  apply.awaits_sources = options.wait_for_source.has_value();
  apply.plan.keeps_others = options.boot;  // a boot removes no component that an apply has added
  apply.check = [edits = options.replace_edits](const core::PlannedRun& run) {
    return app::check_replaced(edits, run);
  };
  return app::ApplyAttempt{std::move(session), std::move(loaded.spec), std::move(apply)};
}

// A manifest's description may be part of any text. JSON has its own escapes.
void print(const std::string& text) {
  base::write_standard_output(text.starts_with('{') || text.starts_with('[') ? text : without_controls(text));
}

void print_wrapped(const std::string& text) { print_wrapped(Page(text)); }

void print_wrapped(const Page& page) { print(page.text(columns_of(STDOUT_FILENO), shows_colour(STDOUT_FILENO))); }

Result<int> finish_apply(const Options& options, const core::ApplyResult& result, TerminalUi& ui) {
  if (result.generation != 0) ui.set_generation(result.generation);
  if (!options.lock.empty() && !options.locked && !result.run.failed())
    SLIPWAY_CHECK(result.run.lock.write(options.lock));
  if (options.output == "text")
    print_wrapped(apply_text(result, options.session.root));
  else
    print(json_text(apply_json(result), options.output));
  report_failed(options, result, ui);
  if (result.error) ui.failed({}, *result.error, to_text(*result.error));
  return app::apply_exit_code(result);
}

}  // namespace slipway::cli
