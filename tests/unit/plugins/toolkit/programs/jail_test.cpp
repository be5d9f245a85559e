// SPDX-License-Identifier: Apache-2.0
// The limits of the jail for the host's ldconfig, in a container's root that makes it take more.
#include "jail.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::hook {
namespace {

using test::TempRoot;

/// Out of 256 MiB that it may use.
Result<std::vector<std::string>> take_memory(std::size_t mebibytes) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < mebibytes; ++i) parts.emplace_back(1U << 20U, 'x');
  ::usleep(300'000);  // so that the parent can see it
  return std::vector<std::string>();
}

/// Refuses short writes for this process and its children, so they cannot write a process id to a group.
void refuse_short_writes() {
  constexpr std::uint32_t kShort = 8;
  const std::uint32_t number = offsetof(seccomp_data, nr);
  const std::uint32_t size = offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t);  // its lower half
  sock_filter lines[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
                         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, size),
                         BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kShort, 1, 0),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EBUSY),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = std::size(lines), .filter = lines};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(1);
}

/// Returns the end of a program in the jail whose preparation takes that much memory. Runs in a process of its own,
/// which enters new namespaces.
std::string jailed(
    std::size_t mebibytes, const std::function<void()>& before = [] {}) {
  const TempRoot root;
  root.make_folder("/etc");
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    before();
    const auto program = copy_program("/sbin/ldconfig");
    const Status end =
        !program ? Status(program.error())
                 : run_jailed(root.dir(), {.program = program->get(),
                                           .arguments = {"ldconfig", "--version"},
                                           .prepare = [&](const RootDir&) { return take_memory(mebibytes); }});
    const std::string text = end ? "went well" : to_text(end.error());
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) text += byte;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

// Before the fix, an image's files made their reader take 1.4 GB, before the limit of address space was set.
TEST(Jail, EndsAProcessThatExceedsItsMemory) {
  if (::geteuid() != 0) GTEST_SKIP() << "the hook runs as root";
  EXPECT_EQ(jailed(16), "went well");
  EXPECT_THAT(jailed(400), ::testing::HasSubstr("ldconfig ran out of memory, of which it may use 256 MiB"));
  EXPECT_TRUE(take_memory(400).ok()) << "the attack itself does not work";
}

// On a host whose groups accept no process, containers still start, and the limit applies.
TEST(Jail, ChecksProcessesOutsideOfGroups) {
  if (::geteuid() != 0) GTEST_SKIP() << "the hook runs as root";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "what the sanitizer keeps of the test program counts";
#endif
  EXPECT_EQ(jailed(16, refuse_short_writes), "went well");
  EXPECT_THAT(jailed(400, refuse_short_writes), ::testing::HasSubstr("ldconfig ran out of memory"));
}

}  // namespace
}  // namespace slipway::hook
