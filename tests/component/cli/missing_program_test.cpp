// SPDX-License-Identifier: Apache-2.0
// A program that a component's work needs, and that neither the root nor this machine has: reported before anything is
// changed.
#include <sched.h>
#include <sys/mount.h>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using slipway::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

/// Shows this process and its children a machine with only these programs in its sbin folders.
class Machine {
 public:
  explicit Machine(std::initializer_list<const char*> programs) {
    ready_ = ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    for (const char* name : programs)
      std::filesystem::copy_file(std::filesystem::canonical(std::string("/usr/sbin/") + name), sbin_.at(name));
    ready_ = ready_ && ::mount(sbin_.at("").c_str(), "/usr/sbin", nullptr, MS_BIND, nullptr) == 0;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    if (ready_) ::umount2("/usr/sbin", MNT_DETACH);
  }
  bool ready() const { return ready_; }

 private:
  TempDir sbin_;
  bool ready_ = false;
};

std::string kernel_of(const Ran& plan) {
  const std::size_t at = plan.out.find("then: depmod:") + std::string("then: depmod:").size();
  return plan.out.substr(at, plan.out.find('\n', at) - at);
}

TEST(MissingProgram, DepmodIsReportedByPlanAndApplyChangesNothing) {
  const DriverRoot root;
  const Machine machine{"ldconfig"};
  if (!machine.ready()) GTEST_SKIP() << "needs to mount";
  const auto before = root.tree();
  const std::string folder = root.folder().at("root").string();
  expect_refused(root, root.run({"plan"}), 1,
                 {"neither the root " + folder + " nor this machine has depmod", "install kmod on this machine"},
                 before);
  expect_refused(root, root.run({"apply"}), 1,
                 {"neither the root " + folder + " nor this machine has depmod", "Nothing was changed."}, before);
  const Json plan = Json::parse(root.run({"plan", "-o", "json"}).out);
  EXPECT_EQ(plan["components"][0]["error"]["code"], "not_found");
  EXPECT_THAT(plan["components"][0]["error"]["next"].get<std::string>(), HasSubstr("install kmod on this machine"));
}

TEST(MissingProgram, HasARemedyThatNamesTheMachineOrTheRoot) {
  const DriverRoot root;
  root.put("usr/bin/apt-get", "");
  const Machine machine{"ldconfig"};
  if (!machine.ready()) GTEST_SKIP() << "needs to mount";
  const std::string folder = root.folder().at("root").string();
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("or in the root: `chroot " + folder + " apt-get install kmod`"));
}

TEST(MissingProgram, AllThatAreMissingAreNamedAtOnce) {
  const DriverRoot root;
  root.put("etc/ld.so.cache", "");  // programs there look up their libraries in it
  const Machine machine{};
  if (!machine.ready()) GTEST_SKIP() << "needs to mount";
  const auto before = root.tree();
  expect_refused(root, root.run({"apply"}), 1, {"has depmod", "has ldconfig", "install kmod"}, before);
}

TEST(MissingProgram, IsNotReportedWhereNothingNeedsIt) {
  const DriverRoot root;
  const Machine machine{"depmod"};
  if (!machine.ready()) GTEST_SKIP() << "needs to mount";
  const Ran plan = root.run({"plan"});
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("has no linker of glibc that would read ld.so.cache")) << "an empty root";
  const Json json = Json::parse(root.run({"plan", "-o", "json"}).out);
  EXPECT_THAT(json["prospects"]["ldconfig"]["skipped"].get<std::string>(), HasSubstr("no linker of glibc"));
  EXPECT_EQ(json["prospects"]["depmod:" + kernel_of(plan)]["tool"], "depmod of this machine");
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
}

TEST(MissingProgram, DoesNotStopARemovalOrAnApplyWithoutChanges) {
  const DriverRoot root;
  const auto before = root.tree();
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const Machine machine{};
  if (!machine.ready()) GTEST_SKIP() << "needs to mount";
  EXPECT_EQ(root.run({"apply"}).code, 0);
  const Ran remove = root.run({"remove", "--all"});
  EXPECT_EQ(remove.code, 0) << remove.out << remove.err;
  EXPECT_EQ(root.tree(), before);
}

TEST(Remedy, ForAnotherRootNamesThatRootAndMachine) {
  const DriverRoot root;
  const std::string folder = root.folder().at("root").string();
  ASSERT_EQ(root.run({"apply"}).code, 0);
  std::filesystem::remove(root.path("etc/modprobe.d/slipway-nvidia.conf"));
  const std::string spec = root.folder().at("host.yaml").string();
  const Ran verify = root.run({"verify", "-f", spec});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("do: `slipway plan --root " + folder + " --sim h100x8 -f " + spec + "` shows"));
  std::filesystem::remove(root.path("usr/bin/nvidia-smi"));
  EXPECT_THAT(root.run({"verify"}).out, HasSubstr("do: run `slipway apply --root " + folder + " --sim h100x8`"));
  const Json json = Json::parse(root.run({"verify", "-o", "json"}).out);
  EXPECT_THAT(json.dump(), Not(HasSubstr("`slipway apply`")));
  const Ran rollback = root.run({"rollback", "99"});
  EXPECT_THAT(rollback.err, HasSubstr("`slipway generations --root " + folder + " --sim h100x8`"));
}

}  // namespace
}  // namespace slipway
