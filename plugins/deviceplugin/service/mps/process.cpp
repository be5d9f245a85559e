// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/process.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/regular_file.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kGoneStep{20};

std::string proc(pid_t pid) { return "/proc/" + std::to_string(pid); }

bool same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/// True when an upgrade of the driver has replaced the running program. The running file is still on the program's file
/// system; a file of a container image is not.
bool was_program(const std::string& process, const std::string& program) {
  struct stat running {};
  struct stat now {};
  if (::stat((process + "/exe").c_str(), &running) != 0 || ::stat(program.c_str(), &now) != 0 ||
      running.st_dev != now.st_dev)
    return false;
  constexpr std::string_view kDeleted = " (deleted)";  // proc(5)
  std::error_code failed;
  std::string path = std::filesystem::read_symlink(process + "/exe", failed).string();
  if (path.ends_with(kDeleted)) path.erase(path.size() - kDeleted.size());
  return std::filesystem::path(path).filename() == std::filesystem::path(program).filename();
}

/// Identifies the daemon by its program, user and pid namespace: a container may run the same program, and can fake any
/// command line.
bool is_daemon(const MpsProgram& program, pid_t pid) {
  const std::string process = proc(pid);
  struct stat owner {};
  return ::stat(process.c_str(), &owner) == 0 && owner.st_uid == ::geteuid() &&
         same_file(process + "/ns/pid", "/proc/self/ns/pid") &&
         (same_file(process + "/exe", program.path) || was_program(process, program.path));
}

/// Opens the process first, so that the checks apply to that same process.
MpsProcess verified(const MpsProgram& program, pid_t pid) {
  if (pid <= 0) return {};
  MpsProcess process = MpsProcess::of(pid);
  return is_daemon(program, pid) && process.alive() ? std::move(process) : MpsProcess();
}

/// Reads /proc/PID/stat, where the program's name, in parentheses, may contain any characters.
std::optional<ProcessStat> stat_of(pid_t pid) {
  constexpr std::size_t kLongest = 4096;
  return parse_process_stat(read_regular(proc(pid) + "/stat", kLongest).value_or(""));
}

bool has_environment(pid_t pid, const std::string& variable) {
  std::ifstream in(proc(pid) + "/environ");
  for (std::string each; std::getline(in, each, '\0');)
    if (each == variable) return true;
  return false;
}

}  // namespace

MpsProcess MpsProcess::of(pid_t pid) {
  MpsProcess process;
  process.pid_ = pid;
  process.handle_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  process.started_ = stat_of(pid).value_or(ProcessStat()).start;
  return process;
}

bool MpsProcess::alive() const {
  if (pid_ <= 0) return false;
  if (handle_) {
    pollfd ended{handle_.get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) == 0;
  }
  const auto now = stat_of(pid_);
  return now && !now->ended() && now->start == started_;
}

bool MpsProcess::ends(std::chrono::milliseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (alive() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kGoneStep);
  return !alive();
}

void MpsProcess::kill() const {
  if (alive()) ::kill(::getsid(pid_) == pid_ ? -pid_ : pid_, SIGKILL);
}

MpsListener listener(const PipeUsers& users, const MpsProcess& daemon) {
  MpsListener found = MpsListener::nobody;
  for (const pid_t pid : users.listeners) {
    if (pid != 0 && pid != daemon.pid()) return MpsListener::other;
    if (pid != 0) found = MpsListener::daemon;
  }
  return daemon.alive() ? found : MpsListener::nobody;
}

MpsProcess find_daemon(const MpsProgram& program, const PipeUsers& users) {
  if (MpsProcess holder = verified(program, users.lock)) return holder;
  for (const pid_t pid : users.listeners)
    if (MpsProcess peer = verified(program, pid)) return peer;
  return {};
}

std::vector<MpsProcess> daemons_of(const MpsProgram& program, const std::string& resource) {
  std::vector<MpsProcess> found;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
        problem != std::errc() || end != name.data() + name.size())
      continue;
    MpsProcess process = verified(program, pid);
    if (process && has_environment(pid, "CUDA_MPS_PIPE_DIRECTORY=" + program.pipe_folder(resource)))
      found.push_back(std::move(process));
  }
  return found;
}

}  // namespace slipway::deviceplugin
