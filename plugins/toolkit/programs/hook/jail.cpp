// SPDX-License-Identifier: Apache-2.0
#include "jail.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>
#include <slipway/regular_file.hpp>

#include "base/confine/process_limits.hpp"
#include "base/write/new_file.hpp"
#include "elf_note.hpp"
#include "hook.hpp"

namespace slipway::hook {
namespace {

constexpr std::size_t kLargestProgram = 64U << 20;
constexpr base::ProcessLimits kLimits{.memory_bytes = 256U << 20U, .processes = 16};
constexpr rlim_t kFileSize = rlim_t{64} << 20;
constexpr std::chrono::minutes kLongestRun{1};
constexpr int kFailed = 125;  ///< the child has written an Error to its pipe

Status enter_by_pivot(int folder) {
  if (::fchdir(folder) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0) return system_error("pivot to", "/", errno);
  // The old root is mounted over the new one now; unmounting it removes everything below it.
  if (::umount2(".", MNT_DETACH) != 0) return system_error("leave the old root below", "/", errno);
  return {};
}

/// Opens the root again in this mount namespace: the earlier descriptor belongs to the former one, where pivot_root(2)
/// is not possible. Errors: `conflict` when another folder is at its path now.
Result<Fd> find_again(const RootDir& root) {
  Fd fd(::open(root.folder().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat before {};
  struct stat now {};
  if (!fd || ::fstat(fd.get(), &now) != 0 || ::fstat(root.fd(), &before) != 0)
    return system_error("open", root.folder(), errno);
  if (before.st_dev == now.st_dev && before.st_ino == now.st_ino) return fd;
  return Error{ErrorCode::conflict, "the container's root was replaced while its hooks ran", root.folder(), {}, {}};
}

/// Makes the container's root this process's "/".
Status enter(const RootDir& root) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return system_error("make the mounts private below", "/", errno);
  SLIPWAY_TRY(existing, find_again(root));
  if (!enter_by_pivot(existing.get())) {
    // The root is not a mount point yet, or the host runs from its initramfs, which cannot be pivoted away.
    const std::string path = path_of(existing.get());
    if (::mount(path.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return system_error("mount", root.folder(), errno);
    SLIPWAY_TRY(mounted, find_again(root));
    if (!enter_by_pivot(mounted.get()) &&
        (::fchdir(mounted.get()) != 0 || ::mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 || ::chroot(".") != 0))
      return system_error("enter", root.folder(), errno);
  }
  if (::chdir("/") != 0) return system_error("enter", root.folder(), errno);
  return {};
}

/// Mounts below "/" become read-only for this process: ldconfig creates links wherever the image's configuration leads
/// it, also in a volume. Kernels before 5.12 cannot do that in one call; there it is skipped.
Status protect_volumes() {
  struct statvfs own {};
  if (::statvfs("/", &own) != 0) return system_error("look at", "/", errno);
  mount_attr read_only{.attr_set = MOUNT_ATTR_RDONLY, .attr_clr = 0, .propagation = 0, .userns_fd = 0};
  if (::syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) != 0) {
    if (errno == ENOSYS) return {};
    Error error = system_error("make the volumes read-only for ldconfig below", "/", errno);
    error.next = "allow mount_setattr(2) where containers are made: a seccomp profile around the engine may refuse it";
    return error;
  }
  if ((own.f_flag & ST_RDONLY) != 0) return {};
  mount_attr writable{.attr_set = 0, .attr_clr = MOUNT_ATTR_RDONLY, .propagation = 0, .userns_fd = 0};
  if (::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &writable, sizeof writable) == 0) return {};
  return system_error("make writable again", "/", errno);
}

/// Keeps only the capabilities for writing below /etc and /var/cache, for any owner.
void drop_capabilities() {
  constexpr std::uint32_t kKept = (1U << CAP_CHOWN) | (1U << CAP_DAC_OVERRIDE) | (1U << CAP_FOWNER);
  for (int capability = 0; capability <= 63; ++capability)
    if (capability > 31 || (kKept & (1U << capability)) == 0) ::prctl(PR_CAPBSET_DROP, capability);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  sets[0].effective = sets[0].permitted = kKept;
  ::syscall(SYS_capset, &header, sets.data());
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void set_limits() {
  const rlimit size{kFileSize, kFileSize};
  const rlimit core{1, 1};  // 0 would not prevent a core_pattern program from being started, core(5)
  ::setrlimit(RLIMIT_FSIZE, &size);
  ::setrlimit(RLIMIT_CORE, &core);
}

Error execute(int program, const std::vector<std::string>& arguments) {
  const std::vector<char*> argv = exec_pointers(arguments);
  char* environment[] = {nullptr};
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  set_limits();
  ::syscall(SYS_execveat, program, "", argv.data(), environment, AT_EMPTY_PATH);
  return system_error("run", arguments.front(), errno);
}

/// Runs in the child. Returns only with the error that ended it.
Error live(const RootDir& root, const JailedProgram& program) {
  SLIPWAY_CHECK(enter(root));
  SLIPWAY_CHECK(protect_volumes());
  SLIPWAY_TRY(inside, RootDir::open("/"));
  drop_capabilities();
  SLIPWAY_TRY(further, program.prepare(inside));
  std::vector<std::string> arguments = program.arguments;
  arguments.insert(arguments.end(), further.begin(), further.end());
  return execute(program.program, arguments);
}

/// Waits until the other side has closed the pipe.
void await_end_of(int pipe) {
  char byte = 0;
  while (::read(pipe, &byte, 1) < 0 && errno == EINTR) {
  }
}

/// Creates new namespaces for this process; some of them apply only to its next child.
Status separate() {
  constexpr int kAll = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (::unshare(kAll) == 0) return {};
  // If a user namespace forbids some namespaces, the mount namespace is the important one.
  if (::unshare(CLONE_NEWNS) == 0) return {};
  return system_error("make a mount namespace for", "ldconfig", errno);
}

Error beyond_limit(const std::string& name, base::ExceededLimit exceeded) {
  const bool memory = exceeded == base::ExceededLimit::memory;
  return Error{
      ErrorCode::io,
      name +
          (memory ? " ran out of memory, of which it may use " + std::to_string(kLimits.memory_bytes >> 20U) + " MiB,"
                  : " started more than " + std::to_string(kLimits.processes) + " processes") +
          " in the container's root",
      name,
      "look for huge files, and for files that include very many, below /etc/ld.so.conf.d of the image",
      {}};
}

Status await(pid_t child, Fd answer, base::LimitedProcesses& group, const std::string& name) {
  base::ExceededLimit exceeded = base::ExceededLimit::none;
  const auto stop = [&] {
    if (group.needs_looks()) exceeded = group.excess();
    return exceeded != base::ExceededLimit::none;
  };
  const ChildResult result = await_child({child, std::move(answer), {}}, {.limit = kLongestRun, .stop = stop});
  if (exceeded == base::ExceededLimit::none && result.status != 0) exceeded = group.excess();
  if (exceeded != base::ExceededLimit::none) return beyond_limit(name, exceeded);
  if (result.end != ChildResult::End::by_itself)
    return Error{ErrorCode::timed_out,
                 name + " did not end within a minute in the container's root",
                 name,
                 "look for FIFOs, huge folders and endless includes below /etc/ld.so.conf.d of the image",
                 {}};
  if (!result.output.empty()) return error_from_json(Json::parse(result.output, nullptr, false));
  if (result.status == 0) return {};
  return Error{ErrorCode::io,
               name + " failed in the container's root: " + ending_of(result.status),
               name,
               "see its own messages above; it cannot write a new cache into a read-only root",
               {}};
}

}  // namespace

Result<Fd> copy_program(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error("open", path, errno);
  const auto interpreted = has_interpreter(file.get());
  if (!interpreted || *interpreted)
    return Error{ErrorCode::unsupported,
                 path + " is not a statically linked program",
                 path,
                 "name the host's static ldconfig with --ldconfig-path",
                 {}};
  SLIPWAY_TRY(bytes, read_all(file.get(), path, kLargestProgram));
  Fd copy(::memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy) return system_error("copy", path, errno);
  SLIPWAY_CHECK(base::write_all(copy.get(), bytes, "a copy of " + path));
  if (::fcntl(copy.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    return system_error("seal the copy of", path, errno);
  return copy;
}

Status run_jailed(const RootDir& root, const JailedProgram& program) {
  SLIPWAY_TRY(answer, make_pipe());
  SLIPWAY_TRY(start, make_pipe());
  base::LimitedProcesses group("hook", kLimits);
  SLIPWAY_CHECK(separate());
  const pid_t child = ::fork();
  if (child < 0) return system_error("start", program.arguments.front(), errno);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    start.write = Fd();
    await_end_of(start.read.get());
    const std::string text = canonical(to_json(live(root, program)));
    (void)!::write(answer.write.get(), text.data(), text.size());
    ::_exit(kFailed);
  }
  answer.write = Fd();
  group.add(child);  // if the group refuses the process, its memory is measured instead
  start.write = Fd();
  return await(child, std::move(answer.read), group, program.arguments.front());
}

}  // namespace slipway::hook
