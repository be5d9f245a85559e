// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/failure.hpp"

#include <csignal>
#include <cstring>

#include <sys/wait.h>

namespace slipway::core {
namespace {

std::string signal_words(int number) {
  const char* const name = sigabbrev_np(number);
  std::string text = name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name;
  if (const char* const description = sigdescr_np(number)) text += std::string(" (") + description + ")";
  if (number == SIGKILL) text += ", perhaps by the kernel, because memory ran out";
  return text;
}

Error report(const Failed& failed, ErrorCode code, const std::string& how, std::string next) {
  Error error{.code = code,
              .what = "the plugin of " + failed.name + " " + how,
              .where = failed.plugin,
              .next = std::move(next)};
  error.details.emplace_back("phase", failed.phase);
  if (!failed.output.empty()) error.details.emplace_back("output", failed.output);
  return error;
}

constexpr const char* kTellAuthors =
    "please report this to the plugin's authors; the other components are not affected";

}  // namespace

Error ended_by_itself(const Failed& failed, int status) {
  std::string how = "ended in " + failed.phase;
  if (status >= 0 && WIFSIGNALED(status))
    how = "crashed in " + failed.phase + ": " + signal_words(WTERMSIG(status));
  else if (status >= 0 && WIFEXITED(status))
    how += " by itself, with status " + std::to_string(WEXITSTATUS(status));
  return report(failed, ErrorCode::plugin_defect, how, kTellAuthors);
}

Error misbehaved(const Failed& failed, const std::string& how) {
  return report(failed, ErrorCode::plugin_defect, how + " in " + failed.phase + " and was ended", kTellAuthors);
}

Error ran_out_of_time(const Failed& failed, std::chrono::milliseconds limit) {
  const auto count = limit.count();
  const std::string time =
      count >= 1000 && count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
  return report(failed, ErrorCode::timed_out, "did not finish " + failed.phase + " within " + time + " and was ended",
                failed.output.empty()
                    ? "when the cause is gone, run the same command again with -v, which shows its requests and its log"
                    : "its last output says what it was doing; run the same command again when the cause is gone");
}

Error stuck_in_kernel(const Failed& failed, const Error& error, int pid) {
  const std::string process = std::to_string(pid);
  Error stuck = report(failed, error.code,
                       "is stuck in the kernel: SIGKILL did not end process " + process + ", which was left behind",
                       "see `cat /proc/" + process + "/stack` and `dmesg`: only a reboot may end it");
  stuck.details.emplace_back("before", error.what);
  return stuck;
}

Error worker_already_ended(const Failed& failed) {
  return report(failed, ErrorCode::plugin_defect, "cannot do " + failed.phase + ": its worker was stopped before",
                "see the first error");
}

}  // namespace slipway::core
