// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write/lock_file.hpp"
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLink = "usr/lib/x86_64-linux-gnu/libcuda.so.1";

TEST(DriverOnASimulatedH100, IsPlannedWithoutChangingAnything) {
  const DriverRoot root;
  const auto before = root.tree();
  const Ran plan = root.run({"plan"});
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("kernel 6.1.0-50-amd64"));
  EXPECT_THAT(plan.out, HasSubstr("/etc/modprobe.d/slipway-nvidia.conf"));
  EXPECT_EQ(root.tree(), before);
}

// Each component names the units that wait for it, and the boot unit lists those of the spec's components.
TEST(BootUnit, ComesBeforeTheUnitsThatTheComponentsName) {
  const DriverRoot root;
  const std::string unit = "etc/systemd/system/slipway-boot.service";
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_THAT(root.text(unit), HasSubstr("Before=containerd.service\n"));
  EXPECT_THAT(root.text(unit), HasSubstr("Before=nvidia-fabricmanager.service\n"));
  EXPECT_THAT(root.text("etc/systemd/system/slipway-verify.service"),
              ::testing::ContainsRegex("\nAfter=[^\n]* nvidia-fabricmanager.service\n"));
  EXPECT_THAT(root.text(unit), HasSubstr("Before=kubelet.service\n"));
  root.spec("    deviceplugin: {}\n");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_THAT(root.text(unit), HasSubstr("Before=kubelet.service\n"));
  EXPECT_THAT(root.text(unit), Not(HasSubstr("containerd")));
}

// Before the fix, no command told whether a boot had reached the requested state.
TEST(BootVerify, UsesTheActiveGenerationAndFailsWithoutOneOrWithSomethingMissing) {
  const DriverRoot root;
  EXPECT_EQ(root.run({"verify", "--boot"}).code, 1) << "nothing is provisioned";
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.put("etc/slipway/host.yaml", "not the active spec\n");
  EXPECT_EQ(root.run({"verify"}).code, 1);
  const Ran verified = root.run({"verify", "--boot"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_EQ(root.run({"verify", "--boot", "-f", root.folder().at("host.yaml").string()}).code, 64);
  std::filesystem::remove(root.path(kLink));
  EXPECT_EQ(root.run({"verify", "--boot"}).code, 1);
}

/// Locks a root like an apply that changes it.
class ChangeUnderWay {
 public:
  explicit ChangeUnderWay(const std::string& root) : folder_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    struct stat info {};
    EXPECT_EQ(::fstat(folder_.get(), &info), 0);
    EXPECT_EQ(::flock(folder_.get(), LOCK_EX | LOCK_NB), 0);
    if (::geteuid() != 0) return;
    auto file =
        base::LockFile::take(*RootDir::open("/"), "/run/slipway/lock",
                             "root-" + std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino) + ".lock");
    EXPECT_TRUE(file.ok());
    if (file) file_.emplace(std::move(*file));
  }

 private:
  Fd folder_;
  std::optional<base::LockFile> file_;
};

// slipway-cdi-refresh.service may write the CDI specs while slipway-verify.service checks them.
TEST(BootVerify, WaitsUntilNoProcessChangesTheRoot) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  std::optional<ChangeUnderWay> change(root.path(""));
  EXPECT_THAT(root.run({"verify"}).out, HasSubstr("another slipway is changing this root"));
  std::thread end_of_change([&change] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    change.reset();
  });
  const Ran verified = root.run({"verify", "--boot"});
  end_of_change.join();
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, Not(HasSubstr("another slipway is changing this root")));
}

TEST(DriverOnASimulatedH100, IsInstalledVerifiedAndThenLeftAlone) {
  const DriverRoot root;
  const Ran first = root.run({"apply"});
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_EQ(std::filesystem::read_symlink(root.path(kLink)).filename(), "libcuda.so.1");
  EXPECT_TRUE(std::filesystem::exists(root.path("usr/lib/slipway/store/driver/current/modules/6.1.0-50-amd64")));
  const auto after = root.tree();

  const Ran second = root.run({"apply"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("Nothing to do"));
  EXPECT_EQ(root.tree(), after);

  const Ran verify = root.run({"verify", "--deep"});
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_EQ(root.tree(), after);
}

// Before the fix, the machine's GPUs were "without a driver" in the line above the driver's version, although detect
// was right.
TEST(DriverOnASimulatedH100, RunsForStatusAndForDetect) {
  const DriverRoot root;
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
            ", trust: unsigned}}\n    cdi: {}\n");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  constexpr const char* kNone = "no driver runs on this simulated machine";
  const std::string file = root.folder().at("host.yaml").string();
  EXPECT_THAT(root.run({"detect", "-f", file}).out, HasSubstr(kNone));
  const std::string bare = root.run({"status"}).out;
  EXPECT_THAT(bare, HasSubstr("GPUs    8 x "));
  EXPECT_THAT(bare, HasSubstr(kNone));
  EXPECT_THAT(bare, Not(HasSubstr("without a driver")));
  const std::string profile = "h100x8,driver=535.261.03";
  EXPECT_THAT(root.run({"detect", "-f", file}, profile).out, Not(HasSubstr(kNone)));
  EXPECT_THAT(root.run({"status"}, profile).out, HasSubstr(", driver nvidia\n"));
}

// Before the fix, each finding advised `slipway plan`, which printed "Nothing to do".
TEST(VerifyDeep, AdvisesAWorkingRemedyForAChangedFile) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string conf = "etc/modprobe.d/slipway-nvidia.conf";
  root.put(conf, root.text(conf) + "# by hand\n");
  const Ran edited = root.run({"verify", "--deep"});
  EXPECT_EQ(edited.code, 1);
  EXPECT_THAT(edited.out, HasSubstr("--replace-edits=/etc/modprobe.d/slipway-nvidia.conf` replaces it"));
  ASSERT_EQ(root.run({"apply", "--replace-edits=/etc/modprobe.d/slipway-nvidia.conf"}).code, 0);
  EXPECT_EQ(root.run({"verify", "--deep"}).code, 0);

  const auto library = std::filesystem::canonical(root.path(kLink));
  std::ofstream(library, std::ios::app) << "x";
  const Ran changed = root.run({"verify", "--deep"});
  EXPECT_EQ(changed.code, 1);
  EXPECT_THAT(changed.out, HasSubstr(" driver` and then `slipway apply"));
  EXPECT_THAT(changed.out, Not(HasSubstr("`slipway plan")));
  ASSERT_EQ(root.run({"remove", "driver"}).code, 0);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_EQ(root.run({"verify", "--deep"}).code, 0);
}

TEST(DriverOnASimulatedH100, IsRemovedWithoutATrace) {
  const DriverRoot root;
  root.put("etc/hostname", "node\n");
  const auto before = root.tree();
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const Ran removed = root.run({"remove", "--all"});
  ASSERT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_EQ(root.tree(), before);
}

// Before the fix, /etc stayed after the removal when cdi had made the folder and the driver had put ld.so.cache there.
TEST(RemoveAll, LeavesNoFolderInWhicheverOrderComponentsWereApplied) {
  const std::vector<std::string> all{"cdi", "dcgm", "deviceplugin", "driver", "gfd"};
  for (const std::string& first : all)
    for (const std::string& second : all) {
      if (first == second) continue;
      const DriverRoot root;
      root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
                ", trust: unsigned}}\n    cdi: {}\n    dcgm: {}\n    deviceplugin: {}\n    gfd: {}\n");
      const auto before = root.tree();
      const std::string file = root.folder().at("host.yaml").string();
      for (const std::string& name : {first, second}) {
        const Ran applied = root.slipway({"apply", "--only", name, "-f", file, "--kernel", "6.1.0-50-amd64", "--yes"});
        ASSERT_EQ(applied.code, 0) << name << applied.out << applied.err;
      }
      const Ran removed = root.slipway({"remove", "--all", "--yes"});
      EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
      EXPECT_EQ(root.tree(), before) << first << ", then " << second;
    }
}

TEST(DriverOnASimulatedH100, RollsBackToTheEarlierSettings) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const auto first = root.text("etc/modprobe.d/slipway-nvidia.conf");
  root.driver("version: \"535.261.03\", modules: open, blacklist_nouveau: false, source: {repository: " +
              testing::kPackage + ", trust: unsigned}");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_THAT(root.text("etc/modprobe.d/slipway-nvidia.conf"), Not(HasSubstr("nouveau")));
  const Ran rolled = root.run({"rollback"});
  ASSERT_EQ(rolled.code, 0) << rolled.out << rolled.err;
  EXPECT_EQ(root.text("etc/modprobe.d/slipway-nvidia.conf"), first);
  EXPECT_THAT(root.run({"status"}).out, HasSubstr("Generation 1 is active"));
}

TEST(DriverOnAMachineWithoutGpus, IsNotApplicableAndInstallsNothing) {
  const DriverRoot root;
  const Ran apply = root.run({"apply", "-o", "json"}, "empty");
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
  const Json result = Json::parse(apply.out);
  for (const Json& component : result["components"]) {
    if (component["name"] != "driver") continue;
    EXPECT_EQ(component["state"], "not-applicable");
  }
  EXPECT_FALSE(std::filesystem::exists(root.path(kLink)));
  EXPECT_FALSE(std::filesystem::exists(root.path("usr/lib/slipway")));
}

TEST(DriverOnAVolta, WithOpenModulesIsRefusedBecauseItHasNone) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"plan"}, "v100x8"), 1, {"V100", "open modules"}, before);
}

TEST(DriverForAKernelWithoutPackage, ListsTheExistingPackages) {
  const DriverRoot root;
  root.driver("version: \"535.261.03\", modules: open, precompiled: require, source: {repository: " +
              testing::kPackage + ", trust: unsigned}");
  const auto before = root.tree();
  expect_refused(root, root.run({"apply", "--kernel", "6.1.0-99-amd64"}), 1, {"6.1.0-99-amd64", "6.1.0-50-amd64"},
                 before);
}

// Before the fix, `slipway explain` listed components of plugins that are not installed.
TEST(Explain, NamesNoComponentThatIsNotInstalled) {
  const DriverRoot root;
  const Ran ran = root.slipway({"explain", "validator"});
  EXPECT_THAT(ran.out, HasSubstr("comes after: driver, cdi"));
  EXPECT_THAT(ran.out, Not(HasSubstr("dra")));
}

TEST(Init, WritesASpecForTheSimulatedMachineThatPassesItsOwnCheck) {
  const DriverRoot root;
  const Ran init = root.run({"init"});
  ASSERT_EQ(init.code, 0) << init.err;
  EXPECT_THAT(init.out, HasSubstr("kind: Host"));
  EXPECT_THAT(init.out, HasSubstr("driver:"));
  EXPECT_THAT(
      init.err,
      HasSubstr("mig: warning: left out: mig has no config: `config` is empty, and there is no `label_file`; to "
                "have it in the spec, choose a config"));
}

TEST(Detect, ListsTheGpusOfTheSimulatedMachine) {
  const DriverRoot root;
  const Ran detect = root.run({"detect", "-f", root.folder().at("host.yaml").string(), "-o", "json"});
  ASSERT_EQ(detect.code, 0) << detect.err;
  EXPECT_THAT(detect.out, HasSubstr("0000:18:00.0"));
  EXPECT_THAT(detect.out, HasSubstr("0000:db:00.0"));
}

}  // namespace
}  // namespace slipway
