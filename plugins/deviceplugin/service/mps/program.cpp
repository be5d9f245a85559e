// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/program.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>

#include "deviceplugin/service/mps/pipe/aside_folders.hpp"
#include "deviceplugin/service/mps/process.hpp"
#include "deviceplugin/service/mps/system/command.hpp"
#include "deviceplugin/service/mps/system/systemd.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kProgram = "/usr/bin/nvidia-cuda-mps-control";
constexpr std::chrono::milliseconds kEndLimit{5'000};
// Mounts the shared folder over the daemon's own /dev/shm: its clients mount the same one.
constexpr const char* kWithShm = R"(mount --bind "$1" /dev/shm && shift && exec "$@")";

/// Sets only the two folders, as upstream does.
std::vector<std::string> environment_of(const MpsProgram& program, const std::string& resource) {
  std::vector<std::string> all{"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                               "CUDA_MPS_PIPE_DIRECTORY=" + program.pipe_folder(resource),
                               "CUDA_MPS_LOG_DIRECTORY=" + program.log_folder(resource)};
  if (!program.libraries.empty()) all.push_back("LD_LIBRARY_PATH=" + program.libraries);
  return all;
}

MpsUnit unit_of(const MpsProgram& program, const std::string& resource) {
  return {.resource = resource,
          .environment = environment_of(program, resource),
          .argv = {program.path, "-f"},
          .pipe_folder = program.pipe_folder(resource),
          .log_folder = program.log_folder(resource),
          .shm_folder = program.shm_folder()};
}

/// Removes the marks of a worker's child, by which the supervisor would find and end it: the highest OOM score and the
/// worker's cgroup.
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

/// Half of the memory, as upstream uses; 64 MiB if that cannot be read.
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
  if (own.st_dev != above.st_dev) return {};  // it is mounted already
  const std::string options = shm_size();
  if (systemd_runs()) return mount_tmpfs(path, "nosuid,nodev,noexec,relatime," + options);
  if (::mount("shm", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME, options.c_str()) != 0)
    return system_error("mount a tmpfs at", path, errno);
  return {};
}

}  // namespace

Result<MpsProgram> find_mps_program(const Host& host, const std::string& driver_root, const std::string& mps_root) {
  MpsProgram program;
  const std::string root = host.root_folder() == "/" ? "" : host.root_folder();
  program.root = root + mps_root;
  program.look = emptying_program();
  program.live = host.live();
  const char* const named = std::getenv("SLIPWAY_MPS_CONTROL");
  if (named != nullptr && *named != '\0') {
    SLIPWAY_TRY(path, path_of_variable("SLIPWAY_MPS_CONTROL", named));
    program.path = std::move(path);
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
  // Containers may use the pipes only with this SELinux label.
  constexpr std::string_view kLabel = "system_u:object_r:container_file_t:s0";
  struct stat selinux {};
  if (program.live && ::stat("/sys/fs/selinux/enforce", &selinux) == 0 &&
      ::setxattr(program.pipe_folder(resource).c_str(), "security.selinux", kLabel.data(), kLabel.size(), 0) != 0)
    return system_error("label for containers", program.pipe_folder(resource), errno);
  return program.live ? mount_shm(program.shm_folder()) : Status();
}

void end_mps_daemons(const MpsProgram& program, const std::string& resource) {
  if (program.live && systemd_runs()) stop_unit(unit_of(program, resource).name());
  const std::vector<MpsProcess> left = daemons_of(program, resource);
  for (const MpsProcess& each : left) each.kill();
  for (const MpsProcess& each : left) (void)each.ends(kEndLimit);
}

void renew_devices(const MpsProgram& program, const std::string& resource) {
  if (program.live && systemd_runs()) set_properties(unit_of(program, resource).name(), device_properties());
}

Result<pid_t> start_mps_daemon(const MpsProgram& program, const std::string& resource) {
  if (program.live && systemd_runs()) {
    SLIPWAY_CHECK(start_unit(daemon_unit(unit_of(program, resource))));
    return 0;
  }
  std::vector<std::string> argv{program.path, "-f"};
  if (program.live)
    argv = {"unshare", "-m", "--propagation",      "private",    "sh", "-c",
            kWithShm,  "sh", program.shm_folder(), program.path, "-f"};
  const std::string path = program.log_folder(resource) + "/control.log";
  (void)::rename(path.c_str(), (path + ".old").c_str());
  const Fd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!log) return system_error("make", path, errno);
  SLIPWAY_TRY(pid, start_command(std::move(argv), environment_of(program, resource), log.get()));
  leave_worker(pid);
  return pid;
}

Result<std::string> send_to_mps_daemon(const MpsProgram& program, const std::string& resource,
                                       const std::string& command, std::chrono::milliseconds limit) {
  SLIPWAY_TRY(output, run_command({program.path}, environment_of(program, resource), command, limit));
  if (output.ended && output.status == 0) return output.text;
  if (!output.ended)
    return Error{.code = ErrorCode::timed_out,
                 .what = "the MPS control daemon does not answer, or does not end its answer",
                 .where = command};
  return Error{.code = ErrorCode::io, .what = "the MPS control daemon refuses: " + output.text, .where = command};
}

}  // namespace slipway::deviceplugin
