// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/trigger.hpp - work that is pending once something changed: ldconfig, depmod, initramfs,
// daemon-reload, restarts. A trigger says itself when it is run and whom it interrupts.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/action/action_kind.hpp"

namespace slipway::core {

/// How the run of a trigger went.
struct TriggerRun {
  bool done = true;  ///< false: skipped (the root has no such tool and none can stand in)
  std::string why;   ///< why it was skipped, or which files it left as they are and why; empty: it did all its work
  std::string text;  ///< what was run, for the log
};

/// What the run of a trigger will come to, as far as it can be told before the change that needs it.
struct Prospect {
  std::string tool;     ///< what will be run: "depmod of this machine"; empty: nothing, or systemd is told
  std::string skipped;  ///< why there will be nothing to run, or which files will stay as they are and why
};

struct Trigger {
  enum class Kind { unknown, sysusers, udev, ldconfig, depmod, initramfs, daemon_reload, restart, reload };
  Kind kind = Kind::unknown;
  std::string argument;  ///< a kernel's release, a subsystem or a unit, for kinds that have one; of an unknown one the
                         ///< whole text

  Trigger(Kind of, std::string about) : kind(of), argument(std::move(about)) {}
  /// As actions, the journal and records name it: "sysusers", "udev:SUBSYSTEM", "ldconfig", "depmod:RELEASE",
  /// "initramfs:RELEASE", "daemon-reload", "restart:UNIT", "reload:UNIT".
  explicit Trigger(const std::string& text);
  std::string text() const;
  auto operator<=>(const Trigger&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0

  /// Errors: `invalid` for what is not a trigger.
  Status check() const;
  /// Modules and units need it: it is run before they are set to work. All others wait for the end of the apply.
  bool precedes_activation() const;
  /// It interrupts its unit, so that who asks whether the service is back waits for it.
  bool interrupts() const { return kind == Kind::restart || kind == Kind::reload; }

  /// Looks for the program when the trigger is planned, so that nothing is changed where none is there.
  /// Errors: `not_found` nobody has the tool that the change needs; `unsupported` it is the root's own, and that cannot
  /// be run here: it is for another processor, or private namespaces are not allowed.
  Result<Prospect> foresee(const Host& host) const;
  /// Runs it. In a root that is not live: depmod -b, ldconfig -r, systemctl --root of this machine, or the root's own
  /// tools in private namespaces (initramfs). Repeatable. Errors: the tool's exit status and last lines, and what to
  /// do.
  Result<TriggerRun> run(ActionContext& context) const;
  /// The files that its run writes ("/etc/ld.so.cache"): what was not there before any of our triggers goes again when
  /// the last component that named it is removed.
  std::vector<std::string> products(const Host& host) const;
};

/// Those that an action names.
std::vector<Trigger> triggers_of(const Action& action);
/// text() of each, as the journal has them.
std::vector<std::string> texts_of(const std::vector<Trigger>& triggers);

}  // namespace slipway::core
