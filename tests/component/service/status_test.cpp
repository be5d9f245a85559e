// SPDX-License-Identifier: Apache-2.0
// `slipway status` and `slipway verify` ask the services for their state.
#include "running_service.hpp"
#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::Clock;
using slipway::testing::Control;
using slipway::testing::eventually;
using slipway::testing::FakeSystemd;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class StatusTest : public ::testing::Test {
 protected:
  void spec(const std::string& keys) const {
    host_.spec("    ticker: {file: " + host_.folder().at("ticks").string() + keys + "}\n");
  }
  std::string text() const { return host_.slipway({"status"}).out; }
  Json service() const {
    const Ran ran = host_.slipway({"status", "-o", "json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Json::parse(ran.out)["components"]["ticker"]["service"];
  }
  ScratchHost host_;
};

TEST_F(StatusTest, ShowsTheStatusOfARunningService) {
  spec("");
  RunningService running(host_);
  ASSERT_TRUE(running.hears("STATUS=wrote a line")) << running.log();
  ASSERT_TRUE(running.hears("READY=1"));
  EXPECT_THAT(text(), HasSubstr("  ticker     not-applied  -    service: working: wrote a line\n"));
  EXPECT_EQ(service(), Json({{"state", "working"},
                             {"status", "wrote a line"},
                             {"text", "working: wrote a line"},
                             {"finding", "pass"},
                             {"reasons", Json::array()}}));
}

TEST_F(StatusTest, ShowsTheProblemsOfAService) {
  spec(", how: ails");
  RunningService running(host_);
  ASSERT_TRUE(running.hears("READY=1")) << running.log();
  EXPECT_THAT(text(), ContainsRegex("service: working: the hand is bent\n +the spring is tired\n"));
  EXPECT_EQ(service()["reasons"].size(), 2U);
  spec(", how: works");
  running.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return service()["reasons"].empty(); })) << "those of the former spec";
}

TEST_F(StatusTest, SaysThatAServiceIsQuiesced) {
  spec("");
  RunningService running(host_);
  ASSERT_TRUE(running.hears("READY=1")) << running.log();
  const Control control(host_.path("run/slipway/service/ticker.sock").string());
  ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
  EXPECT_EQ(service()["state"], "quiet");
}

TEST_F(StatusTest, IsNotAnErrorWithoutAnyService) {
  const Ran ran = host_.slipway({"status"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, Not(HasSubstr("service")));
}

TEST_F(StatusTest, ReportsAnAppliedServiceThatDoesNotRun) {
  spec("");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  EXPECT_THAT(text(), HasSubstr("  service: this root is not running: a boot starts slipway-ticker.service\n"));
  EXPECT_EQ(service()["state"], "not-running");
}

/// A listener at the service's socket never answers, or answers with noise.
TEST_F(StatusTest, SaysThatAServiceDoesNotAnswerAndDoesNotWaitForIt) {
  const std::string path = host_.path("run/slipway/service/ticker.sock").string();
  std::filesystem::create_directories(host_.path("run/slipway/service"));
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = slipway::testing::socket_address(path);
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening, 4), 0);
  const auto begin = Clock::now();
  EXPECT_THAT(text(), HasSubstr("  service: runs, but does not answer\n"));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(15));
  std::jthread noise([&] {
    const int client = ::accept(listening, nullptr, nullptr);
    (void)!::send(client, "noise\n", 6, MSG_NOSIGNAL);
    ::close(client);
  });
  EXPECT_EQ(service()["state"], "no-answer");
  ::close(listening);
}

// Before the fix, verify and doctor passed while the service had been dead for days, and only status reported it.
TEST_F(StatusTest, AgreesWithVerifyAndDoctorThatAServiceThatWasKilledDoesNotRun) {
  const auto on_machine = [&](const std::string& command) {
    return host_.slipway({command, "--sim", "l4x1", "-f", host_.folder().at("host.yaml").string()});
  };
  spec("");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  {
    RunningService running(host_);
    ASSERT_TRUE(running.hears("READY=1")) << running.log();
    for (const std::string command : {"verify", "doctor"}) EXPECT_EQ(on_machine(command).code, 0) << command;
    EXPECT_THAT(on_machine("verify").out, HasSubstr("pass  ticker.service: working: wrote a line\n"));
    running.signal(SIGKILL);
    EXPECT_EQ(running.exit_code(), 128 + SIGKILL);
  }
  EXPECT_THAT(text(), HasSubstr("  service: does not run: it was killed or has crashed\n"));
  EXPECT_EQ(service()["state"], "not-running");
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = on_machine(command);
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("fail  ticker.service: the service does not run: it was killed or has crashed"),
                      HasSubstr("`slipway service --root " + host_.path("").parent_path().string())));
  }
}

// Before the fix, verify and doctor passed a service that itself reported that it does not work.
TEST_F(StatusTest, AgreesWithVerifyAndDoctorAboutAServicesProblems) {
  spec(", how: ails");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  RunningService running(host_);
  ASSERT_TRUE(running.hears("READY=1")) << running.log();
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host_.slipway({command, "--sim", "l4x1", "-f", host_.folder().at("host.yaml").string()});
    EXPECT_EQ(ran.code, 0) << "it works: " << ran.out << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("warning  ticker.service: the service works, and reports: the hand is bent; the "
                                "spring is tired\n"),
                      Not(HasSubstr("Nothing is wrong"))));
  }
}

// Before the fix, a command that a service advised was for the machine's own root, for any root.
TEST_F(StatusTest, AndTheLogNameTheRootInAdvisedCommands) {
  spec(", how: advises");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  RunningService running(host_);
  ASSERT_TRUE(running.hears("READY=1")) << running.log();
  const std::string root = host_.path("").parent_path().string();
  const std::string command = "(`slipway pause --root " + root + " -- wind --up`)";
  EXPECT_TRUE(eventually([&] { return running.log().find(command) != std::string::npos; })) << running.log();
  EXPECT_THAT(text(), HasSubstr(command));
  EXPECT_EQ(service()["reasons"], Json::array({"the spring is tired " + command}));
  EXPECT_THAT(host_.slipway({"verify"}).out, HasSubstr(command));
}

// Before the fix, status gave the cause of an apply that failed an hour ago, beside a working service.
TEST_F(StatusTest, SaysThatAFailedServiceWorksNow) {
  spec("");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  host_.put(
      "var/lib/slipway/failing.json",
      R"({"ticker": {"state": "failed", "findings": [{"name": "ticker.hand", "status": "fail", "text": "bent"}]}})");
  EXPECT_THAT(text(), ContainsRegex("  ticker failed: `slipway doctor [^`]*` tells whether the component works now, "));
  RunningService running(host_);
  ASSERT_TRUE(running.hears("READY=1")) << running.log();
  EXPECT_THAT(text(),
              HasSubstr("  ticker did not work after the last apply, but its service works now: `slipway apply"));
}

TEST_F(StatusTest, OfAnImageHasNoServices) {
  spec("");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  const Ran verify = host_.slipway({"verify"});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  ticker.service: this root is not running"));
}

TEST_F(StatusTest, AgreesWithVerifyThatAServiceOfARunningMachineDoesNotRun) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  const FakeSystemd systemd(host_);
  host_.put("usr/bin/slipway", "");
  spec("");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  const Ran verify = host_.slipway({"verify"});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, AllOf(HasSubstr("fail  ticker.service: the service does not run\n"),
                                HasSubstr("do: look at `systemctl status slipway-ticker.service`")));
  EXPECT_THAT(text(), HasSubstr("  service: does not run\n"));
}

}  // namespace
}  // namespace slipway
