// SPDX-License-Identifier: Apache-2.0
#include "author/trial_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

Result<pid_t> start(const TrialCommand& command, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  pid_t pid = -1;
  const int problem = posix_spawn(&pid, command.argv.front().c_str(), &actions, nullptr, pointers(command.argv).data(),
                                  pointers(command.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return system_error("start", command.argv.front(), problem);
  return pid;
}

/// Hands on the whole lines of a stream, and at its end what is left.
class Lines {
 public:
  explicit Lines(std::function<void(const std::string& line)> take) : take_(std::move(take)) {}
  void add(std::string_view bytes) {
    rest_ += bytes;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      take_(rest_.substr(0, end + 1));
      rest_.erase(0, end + 1);
    }
  }
  void end() {
    if (!rest_.empty()) take_(std::exchange(rest_, {}));
  }

 private:
  std::function<void(const std::string& line)> take_;
  std::string rest_;
};

/// A line of standard output with -o jsonl: steps are counted, warnings kept, and what is no event is the result.
void take_output(const std::string& line, TrialRun& run) {
  const Json value = Json::parse(line, nullptr, false);
  if (!value.is_object()) return;
  if (value.value("kind", "") != "Event") {
    run.result = value;
    return;
  }
  const std::string type = value.value("type", "");
  if (type == "step") ++run.steps;
  if (type == "warning") run.messages += "warning: " + value.value("text", "") + "\n";
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<TrialRun> run_trial(const TrialCommand& command) {
  SLIPWAY_TRY(output, make_pipe());
  SLIPWAY_TRY(errors, make_pipe());
  SLIPWAY_TRY(pid, start(command, output.write.get(), errors.write.get()));
  output.write = Fd();
  errors.write = Fd();

  TrialRun run;
  run.result = Json::object();
  Lines printed([&](const std::string& line) { take_output(line, run); });
  Lines messages([&](const std::string& line) { run.messages += line; });
  bool late = false;
  const auto end = Clock::now() + command.limit;
  std::array<pollfd, 2> open{pollfd{output.read.get(), POLLIN, 0}, pollfd{errors.read.get(), POLLIN, 0}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = ::poll(open.data(), open.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      ::kill(pid, SIGKILL);
      break;
    }
    for (pollfd& source : open) {
      if (source.fd < 0 || source.revents == 0) continue;
      std::array<char, 16384> buffer{};
      const ssize_t count = ::read(source.fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      const std::string_view bytes(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
      (&source == open.data() ? printed : messages).add(bytes);
      if (count <= 0) source.fd = -1;
    }
    if (command.kill_at_step != 0 && !run.killed && run.steps >= command.kill_at_step) {
      run.killed = true;
      ::kill(pid, SIGKILL);
    }
  }
  printed.end();
  messages.end();
  run.exit_code = wait_for(pid);
  if (late)
    return Error{
        ErrorCode::timed_out,
        "slipway " + command.argv.at(1) + " had not ended after " + std::to_string(command.limit.count()) + " s",
        command.argv.front(),
        "run it by hand with -v to see where it stays",
        {{"messages", run.messages}}};
  return run;
}

}  // namespace slipway::core
