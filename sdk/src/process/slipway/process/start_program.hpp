// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/start_program.hpp - starts programs of this machine, and prepares their descriptors.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Both ends close at exec(2), and their numbers are above those that a started program gets.
struct Pipe {
  Fd read;
  Fd write;
};
Result<Pipe> make_pipe();

/// The same with two connected stream sockets.
struct SocketPair {
  Fd ours;
  Fd theirs;
};
Result<SocketPair> make_socket_pair();

/// Moves a descriptor to a number above those that a started program gets: 0, 1, 2, and a few more. For an invalid Fd,
/// the error is that of errno.
Result<Fd> moved_up(Fd fd);

/// Returns pointers for execve(2), valid as long as the texts are.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

/// Returns the environment of this process, "NAME=VALUE".
std::vector<std::string> own_environment();

inline constexpr int kDevNull = -1;   ///< /dev/null
inline constexpr int kReadPipe = -2;  ///< a pipe to this process, with run_child()

struct ChildProgram {
  std::vector<std::string> argv;                                 ///< the first is searched in PATH when it has no slash
  std::vector<std::string> environment;                          ///< the complete environment
  std::vector<int> descriptors{kDevNull, kReadPipe, kReadPipe};  ///< its descriptors 0, 1, 2, ...
  /// The program leads a new session and process group, and ignores no signal. Otherwise it ignores the same signals as
  /// this process, except SIGPIPE: nohup(1) also applies to it. No signal is blocked in either case.
  bool own_session = false;
};

/// Uses posix_spawn(3): nothing of this process is copied. Errors: system_error().
Result<pid_t> start_program(const ChildProgram& program);

}  // namespace slipway
