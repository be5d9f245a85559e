// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/start.hpp - starts programs of this machine, and makes what they are given.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Both ends close at exec(2), and their numbers are above those that a program is given.
struct Pipe {
  Fd read;
  Fd write;
};
Result<Pipe> make_pipe();

/// Likewise: two connected stream sockets.
struct SocketPair {
  Fd ours;
  Fd theirs;
};
Result<SocketPair> make_socket_pair();

/// The descriptor under a number above those that a program is given: 0, 1, 2, and a few more. For an Fd without one,
/// the error is that of errno.
Result<Fd> moved_up(Fd fd);

/// As execve(2) takes them: valid as long as the texts are.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

/// That of this process, "NAME=VALUE".
std::vector<std::string> own_environment();

inline constexpr int kDevNull = -1;  ///< /dev/null
inline constexpr int kHeard = -2;    ///< a pipe to this process, with hear_program()

struct ChildProgram {
  std::vector<std::string> argv;                           ///< the first is looked for in PATH when it has no slash
  std::vector<std::string> environment;                    ///< all of it
  std::vector<int> descriptors{kDevNull, kHeard, kHeard};  ///< what becomes its 0, 1, 2, ...
  /// It leads a session and a process group, and ignores no signal. Else it ignores what this process does, except
  /// SIGPIPE: nohup(1) holds for it too. No signal is blocked either way.
  bool own_session = false;
};

/// posix_spawn(3): nothing of this process is copied. Errors: system_error().
Result<pid_t> start_program(const ChildProgram& program);

}  // namespace slipway
