// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/hear.hpp - reads what a child prints and waits for its end, within limits of time and
// bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/process/start.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Until then, in whole milliseconds as poll(2) takes them; 0 when it has come.
std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point end);

/// Waits for the end of a child. @param status as of waitpid(2); stays as it is when the kernel does not know it
bool child_ended(pid_t pid, std::chrono::milliseconds limit, int* status = nullptr);

/// 0 to 255; 128 and more when a signal ended it. @param status as of waitpid(2)
int exit_status_of(int status);

/// "exit status 1", "signal 11". @param status as of waitpid(2)
std::string ending_of(int status);

/// A child of this process that nobody else waits for, and the reading ends of what it writes to.
struct Child {
  pid_t pid = -1;
  Fd output;
  Fd errors;
  bool leads_group = false;  ///< its process group has its number, and is killed with it
};

constexpr std::chrono::hours kForever{24 * 3650};

struct Hearing {
  std::chrono::milliseconds limit = kForever;
  std::chrono::milliseconds grace{0};  ///< from SIGTERM at the limit to SIGKILL; zero: SIGKILL at once
  std::size_t most_bytes = 1 << 20;    ///< of each stream the newest are kept
  bool ends_flood = false;             ///< more bytes than these end the child
  /// Goes on until nobody can write to the streams any more; when the child was killed, as long as the limit once more.
  bool to_last_writer = false;
  std::function<bool()> stop{};                            ///< whether to kill it: asked many times a second
  std::function<void(std::string_view part)> on_output{};  ///< takes what comes, which is not kept then
  std::function<void(std::string_view part)> on_errors{};
};

struct Heard {
  enum class End { by_itself, timed_out, flooded, stopped };
  End end = End::by_itself;  ///< or why it was killed
  int status = 0;            ///< as of waitpid(2); 0 when the kernel does not know it, or holds who was killed
  std::string output;
  std::string errors;
  bool truncated = false;
};

/// Until the child's end, or its death by SIGKILL. What it left running goes on, and its output is dropped.
Heard hear(Child child, const Hearing& how);

/// Starts a program and hears it. @param input for its standard input; has to fit into a pipe. Errors: system_error().
Result<Heard> hear_program(ChildProgram program, const Hearing& how, const std::string& input = {});

}  // namespace slipway
