// SPDX-License-Identifier: Apache-2.0
// cli/kernel/kernel.cpp - `slipway kernel installed | removed RELEASE`: package managers' hooks and
// slipway-kernel@RELEASE.service run it. It applies the active generation again, for the components that have files for
// each kernel, with this kernel more or less.
#include <algorithm>

#include <slipway/text.hpp>

#include "app/kernel_change.hpp"
#include "app/waiting.hpp"
#include "base/kernels/kernels.hpp"
#include "cli/command.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

using Kind = KernelChange::Kind;

constexpr std::chrono::seconds kWaitForOthers{1800};
constexpr std::chrono::seconds kStopLimitOfHook{20};

/// What to do about a kernel without modules: the key new_kernel.without_modules of a component's section.
std::string policy_of(const core::HostSpec& spec, const std::vector<std::string>& components) {
  for (const std::string& name : components) {
    const Json policy = spec.components.at(name).value("new_kernel", Json::object());
    if (policy.is_object() && policy.contains("without_modules")) return policy.value("without_modules", "hold");
  }
  return "hold";
}

/// A hook cannot ask whether "/" is a machine or an image. It counts as an image where there are signs of an image
/// build (such as no systemd), or in a chroot.
Options with_machine(Options options) {
  const bool decided =
      options.session.live || options.image || !options.session.sim.empty() || options.session.root != "/";
  if (decided || (doubts_about_machine(options).empty() && !app::is_in_chroot())) return options;
  options.image = true;
  options.session.live = false;
  return options;
}

class KernelRun {
 public:
  KernelRun(const Options& options, KernelChange change, TerminalUi& ui)
      : options_(options), change_(std::move(change)), ui_(ui) {}

  Result<int> run();

 private:
  Result<app::ApplyAttempt> open() const;
  Result<core::ApplyResult> apply(app::ApplyAttempt& attempt);
  bool lacks_files(const Result<core::ApplyResult>& result) const;
  bool failed(const Result<core::ApplyResult>& result) const { return !result || result->error || lacks_files(result); }
  std::string error_of(const Result<core::ApplyResult>& result) const;
  Result<int> finish_installed(const app::ApplyAttempt& attempt, const Result<core::ApplyResult>& result);
  Result<int> go_without(const app::ApplyAttempt& attempt, const std::string& problem);
  Result<int> finish_removed(app::ApplyAttempt& attempt, const Result<core::ApplyResult>& result);
  std::vector<std::string> say_boot_default(const Result<core::ApplyResult>& result) const;
  Result<int> hand_over(const core::Session& session, const std::string& why) const;
  void say(const std::string& text) const { print_wrapped("slipway: " + text + "\n"); }
  bool of_hook() const { return options_.within.has_value(); }
  bool may_hand_over(const core::Session& session) const { return of_hook() && core::has_systemd(session.host()); }

  const Options& options_;
  KernelChange change_;
  TerminalUi& ui_;
};

Result<app::ApplyAttempt> KernelRun::open() const {
  SLIPWAY_TRY(attempt, open_attempt(options_, ui_));
  core::Session& session = *attempt.session;
  std::vector<std::string> kernels = session.options().kernels;  // those of the generation, if it names kernels
  std::erase(kernels, change_.release);
  if (!kernels.empty()) {
    if (change_.kind == Kind::installed) kernels.push_back(change_.release);
    SLIPWAY_CHECK(session.set_kernels(kernels));
  }
  SLIPWAY_CHECK(session.set_kernel_change(change_));
  attempt.apply.plan.only = app::components_per_kernel(session, attempt.spec);
  attempt.apply.plan.keeps_others = true;
  attempt.apply.plan.needs_slipway = false;  // this slipway is the root's own, or was when the image was made
  attempt.spec.keeps_failed_changes = true;  // a fault of the running machine does not take the new kernel's files back
  return std::move(attempt);
}

Result<core::ApplyResult> KernelRun::apply(app::ApplyAttempt& attempt) {
  app::ChangeRequest request = change_request(options_);
  request.command = "kernel " + options_.command;
  app::WaitLimits limits;
  if (!may_hand_over(*attempt.session)) limits.others = options_.within.value_or(kWaitForOthers);
  return app::apply_and_wait(*attempt.session, request, attempt.spec, attempt.apply, limits, [&] { return open(); });
}

/// True when there was no plan, or it could not be carried out, because of what the components need for this kernel.
bool KernelRun::lacks_files(const Result<core::ApplyResult>& result) const {
  return result && std::ranges::any_of(result->run.components, [](const core::PlannedComponent& component) {
           return component.error || component.state == core::ComponentState::blocked ||
                  component.state == core::ComponentState::waiting;
         });
}

std::string KernelRun::error_of(const Result<core::ApplyResult>& result) const {
  if (!result) return to_text(result.error());
  if (result->error) return to_text(*result->error);
  std::string text;
  for (const core::PlannedComponent& component : result->run.components) {
    text += error_text(result->run, component);
    if (!component.error && !component.reason.empty()) text += component.name + ": " + component.reason + "\n";
  }
  return text;
}

Result<int> KernelRun::hand_over(const core::Session& session, const std::string& why) const {
  SLIPWAY_CHECK(app::start_kernel_unit(session.host_config(), change_.release));
  say(why + ": " + app::kernel_unit(change_.release) + " continues the work");
  return core::kExitDone;
}

/// Prints what the components' plans say about the kernel that boots by default, and returns it.
std::vector<std::string> KernelRun::say_boot_default(const Result<core::ApplyResult>& result) const {
  std::vector<std::string> notes;
  if (!result) return notes;
  for (const core::PlannedComponent& component : result->run.components)
    for (const std::string& note : component.plan.notes())
      if (note.starts_with("boot default: ")) notes.push_back(note);
  for (const std::string& note : notes) say(note);
  return notes;
}

/// The kernel has no files from this component. They are recorded as missing, so that status and the next apply know.
Result<int> KernelRun::go_without(const app::ApplyAttempt& attempt, const std::string& problem) {
  const std::string policy = policy_of(attempt.spec, attempt.apply.plan.only);
  const std::string what = "kernel " + change_.release + " has no modules of " +
                           listed(attempt.apply.plan.only, "and") + ", so no GPU would work after it boots";
  say(what);
  print_wrapped(problem);
  KernelRun without(options_, {change_.release, Kind::without_modules}, ui_);
  SLIPWAY_TRY(again, without.open());
  const auto result = without.apply(again);
  if (const std::string other = failed(result) ? error_of(result) : ""; other != problem) print_wrapped(other);
  const std::vector<std::string> boot = say_boot_default(result);
  const std::string help = "`slipway kernel installed " + change_.release + "` tries again";
  say(help);
  app::warn_in_journal(*attempt.session, what + ". " + help);
  const std::string notice =
      "slipway: " + what + ".\n" + joined(boot, "\n") + (boot.empty() ? "" : "\n") + help + ".\n";
  if (const Status noticed = app::write_notice(*attempt.session, change_.release, notice); !noticed)
    ui_.log(core::Ui::Level::warning, "", "there is no notice for users who log in: " + noticed.error().what);
  return policy == "fail" || !of_hook() ? core::kExitError : core::kExitDone;
}

Result<int> KernelRun::finish_installed(const app::ApplyAttempt& attempt, const Result<core::ApplyResult>& result) {
  if (lacks_files(result)) return go_without(attempt, error_of(result));
  if (failed(result)) {  // the apply failed as a whole: the kernel's files may be there
    const std::string what = "kernel " + change_.release + " is not prepared";
    say(what);
    print_wrapped(error_of(result));
    app::warn_in_journal(*attempt.session, what + ": " + error_of(result));
    return of_hook() ? core::kExitDone : core::kExitError;
  }
  (void)app::write_notice(*attempt.session, change_.release, "").ok();
  const std::string names = listed(attempt.apply.plan.only, "and");
  if (result->changed)
    say(names + " is ready for kernel " + change_.release);
  else if (!of_hook())
    say(names + " was ready for kernel " + change_.release + " before");
  if (result->changed) say_boot_default(result);
  return core::kExitDone;
}

Result<int> KernelRun::finish_removed(app::ApplyAttempt& attempt, const Result<core::ApplyResult>& result) {
  (void)app::write_notice(*attempt.session, change_.release, "").ok();
  if (failed(result)) {
    say("the files for kernel " + change_.release + " stay");
    print_wrapped(error_of(result));
    return of_hook() ? core::kExitDone : core::kExitError;
  }
  SLIPWAY_CHECK(app::remove_indexes(*attempt.session, change_.release));
  if (result->changed) say("the files for kernel " + change_.release + " are removed");
  if (result->changed) say_boot_default(result);
  return core::kExitDone;
}

Result<int> KernelRun::run() {
  SLIPWAY_TRY(attempt, open());
  const core::Session& session = *attempt.session;
  if (attempt.apply.plan.only.empty()) {
    if (!of_hook()) say("no component that is applied here has files that depend on the kernel");
    return core::kExitDone;
  }
  const bool is_there = app::has_kernel(session.host(), change_.release);
  if (is_there != (change_.kind == Kind::installed)) {
    if (!of_hook())
      say("kernel " + change_.release + (is_there ? " is still in /lib/modules" : " is not in /lib/modules"));
    return core::kExitDone;
  }
  std::optional<app::HandOver> deadline;
  if (may_hand_over(session) && change_.kind == Kind::installed)
    deadline.emplace(*options_.within, session.host_config(), change_.release, [this] {
      say("this takes longer than " + std::to_string(options_.within->count()) +
          " s: " + app::kernel_unit(change_.release) + " continues the work");
    });
  auto result = apply(attempt);
  if (deadline && deadline->done()) return core::kExitDone;
  deadline.reset();
  SLIPWAY_CHECK(core::check_not_stopped());
  const bool locked = !result && result.error().code == ErrorCode::locked;
  if (locked && may_hand_over(session) && change_.kind == Kind::installed)
    return hand_over(session, "another slipway is at work");
  return change_.kind == Kind::removed ? finish_removed(attempt, result) : finish_installed(attempt, result);
}

Result<int> follow(const Options& given, Kind kind, TerminalUi& ui) {
  SLIPWAY_TRY(release, app::kernel_release_from(given.arguments.front()));
  Options options = with_machine(given);
  options.of_generation = true;
  options.yes = true;
  if (!options.within) {
    core::watch_stop_signals();
    return KernelRun(options, {release, kind}, ui).run();
  }
  core::watch_stop_signals(kStopLimitOfHook);
  base::LogSettings quiet = options.log;
  quiet.level = options.verbose ? quiet.level : base::LogLevel::warning;
  TerminalUi hook_ui(quiet, false);
  auto ended = KernelRun(options, {release, kind}, hook_ui).run();
  if (ended) return ended;
  // A package manager's run does not fail because of slipway.
  hook_ui.failed({}, ended.error(), to_text(ended.error()));
  return core::kExitDone;
}

}  // namespace

Result<int> run_kernel_installed(const Options& options, TerminalUi& ui) {
  return follow(options, Kind::installed, ui);
}

// Prepares the kernels one after the other: one apply can add only one kernel.
Result<int> run_kernel_scan(const Options& options, TerminalUi& ui) {
  std::vector<std::string> releases;
  {
    SLIPWAY_TRY(session, open_session(options, ui));
    for (const std::string& release : session->host().installed_kernels())
      if (app::has_kernel(session->host(), release)) releases.push_back(release);
  }
  base::sort_newest_first(releases);
  int worst = core::kExitDone;
  for (const std::string& release : releases) {
    Options one = options;
    one.command = "installed";
    one.arguments = {release};
    SLIPWAY_TRY(code, follow(one, Kind::installed, ui));
    worst = std::max(worst, code);
  }
  return worst;
}

Result<int> run_kernel_removed(const Options& options, TerminalUi& ui) { return follow(options, Kind::removed, ui); }

}  // namespace slipway::cli
