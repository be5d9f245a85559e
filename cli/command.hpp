// SPDX-License-Identifier: Apache-2.0
// cli/command.hpp - the commands of slipway, one file each below commands/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/waiting.hpp"
#include "cli/options/command.hpp"
#include "cli/render/render.hpp"
#include "cli/terminal_ui.hpp"

namespace slipway::core {

Result<int> run_detect(const Options& options, TerminalUi& ui);
Result<int> run_plan(const Options& options, TerminalUi& ui);
Result<int> run_apply(const Options& options, TerminalUi& ui);
Result<int> run_verify(const Options& options, TerminalUi& ui);
Result<int> run_doctor(const Options& options, TerminalUi& ui);
Result<int> run_status(const Options& options, TerminalUi& ui);
Result<int> run_rollback(const Options& options, TerminalUi& ui);
Result<int> run_generations(const Options& options, TerminalUi& ui);
Result<int> run_diff(const Options& options, TerminalUi& ui);
Result<int> run_remove(const Options& options, TerminalUi& ui);
Result<int> run_repair(const Options& options, TerminalUi& ui);
Result<int> run_accept(const Options& options, TerminalUi& ui);
Result<int> run_graph(const Options& options, TerminalUi& ui);
Result<int> run_gc(const Options& options, TerminalUi& ui);
Result<int> run_log(const Options& options, TerminalUi& ui);
Result<int> run_bugreport(const Options& options, TerminalUi& ui);
Result<int> run_install(const Options& options, TerminalUi& ui);
Result<int> run_init(const Options& options, TerminalUi& ui);
Result<int> run_explain(const Options& options, TerminalUi& ui);
Result<int> list_plugins(const Options& options, TerminalUi& ui);
Result<int> describe_plugin(const Options& options, TerminalUi& ui);
Result<int> write_plugin(const Options& options, TerminalUi& ui);
Result<int> check_plugin(const Options& options, TerminalUi& ui);
Result<int> run_pause(const Options& options, TerminalUi& ui);
Result<int> run_service(const Options& options, TerminalUi& ui);
Result<int> run_pkg(const Options& options, TerminalUi& ui);
Result<int> complete_for_bash(const Options& options, TerminalUi& ui);
Result<int> complete_for_zsh(const Options& options, TerminalUi& ui);
Result<int> complete_for_fish(const Options& options, TerminalUi& ui);
Result<int> print_manual_page(const Options& options, TerminalUi& ui);
Result<int> print_names(const Options& options, TerminalUi& ui);
Result<int> run_version(const Options& options, TerminalUi& ui);
Result<int> run_help(const Options& options, TerminalUi& ui);

/// `slipway NAME TOOL …`. @param words  everything after NAME
Result<int> run_tool(const Manifest& component, const std::vector<std::string>& words);

// Shared by several commands.

/// The component that a command line names. Errors: `usage`, with the nearest one.
Result<const Manifest*> named_component(const Plugins& plugins, const std::string& name);

/// The spec of a command: -f, else /etc/slipway/host.yaml in the root, else the generation in force.
struct SpecAndLock {
  HostSpec spec;
  Lock lock;
  bool from_generation = false;
};
Result<SpecAndLock> load_spec(Session& session, const Options& options);

/// The number of a generation as the command line has it; nothing where it is none.
std::optional<int> generation_number(const std::string& text);

/// The kernels of a generation that is applied again, if they are several and the command line names none: each keeps
/// its modules. One alone gives way to the kernel that runs.
Status take_kernels(Session& session, const Generation& generation);

/// Components that the command line names without an option are those of --only. Errors: `usage` there are both.
Status take_names(Options& options);

/// What speaks for "/" being an image and no machine, where the command line does not say which; empty: it is clear.
std::vector<std::string> doubts_about_machine(const Options& options);

/// Opens the session with the spec's hardware word.
Result<std::unique_ptr<Session>> open_session(const Options& options, TerminalUi& ui);

/// What a plan or an apply is to be made of. Errors: `invalid` an option that has no effect on this root.
Result<PlanOptions> plan_options(const Session& session, const Options& options, const Lock& lock);

/// Where the log of the machine that acts is; SLIPWAY_LOG_DIR counts where environment_counts().
std::string log_folder(const Options& options);
/// What the log says of this command.
ChangeRequest change_request(const Options& options);

/// Opens the session and reads the spec, as an apply wants them.
Result<ApplyAttempt> open_attempt(const Options& options, TerminalUi& ui);

/// Prints a plan, and gives the exit code of one.
int show_plan(const PlannedRun& run, const Options& options);

/// On a terminal, without --yes, shows the plan and asks about it; true where nobody is to be asked.
bool agreed(const PlannedRun& run, const Options& options);
/// Says that nothing was changed, as it was not agreed to.
int leave_unchanged(const Options& options);

/// What apply, rollback and remove end in. With --dry-run only the plan is shown; on a terminal, without --yes, it is
/// shown and asked about; then it is applied, this machine's log keeps it, and what it came to is printed.
Result<int> change_host(Session& session, const Options& options, const HostSpec& spec, const ApplyOptions& apply,
                        TerminalUi& ui);

/// Prints what an apply came to, writes the lock, and gives the exit code.
Result<int> finish_apply(const Options& options, const ApplyResult& result, TerminalUi& ui);

/// Whether SLIPWAY_PLUGIN_PATH, SLIPWAY_NVML and their like choose what runs, and SLIPWAY_LOG_DIR where the log is.
/// Whoever starts slipway decides that, but root on the live machine may have got the environment of an ordinary user
/// (`sudo -E`): there they count only for a look and for what is started to try something out, and under the shipped
/// units never.
bool environment_counts(const Options& options);

/// To standard output. Whether all of it got there is what main() asks at the end.
void print(const std::string& text);
/// For people: fits the terminal and has its colours, if standard output is one.
void print_wrapped(const Page& page);
void print_wrapped(const std::string& text);

}  // namespace slipway::core
