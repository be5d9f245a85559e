// SPDX-License-Identifier: Apache-2.0
#include "running_service.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::eventually;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ServiceTest : public ::testing::Test {
 protected:
  void spec(const std::string& keys) const {
    host_.spec("    ticker: {file: " + host_.folder().at("ticks").string() + ", " + keys + "}\n");
  }
  std::string socket() const { return host_.path("run/slipway/service/ticker.sock").string(); }
  ScratchHost host_;
};

TEST_F(ServiceTest, SaysThatItIsReadyAndStopsCleanlyAtSigterm) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_THAT(service.told(), HasSubstr("STATUS=wrote a line"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_THAT(service.told(), HasSubstr("STOPPING=1"));
  EXPECT_EQ(service.did(), "begin tick\ntick\nrelease\nend\n");
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(ServiceTest, ReportsItsLoopToTheWatchdog) {
  spec("text: tick");
  RunningService service(host_);
  EXPECT_TRUE(service.hears("WATCHDOG=1")) << service.log();
}

TEST_F(ServiceTest, QuiescesForAClientAndResumesWhenItDisconnects) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  {
    const Control control(socket());
    ASSERT_TRUE(control.connected());
    EXPECT_EQ(control.ask(R"({"op":"status"})")["quiet"], false);
    EXPECT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    EXPECT_EQ(service.did(), "begin tick\ntick\nrelease\n");
    EXPECT_EQ(control.ask(R"({"op":"status"})")["quiet"], true);
  }
  EXPECT_TRUE(service.does("release\ntick\n")) << service.did();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0);
}

TEST_F(ServiceTest, StaysQuiescedUntilTheLastClientDisconnects) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  auto first = std::make_unique<Control>(socket());
  const Control second(socket());
  EXPECT_EQ(first->ask(R"({"op":"quiesce"})")["ok"], true);
  EXPECT_EQ(second.ask(R"({"op":"quiesce"})")["ok"], true);
  first.reset();
  EXPECT_TRUE(eventually([&] { return second.ask(R"({"op":"status"})")["held_by"] == 1; }));
  EXPECT_EQ(service.did(), "begin tick\ntick\nrelease\n");
  EXPECT_EQ(second.ask(R"({"op":"resume"})")["ok"], true);
  EXPECT_TRUE(service.does("release\ntick\n")) << service.did();
}

TEST_F(ServiceTest, StopsAlsoWhileItIsQuiesced) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Control control(socket());
  ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_EQ(service.did(), "begin tick\ntick\nrelease\nend\n");
}

TEST_F(ServiceTest, RefusesUnknownRequestsAndDisconnectsOnNoise) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(Control(socket()).ask(R"({"op":"dance"})")["error"]["code"], "unsupported");
  EXPECT_EQ(Control(socket()).ask("noise"), nullptr);
  EXPECT_EQ(Control(socket()).ask(std::string(100'000, 'x')), nullptr);
  EXPECT_EQ(Control(socket()).ask(R"({"op":"status"})")["ready"], true);
}

TEST_F(ServiceTest, StartsAgainWithTheNewSpecAtSighup) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  spec("text: tock");
  service.signal(SIGHUP);
  EXPECT_TRUE(service.does("begin tock\ntock\n")) << service.did() << service.log();
  EXPECT_TRUE(service.hears("RELOADING=1"));
  EXPECT_TRUE(eventually([&] { return service.told().rfind("READY=1") > service.told().rfind("RELOADING=1"); }));
}

TEST_F(ServiceTest, ContinuesWithTheFormerSpecWhenTheNewOneIsWrong) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  spec("txet: tock");
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return service.log().find("txet") != std::string::npos; })) << service.log();
  EXPECT_EQ(service.did(), "begin tick\ntick\n");
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0);
}

// Before the fix, an error that only the component finds ended the service.
TEST_F(ServiceTest, ContinuesWithTheFormerSpecWhenItsComponentRefusesTheNewOne) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  spec("text: tock, how: fails");
  service.signal(SIGHUP);
  EXPECT_TRUE(service.does("end\nbegin tock\nbegin tick\ntick\n")) << service.did() << service.log();
  EXPECT_THAT(service.log(),
              HasSubstr("the new spec is refused, the service keeps the previous one: the service was told to fail"));
  const auto reasons = [&] { return Control(socket()).ask(R"({"op":"status"})")["reasons"].dump(); };
  EXPECT_THAT(reasons(), HasSubstr("was told to fail"));
  spec("text: tock");
  service.signal(SIGHUP);
  EXPECT_TRUE(service.does("begin tock\ntock\n")) << service.did() << service.log();
  EXPECT_EQ(reasons(), "[]");
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

// Before the fix, a correction that arrived while the wrong spec was starting was dropped; one that equalled the former
// spec ended the service.
TEST_F(ServiceTest, TakesACorrectionThatComesWhileAWrongSpecIsStarting) {
  for (const std::string correction : {"tack", "tick"}) {
    SCOPED_TRACE(correction);
    const auto go = host_.folder().at("ticks.go");
    std::filesystem::remove(host_.folder().at("ticks"));
    std::filesystem::remove(go);
    spec("text: tick");
    RunningService service(host_);
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    spec("text: tock, how: dawdles");
    service.signal(SIGHUP);
    ASSERT_TRUE(service.does("begin tock\n")) << service.did();
    spec("text: " + correction);
    service.signal(SIGHUP);
    const std::string again = "starting again with the new spec";
    ASSERT_TRUE(eventually([&] { return service.log().find(again) != service.log().rfind(again); })) << service.log();
    std::ofstream(go) << "go";
    EXPECT_TRUE(service.does("begin tock\nbegin " + correction + "\n" + correction + "\n"))
        << service.did() << service.log();
    EXPECT_EQ(Control(socket()).ask(R"({"op":"status"})")["reasons"].dump(), "[]");
    service.signal(SIGTERM);
    EXPECT_EQ(service.exit_code(), 0) << service.log();
  }
}

TEST_F(ServiceTest, ThatCrashesWithANewSpecSaysThatAndDoesNotGoBack) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  spec("how: crashes");
  service.signal(SIGHUP);
  EXPECT_EQ(service.exit_code(), 1);
  EXPECT_THAT(service.log(), AllOf(HasSubstr("SIGABRT"), Not(HasSubstr("the service keeps the previous one"))));
}

TEST_F(ServiceTest, ReadsTheSpecAgainOnlyWhenItIsNoLongerQuiesced) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  {
    const Control control(socket());
    ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    spec("text: tock");
    service.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return service.log().find("paused for an apply") != std::string::npos; }));
    EXPECT_THAT(service.did(), Not(HasSubstr("tock")));
  }
  EXPECT_TRUE(service.does("begin tock\ntock\n")) << service.did();
}

TEST_F(ServiceTest, ThatCrashesEndsWithTheComponentTheSignalAndItsLastLines) {
  spec("how: crashes");
  RunningService service(host_);
  EXPECT_EQ(service.exit_code(), 1);
  EXPECT_THAT(service.log(), HasSubstr("ticker"));
  EXPECT_THAT(service.log(), HasSubstr("SIGABRT"));
  EXPECT_THAT(service.log(), HasSubstr("about to crash"));
}

TEST_F(ServiceTest, ThatFailsOrEndsByItselfExitsWithOne) {
  spec("how: fails");
  RunningService failing(host_);
  EXPECT_EQ(failing.exit_code(), 1);
  EXPECT_THAT(failing.log(), HasSubstr("ticker: the service was told to fail"));
  spec("how: ends");
  RunningService ending(host_);
  EXPECT_EQ(ending.exit_code(), 1);
  EXPECT_THAT(ending.log(), HasSubstr("ended by itself"));
}

TEST_F(ServiceTest, ThatIgnoresSigtermIsEndedByTheSecond) {
  spec("how: deaf");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  service.signal(SIGTERM);
  ASSERT_TRUE(service.hears("STOPPING=1"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 1);
}

TEST_F(ServiceTest, RunsOnceForEachRoot) {
  spec("text: tick");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Ran second = host_.slipway({"service", "ticker", "-f", host_.folder().at("host.yaml").string()});
  EXPECT_EQ(second.code, 75) << second.err;
  EXPECT_THAT(second.err, HasSubstr("ticker is already running"));
}

TEST_F(ServiceTest, IsRefusedWithoutANameASectionOrAService) {
  spec("text: tick");
  const std::string file = host_.folder().at("host.yaml").string();
  EXPECT_EQ(host_.slipway({"service", "-f", file}).code, 64);
  const Ran unknown = host_.slipway({"service", "tickr", "-f", file});
  EXPECT_EQ(unknown.code, 64);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'ticker'?"));
  EXPECT_THAT(host_.slipway({"service", "neighbour", "-f", file}).err, HasSubstr("the spec has no component"));
}

TEST_F(ServiceTest, MayBeInASeparateLibrary) {
  host_.spec("    neighbour: {file: " + host_.folder().at("ticks").string() + "}\n");
  RunningService service(host_, {"service", "neighbour", "-f", host_.folder().at("host.yaml").string()});
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(Control(host_.path("run/slipway/service/neighbour.sock").string()).ask(R"({"op":"status"})")["component"],
            "neighbour");
  const Ran plan = host_.slipway({"plan"});
  EXPECT_NE(plan.code, 1) << plan.err;
}

TEST_F(ServiceTest, MayBeASeparateProgram) {
  host_.spec("    loner: {file: " + host_.folder().at("ticks").string() + ", text: alone}\n");
  RunningService service(host_, {"service", "loner", "-f", host_.folder().at("host.yaml").string()});
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(service.did(), "begin alone\nalone\n");
  const Control control(host_.path("run/slipway/service/loner.sock").string());
  EXPECT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
  EXPECT_TRUE(service.does("release\n")) << service.did();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(ServiceTest, ThatIsAProgramReportsItsCrash) {
  host_.spec("    loner: {file: " + host_.folder().at("ticks").string() + ", how: crashes}\n");
  RunningService service(host_, {"service", "loner", "-f", host_.folder().at("host.yaml").string()});
  EXPECT_EQ(service.exit_code(), 1);
  EXPECT_THAT(service.log(), AllOf(HasSubstr("loner"), HasSubstr("SIGABRT"), HasSubstr("about to crash")));
}

TEST(ServiceProgram, CannotBeStartedByHand) {
  const ScratchHost host;
  EXPECT_EQ(std::system((SLIPWAY_LONER_SERVICE " a b c 2>" + host.folder().at("err").string()).c_str()), 64 << 8);
  std::ifstream in(host.folder().at("err"));
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(in), {}), HasSubstr("only slipway starts"));
}

TEST(PluginInfo, ShowsWhereAServiceIs) {
  const ScratchHost host;
  const Ran text = host.slipway({"plugin", "info", SLIPWAY_TICKER});
  EXPECT_THAT(text.out, HasSubstr("ticker in " SLIPWAY_TICKER)) << text.err;
  EXPECT_THAT(text.out, HasSubstr("neighbour in " SLIPWAY_TICKER_SERVICE));
  const Ran list = host.slipway({"plugin", "list", "-o", "json"});
  EXPECT_EQ(Json::parse(list.out)["plugins"].size(), 2U) << "a service's file is not a plugin of its own";
  EXPECT_EQ(
      Json::parse(
          host.slipway({"plugin", "info", SLIPWAY_LONER, "-o", "json"}).out)["components"][0]["service"]["program"],
      SLIPWAY_LONER_SERVICE);
}

}  // namespace
}  // namespace slipway
