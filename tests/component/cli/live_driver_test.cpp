// SPDX-License-Identifier: Apache-2.0
// The driver on a running machine: what an apply leaves alone, and how it replaces a loaded driver by another one.
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/component/cli/live_machine.hpp"
#include "tests/component/engine/installed.hpp"

namespace slipway {
namespace {

using slipway::testing::LiveMachine;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOlder = "535.261.03";
const std::string kNewer = "550.163.01";

/// A process that has a node of the driver open, until it is ended. With a library of the driver it counts as one that
/// uses it.
class Holder {
 public:
  explicit Holder(const LiveMachine& machine, bool with_library = false) {
    const std::string node = machine.path("dev/nvidia3").string();
    const std::string library = machine.folder().at("libcuda.so.1").string();
    std::ofstream(library) << std::string(4096, ' ');
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::open(node.c_str(), O_RDONLY) < 0) ::_exit(1);
      const int file = ::open(library.c_str(), O_RDONLY);
      if (with_library && ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) ::_exit(2);
      ::close(ready[0]);
      ::close(ready[1]);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char letter = 0;
    EXPECT_EQ(::read(ready[0], &letter, 1), 0);
    ::close(ready[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { end(); }
  std::string pid() const { return std::to_string(pid_); }
  bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  /// Waits for its end. @return the signal that ended it
  int end_signal() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_ = -1;
};

/// A machine on which the older driver is installed and loaded.
class LiveDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!LiveMachine::possible()) GTEST_SKIP() << "needs root";
    machine.driver(kOlder);
    const Ran ran = machine.slipway({"apply"});
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    ASSERT_EQ(machine.version_of("nvidia_uvm"), kOlder);
    machine.done();
    machine.units();
  }
  Ran apply(const std::string& version, const std::string& keys = "",
            std::vector<std::string> words = {"apply"}) const {
    machine.driver(version, keys);
    return machine.slipway(std::move(words));
  }
  void expect_older(const std::string& done = "") const {
    EXPECT_EQ(machine.done(), done);
    for (const char* module : {"nvidia", "nvidia_uvm", "nvidia_modeset"}) EXPECT_EQ(machine.version_of(module), kOlder);
    EXPECT_EQ(Json::parse(machine.text("usr/lib/slipway/driver.json"))["version"], kOlder);
    EXPECT_TRUE(machine.text("etc/ld.so.conf.d/slipway-driver.conf") != "");
    for (const char* record : {"driver-modules.json", "driver-services.json"})
      EXPECT_FALSE(std::filesystem::exists(machine.path("run/slipway/" + std::string(record)))) << record;
  }
  void expect_newer() const {
    for (const char* module : {"nvidia", "nvidia_uvm", "nvidia_modeset"}) EXPECT_EQ(machine.version_of(module), kNewer);
    EXPECT_EQ(Json::parse(machine.text("usr/lib/slipway/driver.json"))["version"], kNewer);
  }
  LiveMachine machine;
};

// An upgrade of slipway's own package must not unload the driver's modules.
TEST_F(LiveDriver, IsNotTouchedAfterAnUpgradeOfSlipwayItself) {
  const testing::TempDir prefix;
  machine.use_program(testing::install_into(prefix, {SLIPWAY_TEST_PLUGINS}));
  machine.plugins = prefix.at("usr/lib/slipway/plugins");
  std::ofstream(std::filesystem::path(machine.plugins) / "driver.so", std::ios::app) << "another build";
  auto before = machine.tree();
  const Ran plan = machine.slipway({"plan"});
  EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
  const Ran ran = machine.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(machine.done(), "");
  auto after = machine.tree();
  for (auto* tree : {&before, &after})
    std::erase_if(*tree, [](const auto& entry) { return entry.first.starts_with("var/lib/slipway/generations"); });
  EXPECT_EQ(after, before);
}

TEST_F(LiveDriver, IsReplacedWithItsServicesStoppedAndAllOfItsModulesUnloaded) {
  for (const char* module : {"nvidia_fs", "gdrdrv", "nvidia_peermem", "nvidia_drm"}) machine.load(module, kOlder);
  machine.systemd().running("nvidia-persistenced.service");
  machine.systemd().running("nvidia-fabricmanager.service");
  const Ran plan = apply(kNewer, "", {"plan"});
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("free the loaded driver 535.261.03: unload its modules"));
  const Ran ran = machine.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  expect_newer();
  const std::string done = machine.done();
  EXPECT_THAT(done, ::testing::StartsWith("unload nvidia_fs\nunload gdrdrv\nunload nvidia_peermem\nunload nvidia_drm\n"
                                          "unload nvidia_modeset\nunload nvidia_uvm\nunload nvidia\n"));
  EXPECT_LT(done.find("unload nvidia\n"), done.find("ldconfig")) << "they are unloaded before the files are switched";
  EXPECT_LT(done.find("depmod"), done.find("load nvidia " + kNewer));
  for (const char* module : {"nvidia_fs", "gdrdrv", "nvidia_peermem", "nvidia_drm"})
    EXPECT_EQ(machine.version_of(module), kNewer) << "it was loaded before";
  EXPECT_EQ(machine.units(),
            "stop nvidia-fabricmanager.service\nstop nvidia-persistenced.service\n"
            "start nvidia-persistenced.service\nstart nvidia-fabricmanager.service\n");
  EXPECT_EQ(machine.slipway({"plan"}).code, 0) << machine.slipway({"plan"}).out;
}

TEST_F(LiveDriver, IsLeftAsItIsWhileAProcessHoldsIt) {
  Holder holder(machine);
  const std::string named = "(pid " + holder.pid();
  const Ran plan = apply(kNewer, "", {"plan"});
  EXPECT_THAT(plan.out,
              AllOf(HasSubstr("note: driver 535.261.03 is held by "), HasSubstr(named), HasSubstr("on /dev/nvidia3"),
                    HasSubstr("an apply fails until that has ended (drain: fail-fast)")));
  const Ran ran = machine.slipway({"apply"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("driver 535.261.03 is in use, so it was left as it is"), HasSubstr(named),
                             HasSubstr("spec.components.driver.drain = fail-fast")));
  expect_older();
  EXPECT_EQ(machine.units(), "");
  holder.end();
  EXPECT_EQ(machine.slipway({"apply"}).code, 0);
  expect_newer();
}

TEST_F(LiveDriver, WaitsForTheEndOfItsUsers) {
  Holder holder(machine);
  const Ran ran = apply(kNewer, "drain: {policy: wait, deadline: 24h}");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("driver: waiting (driver 535.261.03 is in use"), HasSubstr("for 24h at most"),
                             HasSubstr("(pid " + holder.pid())));
  expect_older();
  EXPECT_THAT(machine.slipway({"verify"}).out,
              AllOf(HasSubstr("is installed, the spec asks for 550.163.01"), Not(HasSubstr("driver.versions"))))
      << "the former driver works meanwhile";
  EXPECT_THAT(machine.slipway({"status"}).out, HasSubstr("driver 535.261.03 is in use"));
  holder.end();
  EXPECT_EQ(machine.slipway({"apply"}).code, 0);
  expect_newer();
}

TEST_F(LiveDriver, EndsItsUsersByThePolicyTerminate) {
  Holder bare(machine);
  const Ran refused = apply(kNewer, "drain: terminate");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("it only has the device open"));
  EXPECT_TRUE(bare.runs());
  expect_older();
  bare.end();
  Holder job(machine, true);
  const Ran ran = machine.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(job.end_signal(), SIGTERM);
  EXPECT_THAT(ran.err, HasSubstr("driver 535.261.03 was freed by the drain policy terminate, which ended "));
  expect_newer();
}

TEST_F(LiveDriver, IsReplacedAtTheNextBootByThatPolicy) {
  const Ran ran = apply(kNewer, "drain: next-boot");
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("driver 535.261.03 is changed at the next boot, by the drain policy next-boot"));
  expect_older();
  const testing::TempDir prefix;  // a boot takes plugins only from beside its program
  machine.use_program(testing::install_into(prefix, {SLIPWAY_TEST_PLUGINS}));
  std::filesystem::copy_file(std::filesystem::path(SLIPWAY_PROGRAM).parent_path() / "slipway-artifact.so",
                             prefix.at("usr/bin/slipway-artifact.so"));
  const Ran boot = machine.slipway({"apply", "--boot"});
  EXPECT_EQ(boot.code, 0) << boot.out << boot.err;
  expect_newer();
}

TEST_F(LiveDriver, IsBroughtBackWhenAModuleOfTheNewOneRefuses) {
  machine.load("gdrdrv", kOlder);
  machine.systemd().running("nvidia-persistenced.service");
  machine.refuse("nvidia_uvm", kNewer);
  const Ran ran = apply(kNewer);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("nvidia-uvm"), Not(HasSubstr("not restored"))));
  const std::string done = machine.done();
  EXPECT_THAT(done, HasSubstr("load nvidia " + kNewer + "\n"));
  expect_older();
  EXPECT_TRUE(machine.is_loaded("gdrdrv"));
  EXPECT_EQ(machine.units(), "stop nvidia-persistenced.service\nstart nvidia-persistenced.service\n");
  machine.driver(kOlder);
  EXPECT_EQ(machine.slipway({"plan"}).code, 0) << machine.slipway({"plan"}).out;
}

TEST_F(LiveDriver, NamesWhatCouldNotBeBroughtBack) {
  machine.refuse("nvidia_uvm", kNewer);
  machine.refuse("nvidia_uvm", kOlder);
  const Ran ran = apply(kNewer);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("not restored:"), HasSubstr("the former driver is not as it was: nvidia_uvm: ")));
  EXPECT_EQ(machine.version_of("nvidia"), kOlder) << "the rest is back";
}

TEST_F(LiveDriver, StaysLoadedWhenTheKernelCannotUnloadAModule) {
  machine.use("nvidia_uvm");
  const Ran ran = apply(kNewer);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("nvidia_uvm: rmmod: ERROR: Module nvidia_uvm is in use"));
  expect_older("unload nvidia_modeset\nload nvidia_modeset " + kOlder + "\n");
}

// A companion's module is often built for one driver only.
TEST_F(LiveDriver, IsReplacedThoughACompanionDoesNotLoadAgain) {
  machine.load("gdrdrv", kOlder);
  machine.refuse("gdrdrv", kNewer);
  const Ran ran = apply(kNewer);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("a module that was loaded before is not loaded now: gdrdrv: "));
  expect_newer();
}

TEST_F(LiveDriver, GetsItsServicesAndModulesBackAfterAnApplyThatWasKilled) {
  machine.put("run/slipway/driver-services.json", R"(["nvidia-persistenced.service"])");
  machine.put("run/slipway/driver-modules.json", R"({"version": "535.261.03", "modules": ["gdrdrv", "nvidia"]})");
  const Ran plan = apply(kOlder, "", {"plan"});
  EXPECT_THAT(plan.out, HasSubstr("start what was stopped for the change of the driver"));
  const Ran ran = machine.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  expect_older("load gdrdrv " + kOlder + "\n");
  EXPECT_EQ(machine.units(), "start nvidia-persistenced.service\n");
}

}  // namespace
}  // namespace slipway
