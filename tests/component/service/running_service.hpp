// SPDX-License-Identifier: Apache-2.0
// tests/component/service/running_service.hpp - a service under test, with the test in the place of systemd.
#pragma once

#include <chrono>
#include <csignal>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway::testing {

using Clock = std::chrono::steady_clock;

/// Waits up to 20 s for the condition.
template <class Condition>
bool eventually(const Condition& holds) {
  for (const auto end = Clock::now() + std::chrono::seconds(20); Clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return holds();
}

inline sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// A connection to the control socket of a service.
class Control {
 public:
  explicit Control(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = socket_address(path);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control() { ::close(fd_); }

  bool connected() const { return connected_; }
  /// Sends it and waits for a line; null when the other end closes or does not answer for 20 s.
  Json ask(const std::string& line) const {
    const std::string text = line + "\n";
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    std::string answer;
    for (char letter = 0; letter != '\n';) {
      pollfd wanted{fd_, POLLIN, 0};
      if (::poll(&wanted, 1, 20'000) != 1 || ::recv(fd_, &letter, 1, 0) != 1) return nullptr;
      answer += letter;
    }
    return Json::parse(answer);
  }

 private:
  int fd_;
  bool connected_ = false;
};

/// The process, its notifications and the lines of its file.
class RunningService {
 public:
  explicit RunningService(const ScratchHost& host, std::vector<std::string> words = {}) : host_(host) {
    notify_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const std::string path = host.folder().at("notify").string();
    ::unlink(path.c_str());
    const sockaddr_un address = socket_address(path);
    (void)::bind(notify_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (words.empty()) words = {"service", "ticker", "-f", host.folder().at("host.yaml").string()};
    pid_ = host.start(words, {"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=3000000"});
  }
  RunningService(const RunningService&) = delete;
  RunningService& operator=(const RunningService&) = delete;
  ~RunningService() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    ::close(notify_);
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  /// Returns the exit code; -1 when it runs for more than 30 s.
  int exit_code() {
    int status = 0;
    for (int i = 0; i < 3000; ++i) {
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1;
  }
  /// Returns all notifications to systemd so far.
  const std::string& told() {
    char text[1024];
    for (ssize_t got = 0; (got = ::recv(notify_, text, sizeof text, MSG_DONTWAIT)) > 0;)
      told_ += std::string(text, static_cast<std::size_t>(got)) + "\n";
    return told_;
  }
  bool hears(const std::string& what) {
    return eventually([&] { return told().find(what) != std::string::npos; });
  }
  std::string log() const { return read("err"); }
  /// Returns the service's record of its actions.
  std::string did() const { return read("ticks"); }
  bool does(const std::string& what) const {
    return eventually([&] { return did().ends_with(what); });
  }

 private:
  std::string read(const std::string& name) const {
    std::ifstream in(host_.folder().at(name));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  const ScratchHost& host_;
  int notify_ = -1;
  pid_t pid_ = -1;
  std::string told_;
};

}  // namespace slipway::testing
