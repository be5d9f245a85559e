// SPDX-License-Identifier: Apache-2.0
// An apply that changes a device: services are paused in the meantime, however it ends, and no other process changes
// that device.
#include <slipway/root_dir.hpp>

#include "base/write/lock_file.hpp"
#include "running_service.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::eventually;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

/// A live root with a running service and a component whose change waits for the test.
class Quiescing : public ::testing::Test {
 protected:
  Quiescing() {
    host_.live = true;
    spec("works");
  }
  void spec(const std::string& how) const {
    host_.spec("    ticker: {file: " + host_.folder().at("ticks").string() + "}\n    changer: {marker: " + marker_ +
               ", how: " + how + "}\n");
  }
  /// Starts an apply beside the service, without using its output files.
  pid_t start_apply() const {
    const auto& folder = host_.folder();
    return testing::spawn(
        {.words = {host_.program, "apply", "--only", "changer", "-f", folder.at("host.yaml").string(), "--live",
                   "--root", folder.at("root").string(), "--cache", folder.at("cache").string()},
         .variables = {"SLIPWAY_PLUGIN_PATH=" + host_.plugins, "SLIPWAY_LOG_DIR=" + folder.at("log").string()},
         .out = folder.at("applied").string(),
         .err = folder.at("applied-errors").string()});
  }
  static int end_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool has_begun() const {
    return eventually([&] { return std::filesystem::exists(marker_ + ".begun"); });
  }
  void let_it_continue() const { std::ofstream(marker_ + ".go") << "go"; }
  bool is_quiesced() const {
    return Control(host_.path("run/slipway/service/ticker.sock").string()).ask(R"({"op":"status"})")["quiet"] == true;
  }
  std::string text(const char* name) const {
    std::ifstream in(host_.folder().at(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  ScratchHost host_;
  const std::string marker_ = host_.folder().at("changed").string();
};

TEST_F(Quiescing, LastsForTheChangeAndEndsWithItsSuccess) {
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const pid_t apply = start_apply();
  ASSERT_TRUE(has_begun()) << text("applied-errors");
  EXPECT_TRUE(is_quiesced());
  EXPECT_EQ(service.did(), "begin tick\ntick\nrelease\n");
  EXPECT_TRUE(std::filesystem::exists(host_.path("run/slipway/lock/gpu-1.lock")));
  EXPECT_TRUE(std::filesystem::exists(host_.path("run/slipway/lock/gpu-2.lock")));
  let_it_continue();
  EXPECT_EQ(end_of(apply), 0) << text("applied") << text("applied-errors");
  EXPECT_TRUE(service.does("release\ntick\n")) << service.did();
  EXPECT_FALSE(std::filesystem::exists(host_.path("run/slipway/lock/gpu-1.lock")));
}

/// `slipway pause -- COMMAND`, beside the service.
class Pause : public Quiescing {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root may pause services";
  }
  pid_t start_pause(const std::string& command) const {
    const auto& folder = host_.folder();
    return testing::spawn(
        {.words = {host_.program, "pause", "--live", "--root", folder.at("root").string(), "--", "sh", "-c", command},
         .variables = {"SLIPWAY_PLUGIN_PATH=" + host_.plugins, "SLIPWAY_LOG_DIR=" + folder.at("log").string()},
         .out = folder.at("paused").string(),
         .err = folder.at("paused-errors").string()});
  }
  std::string begins() const { return "touch " + marker_ + ".begun; "; }
};

TEST_F(Pause, LastsForTheCommandAndExitsAsItDoes) {
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const pid_t pause =
      start_pause(begins() + "while ! test -e " + marker_ + ".go; do sleep 0.05; done; echo done; exit 7");
  ASSERT_TRUE(has_begun()) << text("paused-errors");
  EXPECT_TRUE(is_quiesced());
  let_it_continue();
  EXPECT_EQ(end_of(pause), 7) << text("paused-errors");
  EXPECT_EQ(text("paused"), "done\n");
  EXPECT_THAT(text("paused-errors"), ::testing::AllOf(HasSubstr("pause ticker"), HasSubstr("the services continue")));
  EXPECT_TRUE(service.does("release\ntick\n")) << service.did();
  EXPECT_EQ(end_of(start_pause("kill -KILL $$")), 128 + SIGKILL);
}

// The services resume however the pause ends, and never while the command still runs.
TEST_F(Pause, EndsWithTheCommandAfterAnySignal) {
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const pid_t told = start_pause("trap 'exit 3' TERM; " + begins() + "while :; do sleep 0.05; done");
  ASSERT_TRUE(has_begun()) << text("paused-errors");
  ASSERT_TRUE(is_quiesced());
  ::kill(told, SIGTERM);
  EXPECT_EQ(end_of(told), 3) << "the command has it";
  EXPECT_TRUE(eventually([&] { return !is_quiesced(); }));
  std::filesystem::remove(marker_ + ".begun");
  const pid_t killed = start_pause(begins() + "while test -e " + marker_ + ".begun; do sleep 0.05; done");
  ASSERT_TRUE(has_begun()) << text("paused-errors");
  ASSERT_TRUE(is_quiesced());
  ::kill(killed, SIGKILL);
  EXPECT_EQ(end_of(killed), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_quiesced(); }));
  std::filesystem::remove(marker_ + ".begun");
}

TEST_F(Pause, SaysThatThereIsNoSuchCommandAndThatNoServiceRuns) {
  const auto ran =
      host_.bare({"pause", "--live", "--root", host_.folder().at("root").string(), "--", "no-such-program"});
  EXPECT_EQ(ran.code, 127) << ran.err;
  const std::string root = host_.folder().at("root").string();
  EXPECT_THAT(ran.err, ::testing::AllOf(HasSubstr("no-such-program"),
                                        HasSubstr("warning: no service of slipway runs in " + root +
                                                  ", so nothing is paused; services of other roots")));
  EXPECT_EQ(host_.bare({"pause"}).code, 64);
}

TEST_F(Pause, LeavesNothingBehindInAnImage) {
  const std::string root = host_.folder().at("image").string();
  std::filesystem::create_directories(root + "/etc");
  EXPECT_EQ(host_.bare({"pause", "--root", root, "--", "true"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(root + "/run/slipway/paused.json"));
}

TEST_F(Quiescing, DelaysAServiceThatStartsMeanwhile) {
  const pid_t apply = start_apply();
  ASSERT_TRUE(has_begun()) << text("applied-errors");
  RunningService service(host_);
  EXPECT_TRUE(service.hears("STATUS=waits until ")) << service.told() << service.log();
  EXPECT_TRUE(service.hears("EXTEND_TIMEOUT_USEC="));
  EXPECT_EQ(service.did(), "") << "it does not hold the device in the middle of the change";
  EXPECT_EQ(service.told().find("READY=1"), std::string::npos);
  let_it_continue();
  EXPECT_EQ(end_of(apply), 0) << text("applied") << text("applied-errors");
  EXPECT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(service.does("begin tick\ntick\n")) << service.did();
}

TEST_F(Quiescing, EndsWithTheFailureOfTheChange) {
  spec("fails");
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  let_it_continue();
  EXPECT_EQ(end_of(start_apply()), 1) << text("applied");
  EXPECT_TRUE(service.does("release\ntick\n")) << service.did();
}

TEST_F(Quiescing, EndsWithTheDeathOfTheApply) {
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const pid_t apply = start_apply();
  ASSERT_TRUE(has_begun()) << text("applied-errors");
  EXPECT_TRUE(is_quiesced());
  ::kill(apply, SIGKILL);
  EXPECT_EQ(end_of(apply), 128 + SIGKILL);
  EXPECT_TRUE(service.does("release\ntick\n")) << service.did();
  let_it_continue();
  EXPECT_EQ(end_of(start_apply()), 0) << "the locks died with it: " << text("applied") << text("applied-errors");
}

TEST_F(Quiescing, IsNotBegunWhileAnotherProgramChangesTheDevice) {
  RunningService service(host_);
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  let_it_continue();
  {
    const auto root = RootDir::open(host_.path("").string());
    ASSERT_TRUE(root.ok());
    const auto lock = base::LockFile::take(*root, "/run/slipway/lock", "gpu-2.lock");
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(end_of(start_apply()), 3) << text("applied") << text("applied-errors");
    EXPECT_THAT(text("applied"), HasSubstr("changer: waiting (another program changes gpu-2 "
                                           "(/run/slipway/lock/gpu-2.lock is locked); held by service_"));
    EXPECT_THAT(text("applied"), HasSubstr("(pid " + std::to_string(::getpid()) + ")"));
    EXPECT_FALSE(std::filesystem::exists(marker_ + ".begun"));
  }
  EXPECT_EQ(service.did(), "begin tick\ntick\n") << "it was not disturbed";
  EXPECT_EQ(end_of(start_apply()), 0) << text("applied") << text("applied-errors");
}

}  // namespace
}  // namespace slipway
