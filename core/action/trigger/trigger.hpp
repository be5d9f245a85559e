// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/trigger.hpp - work that is pending after a change: ldconfig, depmod, initramfs, daemon-reload,
// restarts. A trigger knows when it has to run and which unit it interrupts.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/action/action_kind.hpp"

namespace slipway::core {

/// The result of running a trigger.
struct TriggerRun {
  bool done = true;  ///< false: skipped (neither the root nor this machine has the tool)
  std::string why;   ///< why it was skipped, or which files it left as they are and why; empty: it completed
  std::string text;  ///< the command that was run, for the log
};

/// The expected result of a trigger, as far as it can be known before the change that needs it.
struct Prospect {
  std::string tool;     ///< the tool that will run: "depmod of this machine"; empty: none, or systemd does it
  std::string skipped;  ///< why no tool will run, or which files will stay as they are and why
};

struct Trigger {
  enum class Kind { unknown, sysusers, udev, ldconfig, depmod, initramfs, daemon_reload, restart, reload };
  Kind kind = Kind::unknown;
  std::string argument;  ///< a kernel release, a subsystem or a unit, for kinds that have one; the whole text of an
                         ///< unknown trigger

  Trigger(Kind of, std::string about) : kind(of), argument(std::move(about)) {}
  /// Parses the form that actions, the journal and records use: "sysusers", "udev:SUBSYSTEM", "ldconfig",
  /// "depmod:RELEASE", "initramfs:RELEASE", "daemon-reload", "restart:UNIT", "reload:UNIT".
  explicit Trigger(const std::string& text);
  std::string text() const;
  auto operator<=>(const Trigger&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0

  /// Errors: `invalid` when it is not a trigger.
  Status check() const;
  /// True when modules and units need the trigger, so that it runs before they are started. All others run at the end
  /// of the apply.
  bool precedes_activation() const;
  /// True when the trigger interrupts its unit. A check that a service is back waits until the trigger has run.
  bool interrupts() const { return kind == Kind::restart || kind == Kind::reload; }

  /// Looks for the program when the trigger is planned, so that nothing is changed when it is missing.
  /// Errors: `not_found` neither the root nor this machine has the tool; `unsupported` the root's own tool cannot run
  /// here: it is for another processor, or private namespaces are not allowed.
  Result<Prospect> foresee(const Host& host) const;
  /// Runs the trigger. For an offline root: depmod -b, ldconfig -r and systemctl --root of this machine, or the root's
  /// own tools in private namespaces (initramfs). Repeatable. Errors: the tool's exit status and last lines, and what
  /// to do.
  Result<TriggerRun> run(ActionContext& context) const;
  /// Returns the files that it writes ("/etc/ld.so.cache"). A file that did not exist before slipway's triggers is
  /// removed together with the last component that named the trigger.
  std::vector<std::string> products(const Host& host) const;
};

/// Returns the triggers that an action names.
std::vector<Trigger> triggers_of(const Action& action);
/// Returns text() of each, the form used in the journal.
std::vector<std::string> texts_of(const std::vector<Trigger>& triggers);

}  // namespace slipway::core
