// SPDX-License-Identifier: Apache-2.0
#include "base/confine/powers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace slipway::base {
namespace {

/// By name, since a C library may know fewer system calls than the kernel. A call unknown to libseccomp too is not
/// refused: a program that makes it by its number has only the remaining capabilities.
constexpr const char* kRefused[] = {
    // files by handle, which bypass mounts and root folders
    "open_by_handle_at", "name_to_handle_at",
    // mounts and namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig",
    "fspick", "mount_setattr", "setns", "unshare", "quotactl", "quotactl_fd", "swapon", "swapoff", "fanotify_init",
    // the kernel itself
    "init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load", "reboot", "bpf",
    "perf_event_open", "lookup_dcookie", "syslog", "acct", "ioperm", "iopl", "vhangup", "nfsservctl", "_sysctl",
    "modify_ldt", "vm86", "vm86old", "uselib", "ustat", "sysfs",
    // other processes, and keys of the user
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "keyctl", "add_key",
    "request_key", "userfaultfd", "move_pages", "migrate_pages", "mbind", "set_mempolicy",
    // clocks and names of the machine
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname"};

/// These calls are reported as missing (ENOSYS), and programs then use other calls: clone3's flags are in memory, where
/// a filter cannot look.
constexpr const char* kReportedAsMissing[] = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"};

constexpr const char* kProgramCalls[] = {"execve", "execveat"};
/// Calls that end or slow other processes. A process that starts programs may need them.
constexpr const char* kOtherProcessCalls[] = {
    "tkill",      "rt_sigqueueinfo", "rt_tgsigqueueinfo",  "pidfd_send_signal", "process_mrelease", "setpriority",
    "ioprio_set", "sched_setparam",  "sched_setscheduler", "sched_setattr",     "sched_setaffinity"};

/// On some processors, `ipc` is the entry to all of System V, and has several ways to name the requested part.
constexpr const char* kUnchargedMemoryCalls[] = {
    "memfd_create", "memfd_secret", "ipc",        "shmget",  "shmat",  "msgget", "msgsnd", "msgrcv",
    "semget",       "semop",        "semtimedop", "mq_open", "shmctl", "semctl", "msgctl", "mq_unlink"};

constexpr const char* kNetworkCalls[] = {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"};

constexpr unsigned kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// Keeps the first error.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release) {
    if (!context_) error_ = -ENOMEM;
  }

  void refuse(const char* name, int number = EPERM) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) add(number, call, {});
  }

  /// Applies the same rules to the processor's 32-bit programs, if the kernel runs them.
  void cover_smaller_programs() {
    if (error_ == 0 && seccomp_arch_native() == SCMP_ARCH_X86_64)
      error_ = seccomp_arch_add(context_.get(), SCMP_ARCH_X86);
  }

  /// Refuses a call when an argument, under the mask, has that value.
  void refuse_when_argument(const char* name, unsigned argument, std::uint64_t mask, std::uint64_t value,
                            int number = EPERM) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) add(number, call, {SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value)});
  }

  /// Refuses a call unless an argument has that value.
  void refuse_unless(const char* name, unsigned argument, std::uint64_t value, int number = EPERM) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) add(number, call, {SCMP_CMP64(argument, SCMP_CMP_NE, value)});
  }

  int load() {
    if (error_ == 0) error_ = seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    return error_ == 0 ? seccomp_load(context_.get()) : error_;
  }

 private:
  void add(int number, int call, std::initializer_list<scmp_arg_cmp> where) {
    if (error_ != 0) return;
    const int added = seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(number)), call,
                                             static_cast<unsigned>(where.size()), where.begin());
    // The call exists only on another processor: nothing to do here.
    if (added != 0 && added != -EDOM && added != -EFAULT) error_ = added;
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  int error_ = 0;
};

/// Lets this process send signals only to itself, and change only its own limits and priorities.
void refuse_other_processes(Filter& filter) {
  for (const char* name : kOtherProcessCalls) filter.refuse(name);
  const auto own = static_cast<std::uint64_t>(::getpid());
  for (const char* name : {"kill", "tgkill"}) filter.refuse_unless(name, 0, own);  // for abort() and raise()
  filter.refuse_unless("prlimit64", 0, 0);                                         // getrlimit() passes 0: this process
  // The kernel sends a signal of any number to the process that is set as the owner of a descriptor.
  for (const char* name : {"fcntl", "fcntl64"})
    for (const unsigned command : {unsigned{F_SETOWN}, unsigned{F_SETOWN_EX}, unsigned{F_SETSIG}})
      filter.refuse_when_argument(name, 1, ~std::uint32_t{0}, command);
  for (const unsigned command : {unsigned{FIOSETOWN}, unsigned{SIOCSPGRP}})
    filter.refuse_when_argument("ioctl", 1, ~std::uint32_t{0}, command);
}

/// Local services may trust a process that runs as root.
void refuse_local_services(Filter& filter) {
  const auto refuse = [&](const char* name, unsigned argument, std::uint64_t mask, int value) {
    filter.refuse_when_argument(name, argument, mask, static_cast<std::uint64_t>(value), EAFNOSUPPORT);
  };
  constexpr int kFamilies = 64;  // more families than exist; the three below are the network families
  for (int family = 0; family < kFamilies; ++family)
    if (family != AF_INET && family != AF_INET6 && family != AF_NETLINK) refuse("socket", 0, ~std::uint32_t{0}, family);
  // A pair of sockets stays connected, except for these kinds, which can be connected to another socket.
  constexpr std::uint64_t kKind = 0xf;
  refuse("socketpair", 1, kKind, SOCK_DGRAM);
  refuse("socketpair", 1, kKind, SOCK_RAW);
}

int load_filter(const Powers& powers) {
  Filter filter;
  if (powers.programs_of_32_bits) filter.cover_smaller_programs();
  if (!powers.programs) {
    for (const char* name : kProgramCalls) filter.refuse(name);
    refuse_other_processes(filter);
  }
  if (!powers.network)
    for (const char* name : kNetworkCalls) filter.refuse(name);
  else if (!powers.local_sockets)
    refuse_local_services(filter);
  if (powers.network && !powers.other_sockets) filter.refuse_unless("socket", 0, AF_UNIX, EAFNOSUPPORT);
  if (!powers.uncharged_memory)
    for (const char* name : kUnchargedMemoryCalls) filter.refuse(name);
  for (const char* name : kRefused) filter.refuse(name);
  for (const char* name : kReportedAsMissing) filter.refuse(name, ENOSYS);
  for (unsigned bit = 1; bit != 0; bit <<= 1U)
    if ((kNewNamespaces & bit) != 0) filter.refuse_when_argument("clone", 0, bit, bit);
  for (const unsigned kind : {unsigned{S_IFCHR}, unsigned{S_IFBLK}}) {
    filter.refuse_when_argument("mknod", 1, S_IFMT, kind);
    filter.refuse_when_argument("mknodat", 2, S_IFMT, kind);
  }
  filter.refuse_when_argument("ioctl", 1, ~std::uint32_t{0}, TIOCSTI);  // types into the terminal
  return filter.load();
}

bool drop_capabilities(const std::vector<int>& keep) {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);  // does not exist before Linux 4.3
  std::array<__user_cap_data_struct, 2> kept{};
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (std::ranges::find(keep, static_cast<int>(capability)) != keep.end()) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM) return false;
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (::syscall(SYS_capget, &header, kept.data()) != 0) return false;
  std::uint32_t wanted = 0;
  for (const int capability : keep) wanted |= 1U << static_cast<unsigned>(capability);
  for (auto& set : kept) set = {set.effective & wanted, set.permitted & wanted, 0};
  kept[1] = {};
  return ::syscall(SYS_capset, &header, kept.data()) == 0;
}

}  // namespace

bool kernel_takes_filters() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 || errno != EINVAL; }

PowersLeft take_powers(const Powers& kept) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {"give up new privileges", errno};
  if (!drop_capabilities(kept.capabilities)) return {"give up capabilities", errno};
  if (const int loaded = load_filter(kept); loaded != 0 && kernel_takes_filters())
    return {"load a filter of system calls", -loaded};
  return {};
}

}  // namespace slipway::base
