// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/carry_out.hpp - carries out a plan on a test's host, as slipway does on a machine.
//
//   FakeHost host;
//   host.live("6.1.0-50-amd64").answers({"acme-ctl", "is-set"}, {.exit_status = 1});
//   host.does({"acme-ctl", "set"}, [&]() -> Result<ProcessOutput> {
//     host.answers({"acme-ctl", "is-set"}, {});
//     return ProcessOutput{};
//   });
//   EXPECT_EQ(carry_out(component, plan, host).value(), "exec acme: done\n");
//   EXPECT_EQ(carry_out(component, plan, host).value(), "exec acme: holds\n");
//   EXPECT_EQ(take_back(component, plan, host).value(), "exec acme: undone\n");
#pragma once

#include <string>

#include <slipway/component.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway::testing {

/// Carries out a plan in its order: `exec` actions that are not satisfied by the programs of the host, `custom` ones by
/// the component's preflight(), apply() and check(); `file`, `directory`, `symlink` and `remove` always change the
/// host's tree, so that later actions see them. The other kinds are slipway's own, and are passed over.
///
/// Errors that slipway treats as a defect of the plugin are errors here too: an action whose check fails after it was
/// done, or a custom action that cannot be applied again after a crash.
///
/// @return a line for each action: "KIND TARGET: " and "holds", "done", "passed over", or "waits: " and the reason; an
///         action that waits or requires a reboot ("reboot: ") is the last one
/// Errors: those of the component and the host; `plugin_defect`, naming the action.
Result<std::string> carry_out(const Component& component, const Plan& plan, FakeHost& host);

/// Undoes the plan's exec and custom actions, from the last to the first, as the removal of the component does: by
/// `undo`, `inverse` or `on_removal`; with `stays` they stay. Removes the files of the tree.
/// @return a line for each action: "KIND TARGET: " and "undone", "removed", "stays" or "passed over"
/// Errors: as above.
Result<std::string> take_back(const Component& component, const Plan& plan, FakeHost& host);

}  // namespace slipway::testing
