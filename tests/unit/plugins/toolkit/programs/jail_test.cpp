// SPDX-License-Identifier: Apache-2.0
// What the jail of the host's ldconfig allows, in a container's root that makes it take more.
#include "jail.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::hook {
namespace {

using test::TempRoot;

/// Of 256 MiB that it may use.
Status take_memory(std::size_t mebibytes) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < mebibytes; ++i) parts.emplace_back(1U << 20U, 'x');
  ::usleep(300'000);  // so that whoever looks sees it
  return {};
}

/// The end of a program in the jail, whose preparation takes that much. In a process of its own, which enters new
/// namespaces.
std::string jailed(std::size_t mebibytes) {
  const TempRoot root;
  root.make_folder("/etc");
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
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

// An image's files made what reads them take 1.4 GB, before the limit of address space was set.
TEST(Jail, EndsWhatTakesMoreMemoryThanItMayHave) {
  if (::geteuid() != 0) GTEST_SKIP() << "the hook runs as root";
  EXPECT_EQ(jailed(16), "went well");
  EXPECT_THAT(jailed(400), ::testing::HasSubstr("ldconfig ran out of memory, of which it may use 256 MiB"));
  EXPECT_TRUE(take_memory(400).ok()) << "the attack itself does not work";
}

}  // namespace
}  // namespace slipway::hook
