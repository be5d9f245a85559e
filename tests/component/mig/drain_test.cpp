// SPDX-License-Identifier: Apache-2.0
// Drain policies, with real processes on the GPUs of a simulated machine, and services that see a change through.
#include "child.hpp"

namespace slipway {
namespace {

using slipway::testing::becomes_true;
using slipway::testing::Beside;
using slipway::testing::Child;
using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// One H100 with seven instances, one of which a real process uses.
class MigDrain : public ::testing::Test {
 protected:
  MigDrain() { EXPECT_EQ(node_.plan("all-7g.80gb").code, 2); }

  Ran apply(const std::string& drain, std::vector<std::string> words = {"apply"}) const {
    node_.section("config: all-7g.80gb, drain: " + drain);
    return node_.slipway(std::move(words));
  }
  /// @param instance  "GI CI"; empty: the process only holds the device open
  void attach(const Child& child, const std::string& how = "10 compute trainer 9 0") const {
    EXPECT_EQ(node_.sim("process attach 0 " + child.pid() + " " + how).code, 0);
  }
  void expect_nothing_changed() const { EXPECT_EQ(node_.instances().size(), 7U); }
  void expect_changed() const { EXPECT_THAT(node_.instances(), ElementsAre("7g.80gb at 0:8")); }

  const MigNode node_{"h100x1,mig=1g.10gb"};
};

TEST_F(MigDrain, FailsFastAndNamesTheHolders) {
  Child job;
  attach(job);
  const Ran ran = node_.apply("all-7g.80gb");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const std::string messages = ran.out + ran.err;
  EXPECT_THAT(messages, HasSubstr("GPU 0 (0000:18:00.0) is in use, so its layout was left as it was (7 x 1g.10gb)"));
  EXPECT_THAT(messages, HasSubstr("(pid " + job.pid()));
  EXPECT_THAT(messages, HasSubstr("on 1g.10gb at 2"));
  expect_nothing_changed();
  EXPECT_TRUE(job.runs());
  job.end();
  EXPECT_EQ(node_.slipway({"apply"}).code, 0);
  expect_changed();
}

// Before the fix, only the first GPU was named.
TEST(MigDrains, FailWithTheHoldersOfEachGpu) {
  const MigNode node("h100x3,mig=1g.10gb");
  ASSERT_EQ(node.plan("all-7g.80gb").code, 2);
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer 9 0").code, 0);
  ASSERT_EQ(node.sim("process add 2 4712 10 compute other 9 0").code, 0);
  const Ran ran = node.apply("all-7g.80gb");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr("trainer (pid 4711"), HasSubstr("held:  GPU 2 (0000:3a:00.0): other (pid 4712")));
}

TEST_F(MigDrain, NamesTheHoldersInThePlan) {
  Child job;
  attach(job);
  for (const auto& [drain, then] :
       std::map<std::string, std::string>{{"fail-fast", "an apply fails until that has ended (drain: fail-fast)"},
                                          {"when-idle", "an apply waits until that has ended (drain: when-idle)"},
                                          {"{policy: terminate, grace: 10m}", "an apply ends it (drain: terminate)"}}) {
    const Ran ran = apply(drain, {"plan"});
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("note: GPU 0 (0000:18:00.0) is held by "), HasSubstr("(pid " + job.pid()),
                               HasSubstr("on 1g.10gb at 2"), HasSubstr(then)));
  }
  EXPECT_THAT(apply("next-boot", {"plan"}).out, Not(HasSubstr("is held by")));
  EXPECT_TRUE(job.runs());
  job.end();
  EXPECT_THAT(node_.plan("all-7g.80gb").out, Not(HasSubstr("is held by")));
}

TEST_F(MigDrain, WaitsAndNamesTheHoldersAndTheTime) {
  Child job;
  attach(job);
  const Ran first = apply("{policy: wait, deadline: 24h}");
  EXPECT_EQ(first.code, 3) << first.out << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("mig: waiting (GPU 0 (0000:18:00.0) is in use"), HasSubstr("it waits since "),
                               HasSubstr("for 24h at most; held by "), HasSubstr("(pid " + job.pid())));
  EXPECT_THAT(node_.host().slipway({"status"}).out,
              AllOf(HasSubstr("it waits since "), HasSubstr("(pid " + job.pid())));
  EXPECT_THAT(node_.slipway({"doctor", "-f", node_.host().folder().at("host.yaml").string()}).out,
              AllOf(HasSubstr("mig.in-use"), HasSubstr("(pid " + job.pid()), HasSubstr("its change waits since ")));
  expect_nothing_changed();
  job.end();
  EXPECT_EQ(node_.slipway({"apply"}).code, 0);
  expect_changed();
  EXPECT_FALSE(std::filesystem::exists(node_.host().path("run/slipway/drain")) &&
               !std::filesystem::is_empty(node_.host().path("run/slipway/drain")));
}

TEST_F(MigDrain, FailsOncePastTheDeadline) {
  Child job;
  attach(job);
  ASSERT_EQ(apply("{policy: wait, deadline: 24h}").code, 3);
  // Sets the start of the wait to the machine's boot.
  for (const auto& file : std::filesystem::directory_iterator(node_.host().path("run/slipway/drain"))) {
    std::ifstream in(file.path());
    Json record = Json::parse(in);
    record["boottime"] = 0;
    std::ofstream(file.path()) << record.dump();
  }
  const Ran late = apply("{policy: wait, deadline: 1s}");
  EXPECT_EQ(late.code, 1) << late.out;
  EXPECT_THAT(late.out + late.err,
              AllOf(HasSubstr("which is longer than the deadline of 1s"), HasSubstr("(pid " + job.pid())));
  expect_nothing_changed();
}

TEST_F(MigDrain, ContinuesByItselfOnceTheGpuIsIdle) {
  Child job;
  attach(job);
  node_.section("config: all-7g.80gb, drain: when-idle");
  const pid_t apply = node_.host().start({"apply", "--wait", "--sim", "h100x1,mig=1g.10gb"});
  EXPECT_TRUE(becomes_true([&] { return node_.host().error_text().find("slipway waits until") != std::string::npos; }))
      << node_.host().error_text();
  expect_nothing_changed();
  job.end();
  int status = 0;
  ::waitpid(apply, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << node_.host().error_text();
  expect_changed();
}

TEST_F(MigDrain, TerminatesAJob) {
  Child job;
  attach(job);
  const std::string ended = "(pid " + job.pid();
  const Ran ran = apply("{policy: terminate, grace: 10m}");
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(job.end_signal(), SIGTERM);
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr("freed by the drain policy terminate, which ended "), HasSubstr(ended)));
  expect_changed();
}

TEST_F(MigDrain, KillsAJobThatIgnoresSigterm) {
  Child deaf("deaf");
  attach(deaf);
  const Ran ran = apply("{policy: terminate, grace: 1s}");
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(deaf.end_signal(), SIGKILL);
  expect_changed();
}

// A process that may open a device may send the open file to a daemon, which an apply as root would have ended before
// the fix.
TEST_F(MigDrain, DoesNotTerminateAProcessThatOnlyHoldsTheDeviceOpen) {
  const Child watcher;
  attach(watcher, "0 holder");
  node_.section("config: all-disabled, drain: terminate");
  EXPECT_THAT(node_.slipway({"plan"}).out,
              AllOf(HasSubstr("an apply fails, since it cannot end "), HasSubstr("(pid " + watcher.pid()),
                    HasSubstr("it only has the device open")));
  const Ran ran = node_.slipway({"apply"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, AllOf(HasSubstr("(pid " + watcher.pid()), HasSubstr("it only has the device open"),
                                       HasSubstr("end the remaining processes by hand")));
  EXPECT_TRUE(watcher.runs());
  expect_nothing_changed();
}

TEST_F(MigDrain, NeverSignalsAProcessThatIsOnlySimulated) {
  const Child stranger;  // a real process with the same number must not be affected
  ASSERT_EQ(node_.sim("process add 0 " + stranger.pid() + " 10 compute trainer 9 0").code, 0);
  const Ran ran = apply("{policy: terminate, grace: 1s}");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("it is not a process that slipway can see on this machine"));
  EXPECT_TRUE(stranger.runs());
  expect_nothing_changed();
}

TEST_F(MigDrain, DefersTheChangeToTheNextBoot) {
  const Ran ran = apply("next-boot");
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("GPU 0 (0000:18:00.0) is changed at the next boot"));
  expect_nothing_changed();
  EXPECT_THAT(node_.slipway({"plan"}).out, HasSubstr("next-boot leaves the change to slipway-boot.service"));
  EXPECT_THAT(node_.host().slipway({"status"}).out, HasSubstr("is changed at the next boot"));
  EXPECT_TRUE(std::filesystem::exists(node_.host().path("etc/systemd/system/slipway-boot.service")));
  EXPECT_EQ(node_.slipway({"apply", "--boot"}).code, 0);
  expect_changed();
}

TEST_F(MigDrain, RefusesPoliciesAndKeysThatHaveNoEffect) {
  for (const char* drain : {"evict", "{policy: wait, grace: 5s}", "soon"}) {
    const Ran ran = apply(drain);
    EXPECT_EQ(ran.code, 1) << drain;
    EXPECT_THAT(ran.out + ran.err, HasSubstr("spec.components.mig.drain")) << drain;
  }
  expect_nothing_changed();
}

/// Two H100 with seven instances each, and their jobs.
class MigDrainOfSeveral : public ::testing::Test {
 protected:
  MigDrainOfSeveral() { EXPECT_EQ(node_.plan("all-7g.80gb").code, 2); }
  Ran apply(const std::string& grace) const {
    node_.section("config: all-7g.80gb, drain: {policy: terminate, grace: " + grace + "}");
    return node_.slipway({"apply"});
  }
  const MigNode node_{"h100x2,mig=1g.10gb"};
};

TEST_F(MigDrainOfSeveral, EndsNoProcessUnlessEveryGpuCanBeCleared) {
  const Child job;
  const Child stranger;
  ASSERT_EQ(node_.sim("process attach 0 " + job.pid() + " 10 compute trainer 9 0").code, 0);
  ASSERT_EQ(node_.sim("process add 1 " + stranger.pid() + " 10 compute player 9 0").code, 0);
  const Ran ran = apply("1s");
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, AllOf(HasSubstr("GPU 1 (0000:2a:00.0) is in use"),
                                       HasSubstr("it is not a process that slipway can see")));
  EXPECT_TRUE(job.runs()) << "it would have ended for nothing";
  EXPECT_EQ(node_.instances(0).size(), 7U);
}

TEST_F(MigDrainOfSeveral, ChangesFreeGpusFirstAndSaysWhichWait) {
  Child job;
  ASSERT_EQ(node_.sim("process attach 0 " + job.pid() + " 10 compute trainer 9 0").code, 0);
  const auto section = [&](const std::string& deadline) {
    node_.section("config: all-7g.80gb, drain: {policy: wait, deadline: " + deadline + "}");
  };
  section("24h");
  EXPECT_THAT(node_.slipway({"plan"}).out, HasSubstr("note: GPU 1 changes first, and stays changed"));
  const std::string settled = "GPU 1 has its layout, which cannot be undone";
  const Ran ran = node_.slipway({"apply"});
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("GPU 0 (0000:18:00.0) is in use"), HasSubstr(settled)));
  EXPECT_THAT(node_.host().slipway({"status"}).out, HasSubstr(settled));
  EXPECT_THAT(node_.slipway({"plan"}).out, HasSubstr("; its change waits since "));
  EXPECT_THAT(
      node_.slipway({"doctor", "-f", node_.host().folder().at("host.yaml").string()}).out,
      AllOf(HasSubstr("its change waits since "), HasSubstr("GPU 1 has its layout"), Not(HasSubstr("mig.owned: not"))));
  EXPECT_EQ(node_.instances(0).size(), 7U);
  EXPECT_THAT(node_.instances(1), ElementsAre("7g.80gb at 0:8"));
  for (const auto& file : std::filesystem::directory_iterator(node_.host().path("run/slipway/drain"))) {
    std::ifstream in(file.path());
    Json record = Json::parse(in);
    record["boottime"] = 0;
    std::ofstream(file.path()) << record.dump();
  }
  section("1s");
  const Ran late = node_.slipway({"apply"});
  EXPECT_EQ(late.code, 1) << late.out;
  EXPECT_THAT(late.out + late.err, AllOf(HasSubstr("longer than the deadline of 1s"), HasSubstr(settled)));
  EXPECT_THAT(node_.instances(1), ElementsAre("7g.80gb at 0:8"));
}

// The first job ends only after the second one: handling one GPU after the other would wait for the whole grace period.
TEST_F(MigDrainOfSeveral, EndsTheJobsOfAllGpusAtOnce) {
  std::array<int, 2> line{};
  ASSERT_EQ(::pipe(line.data()), 0);
  const pid_t follower = ::fork();
  if (follower == 0) {
    ::signal(SIGTERM, SIG_IGN);
    ::close(line[1]);
    char letter = 0;
    ::_exit(::read(line[0], &letter, 1) == 0 ? 0 : 1);
  }
  const Child leader;  // holds the other end until it is ended
  ::close(line[0]);
  ::close(line[1]);
  ASSERT_EQ(node_.sim("process attach 0 " + std::to_string(follower) + " 10 compute follower 9 0").code, 0);
  ASSERT_EQ(node_.sim("process attach 1 " + leader.pid() + " 10 compute leader 9 0").code, 0);
  const Ran ran = apply("10m");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  int status = 0;
  ASSERT_EQ(::waitpid(follower, &status, 0), follower);
  EXPECT_TRUE(WIFEXITED(status)) << "it was not killed";
  for (const unsigned gpu : {0U, 1U}) EXPECT_THAT(node_.instances(gpu), ElementsAre("7g.80gb at 0:8"));
}

// The device plugin and the labels read MIG devices again after a change; they are not restarted.
TEST(MigServices, SeeTheNewLayoutAndAreNotRestarted) {
  const std::string profile = "h100x1,mig=1g.10gb";
  const MigNode node(profile);
  const auto& host = node.host();
  const auto spec = [&](const std::string& config) {
    host.spec("    mig: {config: " + config +
              "}\n    gfd: {interval: infinite, mig_strategy: single}\n    deviceplugin: {}\n");
  };
  spec("all-1g.10gb");
  std::filesystem::create_directories(host.path("var/lib/kubelet/device-plugins"));
  const std::string file = host.folder().at("host.yaml").string();
  const Beside plugin(host, "deviceplugin", {"service", "deviceplugin", "-f", file, "--sim", profile});
  const Beside labels(host, "gfd", {"service", "gfd", "-f", file, "--sim", profile});
  const auto devices = [&] {
    const Json status = Json::parse(host.text("run/slipway/deviceplugin/status.json"), nullptr, false);
    if (!status.is_object() || status.value("gpus", Json()).empty()) return std::size_t{0};
    return status["gpus"][0].value("migDevices", Json()).size();
  };
  const auto has_label = [&](const std::string& label) {
    return host.text("etc/kubernetes/node-feature-discovery/features.d/gfd").find(label) != std::string::npos;
  };
  ASSERT_TRUE(becomes_true([&] { return devices() == 7; })) << plugin.errors();
  ASSERT_TRUE(becomes_true([&] { return has_label("MIG-1g.10gb"); })) << labels.errors();
  spec("all-3g.40gb");
  EXPECT_THAT(node.slipway({"plan"}).out, HasSubstr("gfd: 4 changes, planned again once mig has changed the devices"));
  const Ran ran = node.slipway({"apply", "--only", "mig"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(becomes_true([&] { return devices() == 2; })) << plugin.errors();
  EXPECT_TRUE(becomes_true([&] { return has_label("MIG-3g.40gb"); })) << labels.errors();
  EXPECT_TRUE(plugin.runs());
  EXPECT_TRUE(labels.runs());
}

}  // namespace
}  // namespace slipway
