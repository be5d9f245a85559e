// SPDX-License-Identifier: Apache-2.0
// What a hostile root's program tries (attacker.cpp): it succeeds as root of this machine, and does not in the sandbox.
#include <filesystem>

#include <gmock/gmock.h>
#include <unistd.h>

#include "sandbox/sandbox.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;

constexpr const char* kAttacker = SLIPWAY_TEST_ATTACKER;

/// What the attacker says where nothing holds it.
std::string outside(const std::string& words) {
  FILE* const lines = ::popen((std::string(kAttacker) + " " + words + " 2>&1").c_str(), "r");
  std::string text;
  for (int byte = 0; lines != nullptr && (byte = std::fgetc(lines)) != EOF;) text += static_cast<char>(byte);
  if (lines != nullptr) ::pclose(lines);
  return text.substr(0, text.find('\n'));
}

/// A root that holds the attacker and this machine's programs; the folder beside it is what it must not reach.
class Attack : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string folder :
         {"/root/usr", "/root/etc", "/root/tmp", "/root/proc", "/root/sys", "/root/dev", "/root/opt", "/beside"})
      files_.make_folder(folder);
    for (const std::string name : {"bin", "sbin", "lib", "lib64"}) files_.link("/root/" + name, "usr/" + name);
    std::filesystem::copy_file(kAttacker, files_.at("/root/opt/attacker"));
    request_.root = files_.at("/root");
    request_.binds = {{"/usr", "/usr", true}};
    request_.environment = sandbox_environment();
    request_.on_output = [this](std::string_view text) { output_ += text; };
    if (::geteuid() != 0) GTEST_SKIP() << "an attack shows something where it is root's";
  }

  std::string inside(const std::string& name, const std::string& argument = "") {
    output_.clear();
    request_.argv = {"/opt/attacker", name};
    if (!argument.empty()) request_.argv.push_back(argument);
    const auto end = run_in_sandbox(request_);
    EXPECT_TRUE(end.ok()) << to_text(end.error());
    return output_.substr(0, output_.find('\n'));
  }

  TempRoot files_;
  Sandbox request_;
  std::string output_;
};

constexpr const char* kReached = "reached";
constexpr const char* kRefused = "Operation not permitted";

// A root's ldconfig wrote into the host's root folder.
TEST_F(Attack, ByAFileHandleReachesNothingBesideTheRoot) {
  const std::string handle = outside("handle-of " + files_.at("/beside"));
  ASSERT_NE(handle.find(':'), std::string::npos) << handle;
  EXPECT_EQ(inside("handle", handle), kRefused);
  EXPECT_FALSE(files_.has("/beside/written"));
  EXPECT_EQ(outside("handle " + handle + " " + files_.folder()), kReached);
  EXPECT_TRUE(files_.has("/beside/written")) << "the attack itself does not work";
}

TEST_F(Attack, BySysctlsAndSysrqDoesNotReachTheKernel) {
  for (const std::string file : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"}) {
    if (!std::filesystem::exists(file)) continue;
    EXPECT_EQ(inside("write", file), "Read-only file system") << file;
  }
  if (::access("/proc/sys/kernel/core_pattern", W_OK) == 0) {
    EXPECT_EQ(outside("write /proc/sys/kernel/core_pattern"), kReached);
  }
}

TEST_F(Attack, MakesNoDeviceNodes) {
  for (const std::string kind : {"block-device", "character-device"}) {
    EXPECT_EQ(inside(kind, "/etc/" + kind), kRefused);
    EXPECT_FALSE(files_.has("/root/etc/" + kind));
  }
}

// One that lay in the root before, as an image may bring it.
TEST_F(Attack, OpensNoDeviceNodeOfTheRoot) {
  if (outside("character-device " + files_.at("/root/etc/memory")) != kReached)
    GTEST_SKIP() << "no nodes can be made here";
  EXPECT_EQ(inside("write", "/etc/memory"), "Permission denied");
}

TEST_F(Attack, GetsNoNamespacesTracesKeysNorAnotherRootFolder) {
  for (const std::string name : {"user-namespace", "clone", "trace", "keys", "chroot"})
    EXPECT_EQ(inside(name), kRefused) << name;
  for (const std::string name : {"trace", "chroot"}) EXPECT_EQ(outside(name), kReached) << name;
}

TEST_F(Attack, HasNoCapabilitiesButThoseForFilesOfOthers) {
  request_.argv = {"sh", "-c", "grep -E 'Cap(Eff|Bnd|Prm|Inh|Amb)|NoNewPrivs|Seccomp:' /proc/self/status"};
  output_.clear();
  ASSERT_TRUE(run_in_sandbox(request_).ok());
  EXPECT_EQ(output_,
            "CapInh:\t0000000000000000\nCapPrm:\t00000000000000db\nCapEff:\t00000000000000db\n"
            "CapBnd:\t00000000000000db\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_F(Attack, StillLetsARootsToolsSetOwnersAndModes) {
  request_.argv = {"sh", "-c", "touch /etc/f && chown 12:34 /etc/f && chmod 4711 /etc/f && stat -c '%u %g %a' /etc/f"};
  output_.clear();
  ASSERT_TRUE(run_in_sandbox(request_).ok());
  EXPECT_EQ(output_, "12 34 4711\n");
}

}  // namespace
}  // namespace slipway::core
