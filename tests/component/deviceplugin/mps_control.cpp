// SPDX-License-Identifier: Apache-2.0
// A stand-in for nvidia-cuda-mps-control: `-f` is the daemon, else one command on standard input. As the real one, it
// holds a lock on control_lock, ends when another daemon has that lock, listens for commands at control_privileged and
// for clients at control, opens any file that has the name of its pipe, exits with 0 after any command, and does not
// report a limit that it ignores. Its starts and the settings that it was given are in log/commands; its users are in
// pipe/servers and pipe/clients. Files for the test: log/no-limits: it has no memory limits, as with old drivers;
// log/no-start: it does not start; log/slow: milliseconds that each command takes. log/asked has a line for each
// command.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

std::string pipe_file(const std::string& name) {
  return std::string(std::getenv("CUDA_MPS_PIPE_DIRECTORY")) + "/" + name;
}

std::string log_file(const std::string& name) {
  return std::string(std::getenv("CUDA_MPS_LOG_DIRECTORY")) + "/" + name;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void note(const std::string& line) { std::ofstream(log_file("commands"), std::ios::app) << line << "\n"; }

struct flock whole() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

sockaddr_un address_of(const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (void)std::snprintf(address.sun_path, sizeof address.sun_path, "%s", pipe_file(name).c_str());
  return address;
}

int listen_at(const char* name) {
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(name);
  ::unlink(address.sun_path);
  constexpr int kBacklog = 128;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, kBacklog) != 0)
    std::perror(address.sun_path);
  return listener;
}

/// Returns the process that listens for commands.
pid_t daemon_pid() {
  const int connection = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of("control_privileged");
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    peer.pid = 0;
  ::close(connection);
  return peer.pid;
}

void serve(const sigset_t& until) {
  pollfd wanted[] = {{listen_at("control_privileged"), POLLIN, 0},
                     {listen_at("control"), POLLIN, 0},
                     {::signalfd(-1, &until, SFD_CLOEXEC), POLLIN, 0}};
  std::ofstream(pipe_file("daemon.new")) << ::getpid();
  std::filesystem::rename(pipe_file("daemon.new"), pipe_file("daemon"));
  while (::poll(wanted, 3, -1) > 0 && wanted[2].revents == 0)
    for (int i = 0; i < 2; ++i)
      if (const int connection = wanted[i].revents == 0 ? -1 : ::accept(wanted[i].fd, nullptr, nullptr);
          connection >= 0)
        ::close(connection);
}

int be_daemon() {
  if (std::filesystem::exists(log_file("no-start"))) return 1;
  const int file = ::open(pipe_file("control_lock").c_str(), O_WRONLY | O_CREAT, 0666);
  struct flock lock = whole();
  if (file < 0 || ::fcntl(file, F_SETLK, &lock) != 0) {
    std::puts("An instance of this daemon is already running");
    return 1;
  }
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  for (const auto& entry : std::filesystem::directory_iterator(pipe_file("")))
    if (entry.path().filename().string().starts_with("limit")) std::filesystem::remove(entry);
  std::puts("Starting control daemon");
  std::fflush(stdout);
  note("started");
  ::chmod(pipe_file("log").c_str(), 0777);  // follows a link
  serve(wanted);
  std::filesystem::remove(pipe_file("daemon"));
  return 0;
}

void quit(pid_t daemon) {
  ::kill(daemon, SIGTERM);
  while (daemon_pid() == daemon) ::usleep(2'000);
}

void set(const std::string& command, const std::string& file, const std::string& value) {
  note(command);
  std::ofstream(pipe_file(file)) << value << "\n";
}

void obey(const std::string& command, pid_t daemon) {
  char word[64] = "";
  unsigned index = 0;
  unsigned value = 0;
  if (command == "get_server_list") {
    std::cout << text_of(pipe_file("servers"));
  } else if (std::sscanf(command.c_str(), "get_client_list %u", &value) == 1) {
    std::cout << text_of(pipe_file("clients"));
  } else if (command == "quit") {
    quit(daemon);
  } else if (std::sscanf(command.c_str(), "set_default_device_pinned_mem_limit %u %uM", &index, &value) == 2) {
    if (!std::filesystem::exists(log_file("no-limits")))
      set(command, "limit-" + std::to_string(index), std::to_string(value / 1024) + "G");
  } else if (std::sscanf(command.c_str(), "get_default_device_pinned_mem_limit %u", &index) == 1) {
    std::cout << text_of(pipe_file("limit-" + std::to_string(index)));
  } else if (std::sscanf(command.c_str(), "set_default_active_thread_percentage %u", &value) == 1) {
    set(command, "limit-threads", std::to_string(value) + ".0");
  } else if (command == "get_default_active_thread_percentage") {
    const std::string text = text_of(pipe_file("limit-threads"));
    std::cout << (text.empty() ? "100.0\n" : text);
  } else {
    std::sscanf(command.c_str(), "%63s", word);
    std::cout << "Unknown command \"" << word << "\"\n";
  }
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "-f") == 0) return be_daemon();
  const pid_t daemon = daemon_pid();
  if (daemon == 0 || !std::filesystem::exists(pipe_file("daemon"))) {
    std::puts("Cannot find MPS control daemon process");
    return 1;
  }
  std::ofstream(log_file("asked"), std::ios::app) << "a command\n";
  ::usleep(static_cast<unsigned>(std::atoi(text_of(log_file("slow")).c_str())) * 1'000U);
  obey({std::istreambuf_iterator<char>(std::cin), {}}, daemon);
  return 0;
}
