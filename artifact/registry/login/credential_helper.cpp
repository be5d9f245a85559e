// SPDX-License-Identifier: Apache-2.0
// docker-credential-NAME: a program that is told a server on its standard input and prints user and secret as JSON.
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <slipway/fd.hpp>

#include "artifact/oci/json_field.hpp"
#include "artifact/registry/login/credentials.hpp"

extern char** environ;

namespace slipway::artifact {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLookAgainMs = 5;
constexpr std::size_t kMaxAnswer = 64UL << 10;

Error failed(const std::string& program, ErrorCode code, const std::string& why) {
  return Error{.code = code,
               .what = "the credential helper " + program + " " + why,
               .where = program,
               .next = "run it by hand, or log in without a credential helper"};
}

/// Two connected sockets: unlike pipes they can be written to without a signal when nobody reads.
struct Pipe {
  Fd reader;
  Fd writer;
  static Pipe make() {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
    return {Fd(ends[0]), Fd(ends[1])};
  }
};

/// A started program. It is killed when this goes away before wait().
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    static_cast<void>(wait(Clock::time_point::max()));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its exit status; 128 and more when a signal ended it; nothing when it goes on beyond the deadline.
  std::optional<int> wait(Clock::time_point deadline) {
    int status = 0;
    for (pid_t ended = 0; ended != pid_;) {
      ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended < 0 && errno != EINTR) break;  // SIGCHLD is ignored: the kernel has taken its status
      if (ended == 0 && Clock::now() >= deadline) return std::nullopt;
      if (ended == 0) (void)::poll(nullptr, 0, kLookAgainMs);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

int spawn(const std::string& program, const Pipe& in, const Pipe& out, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.reader.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.writer.get(), STDOUT_FILENO);
  std::string name = program;
  std::string verb = "get";
  std::array<char*, 3> argv{name.data(), verb.data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int problem = ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return problem;
}

Error too_late(const std::string& program, std::chrono::seconds limit) {
  return failed(program, ErrorCode::timed_out, "did not end within " + std::to_string(limit.count()) + " s");
}

Result<std::string> read_answer(const Fd& from, const std::string& program, Clock::time_point deadline,
                                std::chrono::seconds limit) {
  std::string answer;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd watched{.fd = from.get(), .events = POLLIN, .revents = 0};
    const int ready = left > 0 ? ::poll(&watched, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return too_late(program, limit);
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count <= 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
    if (answer.size() > kMaxAnswer) return failed(program, ErrorCode::invalid, "answers without end");
  }
}

}  // namespace

Result<std::optional<Credentials>> ask_helper(const std::string& helper, const std::string& server,
                                              std::chrono::seconds limit) {
  const std::string program = "docker-credential-" + helper;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (helper.empty() || helper.find_first_not_of(kLetters) != std::string::npos)
    return failed(program, ErrorCode::invalid, "has no name of a program");
  Pipe in = Pipe::make();
  Pipe out = Pipe::make();
  pid_t pid = -1;
  if (const int problem = spawn(program, in, out, pid); problem != 0)
    return failed(program, ErrorCode::not_found, "cannot be started: it is not in PATH");
  Child child(pid);
  in.reader.reset();
  out.writer.reset();
  const std::string line = server + "\n";
  // A helper may end without reading: that shows in its answer.
  static_cast<void>(!::send(in.writer.get(), line.data(), line.size(), MSG_NOSIGNAL));
  in.writer.reset();
  const auto deadline = Clock::now() + limit;
  SLIPWAY_TRY(answer, read_answer(out.reader, program, deadline, limit));
  const auto ended = child.wait(deadline);  // its answer is whole, and it may go on all the same
  if (!ended) return too_late(program, limit);
  const int status = *ended;
  if (status != 0 && answer.find("credentials not found") != std::string::npos) return std::optional<Credentials>();
  if (status != 0) return failed(program, ErrorCode::invalid, "failed with exit status " + std::to_string(status));
  const auto value = parse_json(answer, "the answer");
  if (!value) return failed(program, ErrorCode::invalid, "did not answer in JSON");
  Credentials credentials{
      .user = text_at(*value, "Username"), .password = text_at(*value, "Secret"), .found_in = program};
  if (credentials.user == "<token>") credentials.identity_token = std::exchange(credentials.password, {});
  if (credentials.user.empty()) return std::optional<Credentials>();
  return std::optional(std::move(credentials));
}

}  // namespace slipway::artifact
