// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <sys/stat.h>

#include "running_service.hpp"
#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::eventually;
using slipway::testing::FakeSystemd;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServiceUnit, IsInstalledWithTheComponentAndRunsItsSection) {
  const ScratchHost host;
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + ", text: applied}\n");
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(host.text("etc/systemd/system/slipway-ticker.service"), HasSubstr("slipway service ticker --boot"));
  EXPECT_TRUE(
      std::filesystem::is_symlink(host.path("etc/systemd/system/multi-user.target.wants/slipway-ticker.service")));
  const Json left = Json::parse(host.text("etc/slipway/services/ticker.json"));
  EXPECT_EQ(left["spec"]["text"], "applied");
  EXPECT_EQ(left["writes"], Json({"/run/slipway"}));
  EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("Nothing to do"));

  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/systemd/system/slipway-ticker.service")));
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/slipway/services/ticker.json")));
}

// Before the fix, a value of the spec, which has mode 0600, appeared in a world-readable file, in `plan -v` and in
// `diff`.
TEST(ServiceUnit, KeepsASecretOfTheSpecFromOtherUsersAndFromTheScreen) {
  const ScratchHost host;
  const std::string file = host.path("etc/slipway/services/ticker.json").string();
  const auto mode = [&] {
    struct stat info {};
    return ::stat(file.c_str(), &info) == 0 ? info.st_mode & 0777U : 0U;
  };
  const auto spec = [&](const std::string& token) {
    host.spec("    ticker: {file: " + host.folder().at("ticks").string() + token + "}\n");
  };
  spec("");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(mode(), 0644U);
  for (const std::string token : {"planted-one", "planted-two"}) {
    spec(", api_token: " + token);
    const Ran plan = host.slipway({"plan", "-v"});
    EXPECT_THAT(plan.out + plan.err, Not(HasSubstr("planted"))) << plan.out;
    ASSERT_EQ(host.slipway({"apply"}).code, 0);
    EXPECT_EQ(mode(), 0600U);
  }
  const Ran diff = host.slipway({"diff", "2", "3"});
  EXPECT_THAT(diff.out, HasSubstr("api_token: (not shown) -> (not shown)"));
  EXPECT_THAT(host.slipway({"diff", "2", "3", "-o", "json"}).out, Not(HasSubstr("planted")));
}

TEST(ServiceUnit, WithoutDeclaredNeedsHasNoAccess) {
  const ScratchHost host;
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + "}\n    loner: {file: /ticks}\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("the plugin of ticker declares no service_needs"));
  EXPECT_THAT(plan.out, ::testing::Not(HasSubstr("the plugin of loner"))) << "its manifest says that it needs nothing";
}

TEST(ServiceUnit, WithoutDeclaredNeedsCausesAWarningOfTheCheck) {
  const ScratchHost host;
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + "}\n");
  const Ran check = host.slipway({"plugin", "check", SLIPWAY_TICKER, "-f", host.folder().at("host.yaml").string()});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("warning  plugin.service-needs: the manifest declares no service_needs for ticker"));
}

// Before the fix, each had a line of its own with the same text.
TEST(ServiceUnit, OfAnImageWaitsForTheBoot) {
  const ScratchHost host;
  const std::string ticks = host.folder().at("ticks").string();
  host.spec("    ticker: {file: " + ticks + "}\n    loner: {file: " + ticks + "}\n");
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(apply.out, HasSubstr("reload:slipway-loner.service and reload:slipway-ticker.service were skipped: "
                                   "the root is not running"));
}

// Before the fix, slipway-boot.service told systemd to start a service that comes after it, and waited for it until its
// timeout.
TEST(ServiceUnit, IsNotWaitedForWhileSystemdIsAboutToStartIt) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  host.put("usr/bin/slipway", "");
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + ", text: one}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_THAT(systemd.told(), HasSubstr("start slipway-ticker.service"));
  systemd.queued("slipway-ticker.service");
  host.put("run/told", "");
  const Ran again = host.slipway({"apply"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("Nothing to do"));
  EXPECT_EQ(systemd.told(), "");
}

// Before the fix, on a booted image without a GPU, verify and plan wanted to start services that their conditions had
// skipped.
TEST(ServiceUnit, IsCorrectWhenItsConditionSkippedIt) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  host.put("usr/bin/slipway", "");
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + ", text: one}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.put("run/told", "");
  const auto expect_as_it_should_be = [&] {
    EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("Nothing to do"));
    EXPECT_THAT(host.slipway({"verify"}).out, HasSubstr("pass  ticker.owned"));
    EXPECT_EQ(systemd.told(), "");
  };
  systemd.skipped("slipway-ticker.service");
  expect_as_it_should_be();
  // Before the fix, an apply in a container on its host failed, because the host has no slipway for the unit to run.
  systemd.unmet("slipway-ticker.service");
  expect_as_it_should_be();
}

// Its section's file triggers a reload: before the fix, the unit was started, and restarted a second later, in the
// first apply.
TEST(ServiceUnit, IsStartedOnceAndReloadedOnlyWhenItsSectionChanges) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  host.put("usr/bin/slipway", "");
  const std::string ticks = host.folder().at("ticks").string();
  host.spec("    ticker: {file: " + ticks + ", text: one}\n");
  const Ran first = host.slipway({"apply"});
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_EQ(systemd.told(), "start slipway-ticker.service\n");
  host.spec("    ticker: {file: " + ticks + ", text: two}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(systemd.told(), "start slipway-ticker.service\nreload slipway-ticker.service\n");
}

/// Installs slipway in a folder with the test's plugin: the program of a shipped unit looks nowhere else.
void install(const ScratchHost& host) {
  namespace fs = std::filesystem;
  const fs::path bin = host.folder().at("usr/bin");
  const fs::path plugins = host.folder().at("usr/lib/slipway/plugins");
  fs::create_directories(bin);
  fs::create_directories(plugins);
  fs::copy_file(SLIPWAY_PROGRAM, bin / "slipway");
  fs::copy_file(SLIPWAY_WORKER_PROGRAM, bin / "slipway-worker");
  fs::copy_file(SLIPWAY_ENGINE_PROGRAM, bin / "slipway-engine");
  fs::copy_file(SLIPWAY_TICKER, plugins / "ticker.so");
  fs::copy_file(SLIPWAY_TICKER_SERVICE, plugins / "ticker.service.so");
  fs::copy_file(SLIPWAY_LONER, plugins / "loner.so");
  fs::copy_file(SLIPWAY_LONER_SERVICE, plugins / "loner-service");
}

TEST(ServiceUnit, RunsWithTheInstalledPluginsAndTheAppliedSection) {
  ScratchHost host;
  install(host);
  host.program = host.folder().at("usr/bin/slipway").string();
  EXPECT_THAT(host.slipway({"service", "ticker", "--boot"}).err, HasSubstr("`slipway apply --root "));
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + ", text: applied}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  RunningService service(host, {"service", "ticker", "--boot"});
  EXPECT_TRUE(service.does("applied\n")) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

/// An installed slipway that has applied a component whose service writes its text.
class AppliedService : public ::testing::Test {
 protected:
  void apply(const std::string& component, const std::string& text) {
    host_.program = host_.folder().at("usr/bin/slipway").string();
    host_.spec("    " + component + ": {file: " + host_.folder().at("ticks").string() + text + "}\n");
    const Ran apply = host_.slipway({"apply"});
    ASSERT_EQ(apply.code, 0) << apply.err;
  }
  void SetUp() override { install(host_); }
  std::string left(const std::string& component) const { return "etc/slipway/services/" + component + ".json"; }
  /// Changes the apply's result, as another apply would.
  void change(const std::string& component, const std::function<void(Json&)>& how) const {
    Json value = Json::parse(host_.text(left(component)));
    how(value);
    std::ofstream(host_.path(left(component))) << value.dump();
  }
  static std::string program_of(pid_t process) {
    return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe").filename().string();
  }
  static std::string children_of(pid_t process) {
    const std::string id = std::to_string(process);
    std::string all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + id + "/task")) {
      std::ifstream in(task.path() / "children");
      for (std::string child; in >> child;) all += program_of(std::stoi(child)) + " ";
    }
    return all;
  }
  static std::string child_pids(pid_t pid) {
    std::string all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
      std::ifstream in(task.path() / "children");
      for (std::string child; in >> child;) all += child + " ";
    }
    return all;
  }
  ScratchHost host_;
};

// Before the fix, the program with all commands stayed in memory beside each service.
TEST_F(AppliedService, RunsOnlyTheSmallProgram) {
  apply("ticker", ", text: applied");
  RunningService service(host_, {"service", "ticker", "--boot"});
  ASSERT_TRUE(service.does("applied\n")) << service.log();
  EXPECT_EQ(program_of(service.pid()), "slipway");
  EXPECT_EQ(children_of(service.pid()), "slipway-worker ");
}

TEST_F(AppliedService, InASeparateProgramHasNoWorker) {
  apply("loner", ", text: applied");
  RunningService service(host_, {"service", "loner", "--boot"});
  ASSERT_TRUE(service.does("applied\n")) << service.log();
  EXPECT_EQ(program_of(service.pid()), "slipway");
  EXPECT_EQ(children_of(service.pid()), "loner-service ");
}

TEST_F(AppliedService, LoadsALaterAppliedSectionAtSighup) {
  apply("ticker", ", text: applied");
  RunningService service(host_, {"service", "ticker", "--boot"});
  ASSERT_TRUE(service.does("applied\n")) << service.log();
  change("ticker", [](Json& left) { left["spec"]["text"] = "again"; });
  service.signal(SIGHUP);
  EXPECT_TRUE(service.does("begin again\nagain\n")) << service.did() << service.log();
  std::ofstream(host_.path(left("ticker"))) << "noise";
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return service.log().find("not read again") != std::string::npos; })) << service.log();
  EXPECT_THAT(service.did(), ::testing::EndsWith("begin again\nagain\n"));
}

/// A service that has lost what its unit gave it; `true`: found by the program for all commands, as after an upgrade.
class LosingService : public AppliedService, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    AppliedService::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    apply("ticker", ", text: applied");
    if (GetParam()) change("ticker", [](Json& left) { left.erase("library"); });
  }
};
INSTANTIATE_TEST_SUITE_P(Way, LosingService, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "ByTheEngine" : "Direct"; });

// A unit's rules have the device numbers that the kernel had assigned when the service started.
TEST_P(LosingService, RestartsWhenItsDevicesGetOtherNumbers) {
  change("ticker", [](Json& left) { left["device_classes"] = {"acme*"}; });
  const std::filesystem::path devices = host_.folder().at("devices");
  std::ofstream(devices) << "Character devices:\n  1 mem\n\nBlock devices:\n";
  const std::filesystem::path inside = host_.folder().at("inside");
  std::ofstream(inside) << "#!/bin/sh\nexec unshare -m sh -c 'mount --bind " << devices.string()
                        << " /proc/devices && exec \"$@\"' sh " << host_.program << " \"$@\"\n";
  std::filesystem::permissions(inside, std::filesystem::perms(0755));
  host_.program = inside.string();
  RunningService service(host_, {"service", "ticker", "--boot"});
  ASSERT_TRUE(service.does("applied\n")) << service.log();
  std::ofstream(devices) << "Character devices:\n  1 mem\n  5 other\n\nBlock devices:\n";
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // it checks each second
  EXPECT_TRUE(service.does("applied\n")) << "another's device: " << service.log();
  std::ofstream(devices) << "Character devices:\n  1 mem\n  5 other\n511 acme-uvm\n\nBlock devices:\n";
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("restarting, so that the service may open them"));
}

// There is one bind mount for each folder: a folder that is created again is on the read-only file system.
TEST_P(LosingService, RestartsWhenItsFolderIsRemoved) {
  const std::filesystem::path folder = host_.folder().at("written");
  std::filesystem::create_directory(folder);
  change("ticker", [&](Json& left) { left["writes"] = {folder.string(), "/not/there"}; });
  RunningService service(host_, {"service", "ticker", "--boot"});
  ASSERT_TRUE(service.does("applied\n")) << service.log();
  EXPECT_TRUE(service.hears("WATCHDOG=1"));
  EXPECT_EQ(service.log().find("starting again"), std::string::npos) << service.log();
  std::filesystem::remove(folder);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_THAT(service.log(),
              HasSubstr(folder.string() + " is gone; the service restarts so that the folder is created again"));
}

// Before the fix, an upgrade restarted the unit, and meanwhile the service did no work.
TEST_F(AppliedService, WithAReplacedProgramRunsUntilTheNewOneIsReady) {
  apply("loner", ", text: former");
  RunningService service(host_, {"service", "loner", "--boot"});
  ASSERT_TRUE(service.does("former\n")) << service.log();
  const std::string former = child_pids(service.pid());
  const std::filesystem::path program = host_.folder().at("usr/lib/slipway/plugins/loner-service");
  std::filesystem::copy_file(program, program.string() + ".new");
  std::filesystem::rename(program.string() + ".new", program);
  change("loner", [](Json& left) { left["spec"]["text"] = "newer"; });
  service.signal(SIGHUP);
  ASSERT_TRUE(service.does("newer\n")) << service.did() << service.log();
  EXPECT_THAT(service.log(), HasSubstr("takes over when it is ready"));
  EXPECT_TRUE(eventually([&] {
    const std::string now = child_pids(service.pid());
    return now != former && now.find(' ') == now.size() - 1;
  })) << "one process, and another one: "
      << child_pids(service.pid());
  const std::string did = service.did();
  EXPECT_LT(did.find("begin newer"), did.size());
  EXPECT_EQ(did.find("end"), std::string::npos) << "the former one was not stopped before";
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(AppliedService, WithAnInvalidReplacementKeepsRunning) {
  apply("loner", ", text: former");
  RunningService service(host_, {"service", "loner", "--boot"});
  ASSERT_TRUE(service.does("former\n")) << service.log();
  const std::filesystem::path program = host_.folder().at("usr/lib/slipway/plugins/loner-service");
  std::filesystem::remove(program);
  std::ofstream(program) << "half a file";
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return service.log().find("of different versions") != std::string::npos; }))
      << service.log();
  EXPECT_THAT(service.did(), ::testing::EndsWith("former\n"));
}

// Before the fix, a hanging driver delayed all units ordered after the service.
TEST_F(AppliedService, ThatDelaysUnitsCountsAsStartedAfterATimeLimit) {
  apply("loner", ", how: never-ready");
  change("loner", [](Json& left) { left["before"] = {"kubelet.service"}; });
  RunningService service(host_, {"service", "loner", "--boot"});
  EXPECT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("is not ready yet"));
}

TEST_F(AppliedService, OfAnEarlierSlipwayStartsAsWell) {
  apply("ticker", ", text: applied");
  change("ticker", [](Json& left) { left.erase("library"); });
  RunningService service(host_, {"service", "ticker", "--boot"});
  EXPECT_TRUE(service.does("applied\n")) << service.log();
  EXPECT_EQ(program_of(service.pid()), "slipway-engine");
}

TEST_F(AppliedService, IsNotRunFromAFileOfAnotherComponentOrPlace) {
  apply("ticker", ", text: applied");
  for (const char* file : {"loner.so", "../plugins/ticker.so", "none.so"}) {
    change("ticker", [&](Json& left) { left["library"] = file; });
    RunningService service(host_, {"service", "ticker", "--boot"});
    EXPECT_TRUE(service.does("applied\n")) << service.log();
    EXPECT_EQ(program_of(service.pid()), "slipway-engine")
        << file << ": the program for all commands finds the right one";
    service.signal(SIGTERM);
    EXPECT_EQ(service.exit_code(), 0);
  }
}

// systemd asks in ExecCondition=: a nonzero exit code would silently skip the service.
TEST_F(AppliedService, WithDamagedSettingsIsStartedWithAWarning) {
  apply("loner", "");
  host_.put("etc/slipway/services/loner.json", "{");
  EXPECT_EQ(host_.slipway({"service", "loner", "--boot", "--condition"}).code, 0);
  const Ran ran = host_.slipway({"service", "loner", "--boot"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("loner.json does not hold"));
}

TEST_F(AppliedService, WithAMissingFileNamesThePackage) {
  apply("loner", "");
  std::filesystem::remove(host_.folder().at("usr/lib/slipway/plugins/loner-service"));
  const Ran ran = host_.slipway({"service", "loner", "--boot"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("loner-service belongs in the folder of loner.so"));
}

}  // namespace
}  // namespace slipway
