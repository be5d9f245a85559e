// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/child_process.hpp - reads the output of a child and waits for its end, within limits
// of time and bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/process/start_program.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Returns the time until then, in whole milliseconds as poll(2) takes them; 0 when it has passed.
std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point end);

/// Waits for the end of a child. @param status as of waitpid(2); unchanged when the kernel does not know it
bool child_ended(pid_t pid, std::chrono::milliseconds limit, int* status = nullptr);

/// Returns 0 to 255; 128 and more when a signal ended it. @param status as of waitpid(2)
int exit_status_of(int status);

/// "exit status 1", "signal 11". @param status as of waitpid(2)
std::string ending_of(int status);

/// A child of this process that no other code waits for, and the reading ends of its output.
struct Child {
  pid_t pid = -1;
  Fd output;
  Fd errors;
  bool leads_group = false;  ///< it leads the process group of its number, which is killed with it
};

constexpr std::chrono::hours kForever{24 * 3650};

struct ChildLimits {
  std::chrono::milliseconds limit = kForever;
  std::chrono::milliseconds grace{0};  ///< from SIGTERM at the limit to SIGKILL; zero: SIGKILL at once
  std::size_t most_bytes = 1 << 20;    ///< the newest bytes of each stream are kept
  bool ends_flood = false;             ///< more bytes than this end the child
  /// Reads until no process has the streams open any more; after the child was killed, for at most another `limit`.
  bool to_last_writer = false;
  std::function<bool()> stop{};                            ///< returns true to kill it: called many times a second
  std::function<void(std::string_view part)> on_output{};  ///< receives the output, which is then not kept
  std::function<void(std::string_view part)> on_errors{};
};

struct ChildResult {
  enum class End { by_itself, timed_out, flooded, stopped };
  End end = End::by_itself;  ///< by itself, or why it was killed
  int status = 0;  ///< as of waitpid(2); 0 when the kernel does not know it, or delays the end of a killed process
  std::string output;
  std::string errors;
  bool truncated = false;
};

/// Reads until the child ends or is killed by SIGKILL. Processes that it left keep running, and their output is
/// dropped.
ChildResult await_child(Child child, const ChildLimits& how);

/// Starts a program and reads its output. @param input for its standard input; must fit into a pipe. Errors:
/// system_error().
Result<ChildResult> run_child(ChildProgram program, const ChildLimits& how, const std::string& input = {});

}  // namespace slipway
