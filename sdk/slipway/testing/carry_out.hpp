// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/carry_out.hpp - carries out a plan on a host of a test, as slipway does it on a machine.
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

/// Carries out what does not hold yet, in the order of the plan: `exec` by the programs of the host, `custom` by the
/// component's preflight(), apply() and check(); `file`, `directory`, `symlink` and `remove` are made in the host's
/// tree, so that the others find them. The other kinds are slipway's own, and are passed over.
///
/// What slipway takes for a defect of the plugin is an error here too: an action whose check does not hold once it is
/// done, or a custom one that cannot be applied again after a crash.
///
/// @return a line for each action: "KIND TARGET: " and "holds", "done", "passed over", or "waits: " and the reason;
/// what
///         waits, or requires a reboot ("reboot: "), ends it
/// Errors: those of the component and the host; `plugin_defect`, naming the action.
Result<std::string> carry_out(const Component& component, const Plan& plan, FakeHost& host);

/// Takes back what the plan's exec and custom actions did, from the last to the first, as the removal of the component
/// does: by `undo`, `inverse` or `on_removal`, and as it is with `stays`. Files of the tree are taken away.
/// @return a line for each action: "KIND TARGET: " and "undone", "removed", "stays" or "passed over"
/// Errors: as above.
Result<std::string> take_back(const Component& component, const Plan& plan, FakeHost& host);

}  // namespace slipway::testing
