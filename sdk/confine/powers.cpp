// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/confine/powers.hpp>

namespace slipway {
namespace {

/// By name, since a C library may know fewer than the kernel: those that libseccomp does not know either, no program of
/// this machine's processor can have asked for.
constexpr const char* kRefused[] = {
    // files by handle: past every mount and root folder
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

/// Programs have another way where these are not there: clone3's flags are in memory, where a filter cannot look.
constexpr const char* kNotThere[] = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"};

constexpr const char* kProgramCalls[] = {"execve", "execveat"};
constexpr const char* kNetworkCalls[] = {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"};

constexpr unsigned kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// The first step that fails is kept.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release) {
    if (!context_) error_ = -ENOMEM;
  }

  void refuse(const char* name, int number = EPERM) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) add(number, call, {});
  }

  /// Where an argument, as far as the mask goes, has that value.
  void refuse_where(const char* name, unsigned argument, std::uint64_t mask, std::uint64_t value) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR) add(EPERM, call, {SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value)});
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
    // Of another processor alone: there it is nothing.
    if (added != 0 && added != -EDOM && added != -EFAULT) error_ = added;
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  int error_ = 0;
};

int load_filter(const Powers& powers) {
  Filter filter;
  if (!powers.programs)
    for (const char* name : kProgramCalls) filter.refuse(name);
  if (!powers.network)
    for (const char* name : kNetworkCalls) filter.refuse(name);
  for (const char* name : kRefused) filter.refuse(name);
  for (const char* name : kNotThere) filter.refuse(name, ENOSYS);
  for (unsigned bit = 1; bit != 0; bit <<= 1U)
    if ((kNewNamespaces & bit) != 0) filter.refuse_where("clone", 0, bit, bit);
  for (const unsigned kind : {unsigned{S_IFCHR}, unsigned{S_IFBLK}}) {
    filter.refuse_where("mknod", 1, S_IFMT, kind);
    filter.refuse_where("mknodat", 2, S_IFMT, kind);
  }
  filter.refuse_where("ioctl", 1, ~std::uint32_t{0}, TIOCSTI);  // types into the terminal
  return filter.load();
}

bool drop_capabilities(const std::vector<int>& keep) {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);  // no such thing before Linux 4.3
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

PowersLeft take_powers(const Powers& kept) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {"give up new privileges", errno};
  if (!drop_capabilities(kept.capabilities)) return {"give up capabilities", errno};
  if (const int loaded = load_filter(kept); loaded != 0) return {"load a filter of system calls", -loaded};
  return {};
}

}  // namespace slipway
