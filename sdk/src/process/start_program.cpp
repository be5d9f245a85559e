// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slipway/process/start_program.hpp>

namespace slipway {
namespace {

template <class Pair>
Result<Pair> both_moved_up(const std::array<int, 2>& ends) {
  Fd second(ends[1]);
  SLIPWAY_TRY(up, moved_up(Fd(ends[0])));
  SLIPWAY_TRY(second_up, moved_up(std::move(second)));
  return Pair{std::move(up), std::move(second_up)};
}

}  // namespace

Result<Fd> moved_up(Fd fd) {
  constexpr int kFirst = 16;
  Fd moved(fd ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirst) : -1);  // the caller's failed open set errno
  if (!moved) return system_error("make", "a descriptor for a program", errno);
  return moved;
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  return both_moved_up<Pipe>(ends);
}

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return system_error("make", "a connection to a child", errno);
  return both_moved_up<SocketPair>(ends);
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

Result<pid_t> start_program(const ChildProgram& program) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (int number = 0; const int from : program.descriptors) {
    if (from >= 0 && from != number)
      posix_spawn_file_actions_adddup2(&actions, from, number);
    else if (from < 0)
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0);
    ++number;
  }
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  if (program.own_session)
    sigfillset(&signals);
  else
    sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const int session = program.own_session ? POSIX_SPAWN_SETSID : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  pid_t pid = -1;
  const int problem = ::posix_spawnp(&pid, program.argv.front().c_str(), &actions, &attributes,
                                     exec_pointers(program.argv).data(), exec_pointers(program.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) return system_error("start", program.argv.front(), problem);
  return pid;
}

}  // namespace slipway
