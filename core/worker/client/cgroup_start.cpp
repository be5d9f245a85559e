// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/worker/client/spawn.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kStackBytes = 64U << 10;

/// The data for the new process, prepared before it is started.
struct Launch {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const std::vector<int>& descriptors;
};

/// Runs in the new process, in the memory of this one, while the calling thread waits: makes system calls only, and
/// none through wrappers that keep records. Sanitizers would report the foreign stack as an error.
__attribute__((no_sanitize("address", "undefined", "thread"))) void become_program(void* argument) {
  const Launch& launch = *static_cast<const Launch*>(argument);
  static constexpr std::array<std::uint64_t, 8> kDefault{};  // SIG_DFL, no flags, empty mask on every architecture
  syscall(SYS_setsid);
  for (int number = 1; number < NSIG; ++number) syscall(SYS_rt_sigaction, number, kDefault.data(), nullptr, 8);
  for (std::size_t i = 0; i < launch.descriptors.size(); ++i) syscall(SYS_dup3, launch.descriptors.data()[i], i, 0);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, kDefault.data(), nullptr, 8);
  syscall(SYS_execve, launch.arguments.data()[0], launch.arguments.data(), launch.environment.data());
  syscall(SYS_exit_group, 127);
}

/// Calls clone3 with a child that runs `run(argument)` on its new stack. The C library has no wrapper for it.
long clone_and_run(const clone_args& wanted, void (*run)(void*), void* argument) {
#if defined(__x86_64__)
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %[argument], %%rdi\n\t"
      "call *%[run]\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&wanted), "S"(sizeof(wanted)), [run] "b"(run), [argument] "d"(argument)
      : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number asm("x8") = SYS_clone3;
  register const void* first asm("x0") = &wanted;
  register std::size_t second asm("x1") = sizeof(wanted);
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, #0\n\t"
      "mov x0, %[argument]\n\t"
      "blr %[run]\n\t"
      "brk #0\n"
      "1:"
      : "+r"(first)
      : "r"(number), "r"(second), [run] "r"(run), [argument] "r"(argument)
      : "x30", "memory");
  return reinterpret_cast<long>(first);
#else
  (void)wanted, (void)run, (void)argument;
  return -ENOSYS;
#endif
}

}  // namespace

pid_t start_in_cgroup(const ChildProgram& program, int cgroup) {
  Launch launch{exec_pointers(program.argv), exec_pointers(program.environment), program.descriptors};
  const auto stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  clone_args wanted{};
  wanted.flags = CLONE_INTO_CGROUP | CLONE_VM | CLONE_VFORK;
  wanted.exit_signal = SIGCHLD;
  wanted.cgroup = static_cast<decltype(wanted.cgroup)>(cgroup);
  wanted.stack = reinterpret_cast<std::uintptr_t>(stack.get()) & ~std::uintptr_t{15};
  wanted.stack_size = kStackBytes - 16;  // a multiple of 16, as the ABI requires
  const long pid = clone_and_run(wanted, become_program, &launch);
  return pid > 0 ? static_cast<pid_t>(pid) : -1;
}

}  // namespace slipway::core
