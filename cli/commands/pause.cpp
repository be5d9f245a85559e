// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/start_program.hpp>
#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "base/write/paused_commands.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

constexpr int kNotFound = 127;  // the shells' exit status for a missing command
constexpr int kSignalled = 128;

volatile std::sig_atomic_t running_command = 0;

/// Passes a signal on. The terminal sends SIGINT and SIGQUIT to the command as well; other signals come only to
/// slipway.
void pass_on(int signal) {
  const pid_t command = running_command;
  if (command > 0) ::kill(command, signal);
}

/// While the command runs, a signal does not end slipway: the services would resume while the command is still running.
class SignalsPassedOn {
 public:
  SignalsPassedOn() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction now {};
      if (::sigaction(kSignals[i], nullptr, &before_[i]) != 0 || before_[i].sa_handler == SIG_IGN) continue;
      now.sa_handler = pass_on;
      (void)::sigaction(kSignals[i], &now, nullptr);
    }
  }
  ~SignalsPassedOn() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) (void)::sigaction(kSignals[i], &before_[i], nullptr);
    running_command = 0;
  }
  SignalsPassedOn(const SignalsPassedOn&) = delete;
  SignalsPassedOn& operator=(const SignalsPassedOn&) = delete;

 private:
  static constexpr std::array<int, 4> kSignals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  std::array<struct sigaction, 4> before_{};
};

Result<int> run_command(const std::vector<std::string>& words) {
  const SignalsPassedOn signals;
  const auto pid = start_program(
      {.argv = words, .environment = own_environment(), .descriptors = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}});
  if (!pid) return pid.error();
  running_command = *pid;
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0)
    if (errno != EINTR) return system_error("wait for", words.front(), errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

/// Returns the services that listen in the root.
std::vector<std::string> services_in(core::Session& session) {
  std::vector<std::string> names;
  for (const auto& [name, state] : core::ask_services(session))
    if (state.is != core::ServiceState::Is::absent && state.is != core::ServiceState::Is::died) names.push_back(name);
  return names;
}

void report_no_services(const core::Session& session, TerminalUi& ui) {
  const std::string& root = session.options().root;
  if (root == "/") return ui.log(core::Ui::Level::info, "", "no service of slipway runs, so there is nothing to pause");
  ui.log(
      core::Ui::Level::warning, "",
      "no service of slipway runs in " + root +
          ", so nothing is paused; services of other roots keep running, including those of this machine itself (/)");
}

/// Records the command for services that depend on what happened to their devices meanwhile. A root that does
/// not run has no services, and its /run/slipway would become a part of the image.
void record(core::Session& session, const std::vector<std::string>& words, int exit_code, TerminalUi& ui) {
  if (!session.host().live()) return;
  const auto root = RootDir::open(session.host().root_folder());
  const Status recorded = root
                              ? base::record_paused_command(*root, {words, exit_code, std::chrono::steady_clock::now()})
                              : Status(root.error());
  if (!recorded)
    ui.log(core::Ui::Level::warning, "", "the services could not be told which command ran: " + recorded.error().what);
}

}  // namespace

Result<int> run_pause(const Options& options, TerminalUi& ui) {
  if (::geteuid() != 0)
    return Error{ErrorCode::denied, "only root may pause slipway's services", {}, "run the command as root", {}};
  SLIPWAY_TRY(session, open_session(options, ui));
  const auto names = services_in(*session);
  if (names.empty())
    report_no_services(*session, ui);
  else
    ui.log(core::Ui::Level::info, "", "pause " + listed(names, "and") + " …");
  // The services resume when this object is destroyed or slipway ends in any way: they see that the connection is
  // closed.
  const auto paused = QuiescedServices::quiesce(session->host());
  if (!paused) return paused.error();
  if (!names.empty()) ui.log(core::Ui::Level::info, "", "the services have released the GPUs");
  const auto code = run_command(options.arguments);
  if (code) record(*session, options.arguments, *code, ui);
  if (!names.empty()) ui.log(core::Ui::Level::info, "", "the services continue");
  if (!code && code.error().code == ErrorCode::not_found) {
    ui.failed("", code.error(), to_text(code.error()));
    return kNotFound;
  }
  return code;
}

}  // namespace slipway::cli
