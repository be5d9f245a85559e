// SPDX-License-Identifier: Apache-2.0
// attacker.cpp - a program that a hostile root would bring: `attacker NAME [ARGUMENT...]` tries one way out and prints
// "reached" or why it was refused. `attacker handle-of FOLDER` prints what `attacker handle` takes.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace {

/// With room for the longest.
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

/// Writes a file in the folder behind the handle, which no path inside leads to.
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

/// Processes that stay: as many as asked for. They die with this one.
int fork_bomb(int wanted) {
  for (int i = 0; i < wanted; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return -1;
    if (child > 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  ::usleep(500'000);  // so that whoever looks sees them
  return 0;
}

/// Memory that is really used.
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
  if (name == "print") return print_mebibytes(std::atoi(argument.c_str()));
  if (name == "priority") return ::nice(-5) == -1 && errno != 0 ? -1 : 0;
  errno = EINVAL;
  return -1;
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
