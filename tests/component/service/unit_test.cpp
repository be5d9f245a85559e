// SPDX-License-Identifier: Apache-2.0
#include "running_service.hpp"
#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::FakeSystemd;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

TEST(ServiceUnit, ComesWithTheComponentAndRunsWhatTheApplyLeftForIt) {
  const ScratchHost host;
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + ", text: applied}\n");
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(host.text("etc/systemd/system/slipway-ticker.service"), HasSubstr("slipway service ticker --boot"));
  EXPECT_TRUE(
      std::filesystem::is_symlink(host.path("etc/systemd/system/multi-user.target.wants/slipway-ticker.service")));
  EXPECT_EQ(Json::parse(host.text("etc/slipway/services/ticker.json"))["spec"]["text"], "applied");
  EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("Nothing to do"));

  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/systemd/system/slipway-ticker.service")));
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/slipway/services/ticker.json")));
}

// Its section's file owes a restart: the unit was started, and a second later restarted, at the very first apply.
TEST(ServiceUnit, IsStartedOnceAndRestartedOnlyWhenItsSectionChanges) {
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
  EXPECT_EQ(systemd.told(), "start slipway-ticker.service\nrestart slipway-ticker.service\n");
}

/// slipway installed in a folder with the test's plugin: what a shipped unit runs looks nowhere else.
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
}

TEST(ServiceUnit, RunsWithTheInstalledPluginsAndWhatTheApplyLeft) {
  ScratchHost host;
  install(host);
  host.program = host.folder().at("usr/bin/slipway").string();
  EXPECT_THAT(host.slipway({"service", "ticker", "--boot"}).err, HasSubstr("`slipway apply`"));
  host.spec("    ticker: {file: " + host.folder().at("ticks").string() + ", text: applied}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  RunningService service(host, {"service", "ticker", "--boot"});
  EXPECT_TRUE(service.does("applied\n")) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

}  // namespace
}  // namespace slipway
