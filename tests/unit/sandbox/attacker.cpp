// SPDX-License-Identifier: Apache-2.0
// attacker.cpp - a program that a hostile root could contain: `attacker NAME [ARGUMENT...]` tries one
// way out and prints "reached" or the reason for its refusal. `attacker handle-of FOLDER` prints the argument of
// `attacker handle`.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

/// Has room for the longest handle.
class Handle {
 public:
  Handle() { head().handle_bytes = MAX_HANDLE_SZ; }
  file_handle& head() { return *reinterpret_cast<file_handle*>(bytes_.data()); }
  unsigned char* bytes() { return bytes_.data() + sizeof(file_handle); }

 private:
  alignas(file_handle) std::array<unsigned char, sizeof(file_handle) + MAX_HANDLE_SZ> bytes_{};
};

int handle_of(const char* folder) {
  Handle found;
  file_handle& handle = found.head();
  int mount = 0;
  if (::name_to_handle_at(AT_FDCWD, folder, &handle, &mount, 0) != 0) return -1;
  std::printf("%d:%u:", handle.handle_type, handle.handle_bytes);
  for (unsigned i = 0; i < handle.handle_bytes; ++i) std::printf("%02x", found.bytes()[i]);
  std::printf("\n");
  return 0;
}

/// Writes a file in the folder behind the handle, which no path inside reaches.
/// @param here  a folder of the same file system
int by_handle(const std::string& text, const char* here) {
  Handle given;
  file_handle& handle = given.head();
  unsigned type = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%u:%u:%n", &type, &handle.handle_bytes, &used) < 2) return -1;
  handle.handle_type = static_cast<int>(type);
  for (unsigned i = 0; i < handle.handle_bytes; ++i)
    given.bytes()[i] = static_cast<unsigned char>(
        std::strtoul(text.substr(static_cast<std::size_t>(used) + std::size_t{2} * i, 2).c_str(), nullptr, 16));
  const int folder = ::open_by_handle_at(::open(here, O_RDONLY | O_DIRECTORY), &handle, O_RDONLY | O_DIRECTORY);
  return folder < 0 ? -1 : ::openat(folder, "written", O_CREAT | O_WRONLY, 0600);
}

/// Starts this number of processes, which remain until this process ends.
int fork_bomb(int wanted) {
  for (int i = 0; i < wanted; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return -1;
    if (child > 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  ::usleep(500'000);  // so that the test can see them
  return 0;
}

/// Takes memory that is really used.
int take_memory(std::size_t mebibytes) {
  for (std::size_t i = 0; i < mebibytes; ++i) {
    char* const part = static_cast<char*>(std::malloc(1U << 20U));
    if (part == nullptr) return -1;
    std::memset(part, 1, 1U << 20U);
  }
  ::usleep(500'000);
  return 0;
}

int print_mebibytes(int wanted) {
  static const std::string part(1U << 20U, 'x');
  for (int i = 0; i < wanted; ++i)
    if (::write(1, part.data(), part.size()) < 0) return -1;
  return 0;
}

/// Takes memory that is charged to no process while it is not mapped.
int fill(int file, std::size_t mebibytes) {
  static const std::string part(1U << 20U, 'x');
  if (file < 0) return -1;
  for (std::size_t i = 0; i < mebibytes; ++i)
    if (::write(file, part.data(), part.size()) != static_cast<ssize_t>(part.size())) return -1;
  return 0;
}

int take_shared_memory(std::size_t mebibytes) {
  const std::size_t size = mebibytes << 20U;
  const int id = ::shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
  if (id < 0) return -1;
  void* const memory = ::shmat(id, nullptr, 0);
  ::shmctl(id, IPC_RMID, nullptr);
  if (memory == reinterpret_cast<void*>(-1)) return -1;
  std::memset(memory, 1, size);
  return ::shmdt(memory);
}

/// @param kind  "private": first in a namespace of its own, for a run without restrictions
int mount_memory(const std::string& folder, const std::string& kind) {
  if (kind == "private" &&
      (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0))
    return -1;
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, nullptr);
}

int unmount(const std::string& folder, const std::string& kind) {
  if (kind == "private" && mount_memory(folder, kind) != 0) return -1;
  return ::umount2(folder.c_str(), MNT_DETACH);
}

int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return made < 0 ? -1 : ::connect(made, reinterpret_cast<sockaddr*>(&address), sizeof(address));
}

long make_map() {
  struct {
    unsigned type = 2, key_size = 4, value_size = 8, entries = 1;
    unsigned char others[64] = {};
  } wanted;
  return ::syscall(SYS_bpf, 0, &wanted, sizeof(wanted));
}

long watch_events() {
  perf_event_attr wanted{};
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.size = sizeof(wanted);
  wanted.config = PERF_COUNT_SW_CPU_CLOCK;
  return ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
}

long make_ring() {
  alignas(8) std::array<unsigned char, 256> parameters{};
  constexpr long kSetUp = 425;  // io_uring_setup
  return ::syscall(kSetUp, 1, parameters.data());
}

/// Makes a call like a program for i686.
long ask_as_i686(long call, const char* text) {
#ifdef __x86_64__
  long answer = 0;
  asm volatile("int $0x80" : "=a"(answer) : "a"(call), "b"(text), "c"(0), "d"(0) : "r8", "r9", "r10", "r11", "memory");
  if (answer >= 0) return answer;
  errno = static_cast<int>(-answer);
#else
  (void)call;
  (void)text;
  errno = ENOSYS;
#endif
  return -1;
}

/// Runs attacks on the machine as a whole.
long attack_machine(const std::string& name, const std::string& argument, const std::string& place) {
  static constexpr char kTop[] = "/";
  constexpr long kChrootOfI686 = 61;
  constexpr long kProcessOfI686 = 20;
  if (name == "mount") return mount_memory(argument, place);
  if (name == "umount") return unmount(argument, place);
  if (name == "module") return ::syscall(SYS_init_module, kTop, 1, kTop);
  if (name == "kexec") return ::syscall(SYS_kexec_load, 0, 0, nullptr, 0xffffUL);  // invalid flags
  if (name == "bpf") return make_map();
  if (name == "events") return watch_events();
  if (name == "faults") return ::syscall(SYS_userfaultfd, 0);
  if (name == "ring") return make_ring();
  if (name == "connect") return connect_to(argument);
  if (name == "internet") return ::socket(AF_INET, SOCK_DGRAM, 0);
  if (name == "netlink") return ::socket(AF_NETLINK, SOCK_RAW, 0);
  if (name == "i686") return ask_as_i686(kProcessOfI686, nullptr);
  if (name == "i686-chroot") return ask_as_i686(kChrootOfI686, kTop);
  errno = EINVAL;
  return -1;
}

long attack(const std::string& name, const std::string& argument, const char* place) {
  if (name == "handle-of") return handle_of(argument.c_str());
  if (name == "handle") return by_handle(argument, place);
  if (name == "write") return ::open(argument.c_str(), O_WRONLY);
  if (name == "block-device") return ::mknod(argument.c_str(), S_IFBLK | 0600, makedev(7, 0));
  if (name == "character-device") return ::mknod(argument.c_str(), S_IFCHR | 0600, makedev(1, 1));
  if (name == "user-namespace") return ::unshare(CLONE_NEWUSER);
  if (name == "clone") return ::syscall(SYS_clone, CLONE_NEWUSER | 17UL, nullptr, nullptr, nullptr, nullptr);
  if (name == "trace") return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  if (name == "keys") return ::syscall(SYS_keyctl, 0, -3, 0, 0, 0);
  if (name == "chroot") return ::chroot("/");
  if (name == "forks") return fork_bomb(std::atoi(argument.c_str()));
  if (name == "memory") return take_memory(std::strtoul(argument.c_str(), nullptr, 10));
  if (name == "memory-file")
    return fill(static_cast<int>(::syscall(SYS_memfd_create, "x", 0)), std::strtoul(argument.c_str(), nullptr, 10));
  if (name == "shared-memory") return take_shared_memory(std::strtoul(argument.c_str(), nullptr, 10));
  if (name == "device-folder")
    return fill(::open("/dev/filled", O_CREAT | O_WRONLY, 0600), std::strtoul(argument.c_str(), nullptr, 10));
  if (name == "print") return print_mebibytes(std::atoi(argument.c_str()));
  if (name == "priority") return ::nice(-5) == -1 && errno != 0 ? -1 : 0;
  return attack_machine(name, argument, place);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  errno = 0;
  const long done = attack(argv[1], argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "/");
  if (std::string(argv[1]) == "clone" && done == 0) ::_exit(0);  // the child
  if (std::string(argv[1]) != "handle-of") std::puts(done >= 0 ? "reached" : std::strerror(errno));
  return done >= 0 ? 0 : 1;
}
