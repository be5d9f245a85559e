// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr const char* kProgram = "/usr/bin/nvidia-cuda-mps-control";
constexpr const char* kSlice = "slipway-mps.slice";
constexpr const char* kLock = "/control_lock";
constexpr std::chrono::milliseconds kSystemdLimit{10'000};
constexpr std::size_t kMostAnswerBytes = 256 << 10;  // a list of servers or clients has a number for each
// Mounts the shared folder over the daemon's own /dev/shm: its clients see the same one.
constexpr const char* kWithShm = R"(mount --bind "$1" /dev/shm && shift && exec "$@")";

/// The two folders and nothing else, as upstream gives it.
std::vector<std::string> environment_of(const MpsProgram& program, const std::string& resource) {
  std::vector<std::string> all{"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                               "CUDA_MPS_PIPE_DIRECTORY=" + program.pipe_folder(resource),
                               "CUDA_MPS_LOG_DIRECTORY=" + program.log_folder(resource)};
  if (!program.libraries.empty()) all.push_back("LD_LIBRARY_PATH=" + program.libraries);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// @param input,output  descriptors for the child, or -1: /dev/null
Result<pid_t> spawn(std::vector<std::string> argv, std::vector<std::string> environment, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const auto redirect = [&actions](int from, int to, int flags) {
    if (from >= 0)
      posix_spawn_file_actions_adddup2(&actions, from, to);
    else
      posix_spawn_file_actions_addopen(&actions, to, "/dev/null", flags, 0);
  };
  redirect(input, STDIN_FILENO, O_RDONLY);
  redirect(output, STDOUT_FILENO, O_WRONLY);
  redirect(output, STDERR_FILENO, O_WRONLY);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigfillset(&usual);
  sigdelset(&usual, SIGKILL);
  sigdelset(&usual, SIGSTOP);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int problem =
      ::posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) return system_error("start", argv[0], problem);
  return pid;
}

/// Reads to the end, or until the limit of time or of bytes.
bool read_all(int fd, std::string& text, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  char part[512];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wanted{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) != 1) return false;
    const ssize_t got = ::read(fd, part, sizeof part);
    if (got <= 0) return got == 0;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > kMostAnswerBytes) return false;
  }
}

struct ToolOutput {
  bool ended = false;  ///< in time, and with no more output than is read
  int status = -1;     ///< 0 to 255; -1: a signal
  std::string text;
};

/// Runs a program to its end, or kills it at the limit. The input has to fit into a pipe.
Result<ToolOutput> run(std::vector<std::string> argv, std::vector<std::string> environment, const std::string& text,
                       std::chrono::milliseconds limit) {
  int input[2];
  int output[2];
  if (::pipe2(input, O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  const Fd child_in(input[0]);
  Fd to_child(input[1]);
  if (::pipe2(output, O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  const Fd from_child(output[0]);
  Fd child_out(output[1]);
  SLIPWAY_TRY(pid, spawn(std::move(argv), std::move(environment), child_in.get(), child_out.get()));
  child_out = Fd();
  (void)!::write(to_child.get(), text.data(), text.size());
  to_child = Fd();
  ToolOutput result;
  result.ended = read_all(from_child.get(), result.text, limit);
  if (!result.ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/// The file name of what a process runs; an upgrade of the driver may have replaced that file since.
std::string program_of(const std::string& process) {
  constexpr std::string_view kDeleted = " (deleted)";  // proc(5)
  std::error_code failed;
  std::string path = std::filesystem::read_symlink(process + "/exe", failed).string();
  if (path.ends_with(kDeleted)) path.erase(path.size() - kDeleted.size());
  return std::filesystem::path(path).filename();
}

/// By what it runs, its user and its namespace of processes: containers may run that program as well, and can give a
/// process of theirs any command line.
bool is_daemon(const MpsProgram& program, pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  struct stat owner {};
  return ::stat(process.c_str(), &owner) == 0 && owner.st_uid == ::geteuid() &&
         same_file(process + "/ns/pid", "/proc/self/ns/pid") &&
         (same_file(process + "/exe", program.path) ||
          program_of(process) == std::filesystem::path(program.path).filename());
}

/// A transient unit: neither a restart of the service's unit nor the end of its process touches it.
Status start_unit(const MpsProgram& program, const std::string& resource, const std::vector<std::string>& argv) {
  std::string unit = "slipway-mps-" + resource;
  std::ranges::replace(unit, '/', '-');
  std::vector<std::string> words{"systemd-run",
                                 "--quiet",
                                 "--collect",
                                 "--no-ask-password",
                                 "--unit=" + unit,
                                 std::string("--slice=") + kSlice,
                                 "--description=slipway: MPS control daemon of " + resource,
                                 "--property=TimeoutStopSec=10"};
  for (const std::string& each : environment_of(program, resource)) words.push_back("--setenv=" + each);
  words.emplace_back("--");
  words.insert(words.end(), argv.begin(), argv.end());
  SLIPWAY_TRY(output, run(std::move(words), {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "", kSystemdLimit));
  if (output.ended && output.status == 0) return {};
  return Error{.code = ErrorCode::io,
               .what = "systemd does not start " + unit + ".service: " + output.text,
               .where = unit + ".service",
               .next = "look at `systemctl status " + unit + ".service` and `journalctl -u " + unit + ".service`"};
}

/// Takes off the marks by which the supervisor finds and ends what its worker started: the first to be killed when
/// memory is short, and the worker's cgroup.
void leave_worker(pid_t pid) {
  constexpr std::string_view kWorkerCgroup = "/slipway-worker-";
  const std::string process = "/proc/" + std::to_string(pid);
  if (const Fd file(::open((process + "/oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC)); file)
    (void)!::write(file.get(), "0", 1);
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto own = line.rfind(kWorkerCgroup);
    if (!line.starts_with("0::") || own == std::string::npos) continue;
    const std::string number = std::to_string(pid);
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      const Fd above(::open((mount + line.substr(3, own - 3) + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
      if (above) (void)!::write(above.get(), number.data(), number.size());
    }
  }
}

Status make_folder(const std::string& path) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return system_error("make", path, problem.value());
  return {};
}

bool systemd_runs() { return ::access("/run/systemd/system", F_OK) == 0; }

/// Half of the memory, as upstream; 64 MiB where that cannot be read.
std::string shm_size() {
  std::ifstream in("/proc/meminfo");
  std::string name;
  unsigned long kib = 0;
  in >> name >> kib;
  constexpr unsigned long kFallback = 65536;
  return "size=" + std::to_string(name == "MemTotal:" ? kib / 2 : kFallback) + "k";
}

Status mount_shm(const std::string& path) {
  struct stat own {};
  struct stat above {};
  if (::stat(path.c_str(), &own) != 0 || ::stat((path + "/..").c_str(), &above) != 0)
    return system_error("look at", path, errno);
  if (own.st_dev != above.st_dev) return {};  // there is one already
  const std::string options = shm_size();
  if (systemd_runs()) {
    // The service's own mounts are seen by nobody else: its unit has a mount namespace.
    SLIPWAY_TRY(output, run({"systemd-mount", "--quiet", "--no-ask-password", "--collect", "--type=tmpfs",
                             "--options=nosuid,nodev,noexec,relatime," + options, "shm", path},
                            {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "", kSystemdLimit));
    if (output.ended && output.status == 0) return {};
    return Error{.code = ErrorCode::io,
                 .what = "systemd does not mount a tmpfs at " + path + ": " + output.text,
                 .where = path,
                 .next = "look at `journalctl --boot`"};
  }
  if (::mount("shm", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, options.c_str()) != 0)
    return system_error("mount a tmpfs at", path, errno);
  return {};
}

}  // namespace

Result<MpsProgram> find_mps_program(const Host& host, const std::string& driver_root, const std::string& mps_root) {
  MpsProgram program;
  const std::string root = host.root_folder() == "/" ? "" : host.root_folder();
  program.root = root + mps_root;
  program.live = host.live();
  const char* const named = std::getenv("SLIPWAY_MPS_CONTROL");
  if (named != nullptr && *named != '\0') {
    program.path = named;
    return program;
  }
  if (!host.live())
    return Error{.code = ErrorCode::offline, .what = "MPS runs on a live machine only", .where = "sharing.mps"};
  const std::string driver = driver_root == "/" ? "" : driver_root;
  if (!host.exists(driver + kProgram))
    return Error{.code = ErrorCode::not_found,
                 .what = "the driver has no nvidia-cuda-mps-control",
                 .where = driver + kProgram,
                 .next = "install the driver's MPS programs, or share by timeSlicing"};
  program.path = root + driver + kProgram;
  if (!driver.empty())
    program.libraries = root + driver + "/usr/lib/" + host.arch() + "-linux-gnu:" + root + driver + "/usr/lib64";
  return program;
}

Status make_mps_folders(const MpsProgram& program, const std::string& resource) {
  for (const std::string& path : {program.pipe_folder(resource), program.log_folder(resource), program.shm_folder()})
    SLIPWAY_CHECK(make_folder(path));
  // The daemon and its commands would wait for a pipe, and follow a link.
  struct stat lock {};
  if (::lstat((program.pipe_folder(resource) + kLock).c_str(), &lock) == 0 && !S_ISREG(lock.st_mode))
    SLIPWAY_CHECK(clear_mps_lock(program, resource));
  // Containers may use the pipes only when they bear their label.
  constexpr std::string_view kLabel = "system_u:object_r:container_file_t:s0";
  struct stat selinux {};
  if (program.live && ::stat("/sys/fs/selinux/enforce", &selinux) == 0 &&
      ::setxattr(program.pipe_folder(resource).c_str(), "security.selinux", kLabel.data(), kLabel.size(), 0) != 0)
    return system_error("label for containers", program.pipe_folder(resource), errno);
  return program.live ? mount_shm(program.shm_folder()) : Status();
}

pid_t running_mps_daemon(const MpsProgram& program, const std::string& resource) {
  // Containers write in that folder, so what has the name may be a pipe, which waits for who opens it, or a link.
  const Fd place(::open((program.pipe_folder(resource) + kLock).c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!place || ::fstat(place.get(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  const Fd file(
      ::open(("/proc/self/fd/" + std::to_string(place.get())).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!file || ::fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0) return 0;
  return is_daemon(program, lock.l_pid) ? lock.l_pid : 0;
}

Status clear_mps_lock(const MpsProgram& program, const std::string& resource) {
  const std::string path = program.pipe_folder(resource) + kLock;
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  if (errno == EISDIR && ::rmdir(path.c_str()) == 0) return {};
  return system_error("remove", path, errno);
}

Result<pid_t> start_mps_daemon(const MpsProgram& program, const std::string& resource) {
  std::vector<std::string> argv{program.path, "-f"};
  if (program.live)
    argv = {"unshare", "-m", "--propagation",      "private",    "sh", "-c",
            kWithShm,  "sh", program.shm_folder(), program.path, "-f"};
  if (program.live && systemd_runs()) {
    SLIPWAY_CHECK(start_unit(program, resource, argv));
    return 0;
  }
  const std::string path = program.log_folder(resource) + "/control.log";
  (void)::rename(path.c_str(), (path + ".old").c_str());
  const Fd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!log) return system_error("make", path, errno);
  SLIPWAY_TRY(pid, spawn(std::move(argv), environment_of(program, resource), -1, log.get()));
  leave_worker(pid);
  return pid;
}

Result<std::string> tell_mps_daemon(const MpsProgram& program, const std::string& resource, const std::string& command,
                                    std::chrono::milliseconds limit) {
  SLIPWAY_TRY(output, run({program.path}, environment_of(program, resource), command, limit));
  if (output.ended && output.status == 0) return output.text;
  if (!output.ended)
    return Error{.code = ErrorCode::timed_out,
                 .what = "the MPS control daemon does not answer, or does not end its answer",
                 .where = command};
  return Error{.code = ErrorCode::io, .what = "the MPS control daemon refuses: " + output.text, .where = command};
}

}  // namespace slipway::deviceplugin
