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

namespace slipway::cli {

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
Result<int> run_kernel_installed(const Options& options, TerminalUi& ui);
Result<int> run_kernel_scan(const Options& options, TerminalUi& ui);
Result<int> run_kernel_removed(const Options& options, TerminalUi& ui);
Result<int> run_pkg(const Options& options, TerminalUi& ui);
Result<int> complete_for_bash(const Options& options, TerminalUi& ui);
Result<int> complete_for_zsh(const Options& options, TerminalUi& ui);
Result<int> complete_for_fish(const Options& options, TerminalUi& ui);
Result<int> print_manual_page(const Options& options, TerminalUi& ui);
Result<int> print_names(const Options& options, TerminalUi& ui);
Result<int> run_version(const Options& options, TerminalUi& ui);
Result<int> run_help(const Options& options, TerminalUi& ui);

/// Runs `slipway NAME TOOL …`. @param words  everything after NAME
Result<int> run_tool(const core::Manifest& component, const std::vector<std::string>& words);

// Shared by several commands:

/// Returns the component that a command line names. Errors: `usage`, with the nearest name.
Result<const core::Manifest*> named_component(const core::Plugins& plugins, const std::string& name);

/// The spec of a command: -f, else /etc/slipway/host.yaml in the root, else the active generation.
struct SpecAndLock {
  core::HostSpec spec;
  core::Lock lock;
  bool from_generation = false;
};
Result<SpecAndLock> load_spec(core::Session& session, const Options& options);

/// Returns the number of a generation given on the command line; nothing when it is not a number.
std::optional<int> generation_number(const std::string& text);

/// Sets the kernels of a generation that is applied again, if it has several and the command line names none: each
/// kernel keeps its modules. A single kernel is replaced by the running one.
Status take_kernels(core::Session& session, const core::Generation& generation);

/// Uses components that the command line names without an option as those of --only. Errors: `usage` when it has both.
Status take_names(Options& options);

/// Returns the signs that "/" is an image and not a machine, when the command line does not say which; empty when it is
/// clear.
std::vector<std::string> doubts_about_machine(const Options& options);

/// Opens the session with the spec's hardware word.
Result<std::unique_ptr<core::Session>> open_session(const Options& options, TerminalUi& ui);

/// Returns the options of a plan or an apply. Errors: `invalid` an option that has no effect on this root.
Result<core::PlanOptions> plan_options(const core::Session& session, const Options& options, const core::Lock& lock);

/// Returns the folder of this machine's log; SLIPWAY_LOG_DIR counts where environment_counts().
std::string log_folder(const Options& options);
/// Returns the log's data about this command.
app::ChangeRequest change_request(const Options& options);

/// Opens the session and reads the spec for an apply.
Result<app::ApplyAttempt> open_attempt(const Options& options, TerminalUi& ui);

/// Prints a plan, and returns its exit code.
int show_plan(const core::PlannedRun& run, const Options& options);

/// On a terminal, without --yes, shows the plan and asks the user about it; else returns true.
bool agreed(const core::PlannedRun& run, const Options& options);
/// Reports that nothing was changed because the user did not agree.
int leave_unchanged(const Options& options);

/// The common end of apply, rollback and remove. With --dry-run only shows the plan; on a terminal, without --yes,
/// shows it and asks the user; then applies it, records it in this machine's log, and prints the result.
Result<int> change_host(core::Session& session, const Options& options, const core::HostSpec& spec,
                        const core::ApplyOptions& apply, TerminalUi& ui);

/// Prints the result of an apply, writes the lock, and returns the exit code.
Result<int> finish_apply(const Options& options, const core::ApplyResult& result, TerminalUi& ui);

/// True when SLIPWAY_PLUGIN_PATH, SLIPWAY_NVML and similar variables may choose programs and libraries, and
/// SLIPWAY_LOG_DIR the log's folder. Usually the caller decides. But root on the live machine may have got the
/// environment of an ordinary user (`sudo -E`): there the variables count only for commands that change nothing and for
/// trials, and never in the shipped units.
bool environment_counts(const Options& options);

/// Writes to standard output. main() checks at the end that all output was written.
void print(const std::string& text);
/// Prints for a user: wrapped to the terminal's width and in colour, if standard output is a terminal.
void print_wrapped(const Page& page);
void print_wrapped(const std::string& text);

}  // namespace slipway::cli
