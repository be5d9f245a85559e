// SPDX-License-Identifier: Apache-2.0
// What an archive could do that takes over the worker which unpacks it: the same code in the same process, once before
// and once after slipway-artifact.so was told to confine itself.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <slipway/abi.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/artifact/support/layout_maker.hpp"
#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact {
namespace {

/// The module as a worker has it, in a process of its own.
class Module {
 public:
  Module() {
    void* const library = ::dlopen(SLIPWAY_ARTIFACT_MODULE, RTLD_NOW | RTLD_LOCAL);
    const auto open = reinterpret_cast<slipway_plugin_open_fn>(::dlsym(library, SLIPWAY_ENTRY));
    open(&services_, &plugin_);
  }

  int ask(const char* op, const Json& request) {
    const std::string text = canonical(request);
    answer.clear();
    const slipway_reply reply{&answer, [](void* context, const char* json, std::size_t length) {
                                static_cast<std::string*>(context)->append(json, length);
                              }};
    return plugin_.call(plugin_.context, op, text.data(), text.size(), &reply);
  }

  std::string answer;

 private:
  static int hear(void*, const char*, const char*, std::size_t, const slipway_reply* reply) {
    reply->write(reply->context, "null", 4);
    return SLIPWAY_OK;
  }
  slipway_services services_{sizeof(slipway_services), nullptr, hear};
  slipway_plugin plugin_{sizeof(slipway_plugin), nullptr, nullptr};
};

class ConfinedWorker : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"store", "cache", "beside"}) std::filesystem::create_directory(dir_ / folder);
    if (::geteuid() != 0) GTEST_SKIP() << "an attack shows something where it is root's";
    constexpr int kCreateRuleset = 444;  // landlock_create_ruleset(2), which answers the version here
    if (::syscall(kCreateRuleset, nullptr, 0, 1U) < 2) GTEST_SKIP() << "the kernel has no Landlock to speak of";
    test::LayoutMaker layout(dir_ / "layout");
    const Json layer = layout.layer(test::tar_of({{.name = "f", .content = "hello"}}), "userspace");
    layout.list(layout.manifest({layer}), "1");
    stage_ = {{"source", {{"repository", layout.path()}, {"trust", "unsigned"}}},
              {"cache", dir_ / "cache"},
              {"layer", layer},
              {"into", dir_ / "store/out"}};
  }

  /// The names of those attacks that succeed in a fresh process, after `prepare`.
  std::string attacks_that_succeed(const std::function<void()>& prepare) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      prepare();
      const auto tell = [&](const char* name, bool succeeds) {
        const std::string line = std::string(name) + " ";
        if (succeeds) (void)!::write(ends[1], line.data(), line.size());
      };
      const std::string beside = dir_ / "beside/";
      tell("write", ::open((beside + "written").c_str(), O_CREAT | O_WRONLY, 0600) >= 0);
      tell("rename", ::rename((dir_ / "cache").c_str(), (beside + "cache").c_str()) == 0);
      tell("node", ::mknod((beside + "node").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0);
      tell("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
      tell("unmount", ::umount2(beside.c_str(), 0) != 0 && errno == EINVAL);  // it is none, as whoever may is told
      tell("namespace", ::unshare(CLONE_NEWNS) == 0);
      tell("memory", ::process_vm_readv(::getpid(), nullptr, 0, nullptr, 0, 0) == 0);
      tell("user", ::setuid(12345) == 0);
      ::close(ends[0]);
      ::dup2(ends[1], 1);
      ::execl("/bin/echo", "echo", "-n", "program", nullptr);
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string output;
    for (char byte = 0; ::read(ends[0], &byte, 1) == 1;) output += byte;
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return output;
  }

  test::TempDir dir_;
  Json stage_;
};

TEST_F(ConfinedWorker, ReachesNothingBesideTheStoreAndItsCache) {
  std::filesystem::create_directory(dir_ / "cache/kept");
  EXPECT_EQ(attacks_that_succeed([&] {
              Module module;
              if (module.ask("confine", {{"op", "stage"}, {"request", stage_}}) != SLIPWAY_OK) ::_exit(1);
            }),
            "");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "beside/written"));
  EXPECT_THAT(
      attacks_that_succeed([] { const Module module; }),
      testing::AllOf(testing::HasSubstr("write rename "), testing::HasSubstr("socket unmount namespace memory user "),
                     testing::HasSubstr("program")))
      << "the attacks themselves do not work";
}

TEST_F(ConfinedWorker, StillUnpacks) {
  const pid_t child = ::fork();
  if (child == 0) {
    Module module;
    if (module.ask("confine", {{"op", "stage"}, {"request", stage_}}) != SLIPWAY_OK) ::_exit(1);
    if (module.ask("stage", stage_) != SLIPWAY_OK) {
      std::fputs(module.answer.c_str(), stderr);
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(test::file_text(dir_ / "store/out/f"), "hello");
}

TEST_F(ConfinedWorker, OfARegistryKeepsTheNetworkAndPrograms) {
  const std::string output = attacks_that_succeed([&] {
    Module module;
    if (module.ask("confine", {{"op", "fetch"}, {"request", stage_}}) != SLIPWAY_OK) ::_exit(1);
  });
  EXPECT_THAT(output, testing::HasSubstr("socket "));
  EXPECT_THAT(output, testing::HasSubstr("program"));
  for (const char* never : {"node ", "unmount ", "namespace ", "memory ", "user "})
    EXPECT_THAT(output, testing::Not(testing::HasSubstr(never)));
}

}  // namespace
}  // namespace slipway::artifact
