// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/daemon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/service/unit_state.hpp>

#include "engine_socket.hpp"
#include "runtime_fixture.hpp"
#include "toolkit/runtime/engine_checks.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::summary;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSocket = "/run/containerd/containerd.sock";

TEST(RuntimeDaemon, IsTheProcessBehindTheSocket) {
  FakeHost host;
  be_node(host).directory("/run/containerd");
  be_daemon(host, "/opt/cri/containerd (deleted)", "containerd --log-level info --config /opt/cri/c.toml",
            "cri.service");
  EXPECT_FALSE(find_peer(host, kSocket, "containerd"));
  const Fd listening = listen_at(host, kSocket);
  const auto daemon = find_peer(host, kSocket, "containerd");
  ASSERT_TRUE(daemon);
  EXPECT_EQ(daemon->program, "/opt/cri/containerd");
  EXPECT_EQ(daemon->option({"--config", "-c"}), "/opt/cri/c.toml");
  EXPECT_EQ(daemon->unit, "cri.service");
  EXPECT_TRUE(socket_answers(host, kSocket));
  EXPECT_FALSE(find_peer(host, kSocket, "dockerd")) << "somebody else's process, such as systemd's";
}

TEST(RuntimeDaemon, SaysWhichConfigurationIsChanged) {
  FakeHost host;
  be_node(host).directory("/run/containerd");
  be_daemon(host, "/usr/bin/containerd", "/usr/bin/containerd -c /srv/c.toml", "my-containerd.service");
  const Fd listening = listen_at(host, kSocket);
  install(host, "containerd", "containerd", "1.7.24");
  host.answers({"/usr/bin/containerd", "--version"}, {0, "containerd x v1.7.24\n", "", false});
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan),
            "custom containerd takes its configuration\nmerge /srv/c.toml\ncustom containerd answers\n");
  EXPECT_EQ(plan->actions()[1].value("triggers"), Json({"restart:my-containerd.service"}));
}

TEST(RuntimeDaemon, IsReadFromItsUnitWhereNoneRuns) {
  FakeHost host;
  host.file("/usr/lib/systemd/system/containerd.service", "[Service]\nExecStart=/usr/bin/containerd\n");
  host.file("/etc/systemd/system/containerd.service.d/50.conf",
            "[Service]\nExecStart=\nExecStart=-/usr/local/bin/containerd \\\n  --config=/etc/c/other.toml\n");
  const auto daemon = read_unit(host, "containerd.service");
  ASSERT_TRUE(daemon);
  EXPECT_EQ(daemon->program, "/usr/local/bin/containerd");
  EXPECT_EQ(daemon->option({"--config"}), "/etc/c/other.toml");
  EXPECT_FALSE(read_unit(host, "other.service"));
}

/// The check of containerd's configuration in the plan.
Action config_check(FakeHost& host) {
  be_node(host);
  install(host, "containerd", "containerd", "1.7.24");
  host.answers({"/usr/bin/containerd", "--version"}, {0, "containerd x v1.7.24\n", "", false});
  host.file(kConfig, "version = 2\n");
  return plan_of(host, runtime_spec())->actions()[0];
}

TEST(RuntimeChecks, NameTheEnginesErrorsAboutItsConfiguration) {
  FakeHost host;
  const Action check = config_check(host);
  const std::vector<std::string> dump{"/usr/bin/containerd", "--config", kConfig, "config", "dump"};
  host.answers(dump, {1, "", "containerd: toml: oom_score is not an integer\n", false});
  EXPECT_EQ(check_engine(check, host).value(), false);
  EXPECT_THAT(to_text(expect_engine(check, host).error()), HasSubstr("oom_score is not an integer"));
}

TEST(RuntimeChecks, DetectAMissingCriPlugin) {
  FakeHost host;
  const Action check = config_check(host);
  const std::vector<std::string> dump{"/usr/bin/containerd", "--config", kConfig, "config", "dump"};
  const std::string head = "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\ndefault_runtime_name = \"runc\"\n";
  const std::string runc = "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = \"a\"\n";
  const std::string ours = "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\nruntime_type = \"a\"\n";
  host.answers(dump, {0, head + ours, "", false});
  EXPECT_THAT(to_text(expect_engine(check, host).error()),
              HasSubstr("default handler runc is not one of its handlers"));
  host.answers(dump, {0, head + runc, "", false});
  EXPECT_TRUE(check_engine(check, host).value()) << "no file of ours names a handler yet";
  host.file(kConfig, "version = 2\n" + ours);
  EXPECT_THAT(to_text(expect_engine(check, host).error()),
              HasSubstr("does not read the file that the handlers are in"));
  host.answers(dump, {0, head + runc + ours, "", false});
  EXPECT_TRUE(check_engine(check, host).value());
}

TEST(RuntimeChecks, LeaveAnEngineAloneThatDoesNotRun) {
  FakeHost host;
  config_check(host);
  const Action answers = plan_of(host, runtime_spec())->actions()[2];
  EXPECT_TRUE(check_engine(answers, host).value());
  host.directory("/run/containerd");
  { const Fd listening = listen_at(host, kSocket); }  // its end leaves the socket behind
  const std::vector<std::string> state = unit_state_command("containerd.service");
  host.answers(state, {0, "ActiveState=inactive\n", "", false});
  EXPECT_TRUE(check_engine(answers, host).value());
  host.answers(state, {0, "ActiveState=failed\n", "", false});
  EXPECT_FALSE(check_engine(answers, host).value());
}

/// Returns the text of verify() for a containerd that has the runtime class and does not answer.
std::string verified(FakeHost& host, const std::string& state) {
  config_check(host);
  const std::string dump = "[plugins.x.containerd.runtimes.nvidia]\nruntime_type = \"x\"\n";
  host.answers({"/usr/bin/containerd", "--config", kConfig, "config", "dump"}, {0, dump, "", false});
  host.answers(unit_state_command("containerd.service"), {0, state, "", false});
  const auto findings = Runtime().verify(runtime_spec(), host);
  return findings ? canonical(to_json(*findings)) : to_text(findings.error());
}

// At a boot slipway-boot.service runs before the engines. Before the fix, that service failed whenever it had changed
// containerd's configuration.
TEST(RuntimeVerify, AsksNothingOfAnEngineThatSystemdIsAboutToStart) {
  FakeHost host;
  EXPECT_THAT(verified(host, "ActiveState=inactive\nJob=71\n"), HasSubstr("systemd starts it later in this boot"));
  for (const char* state : {"ActiveState=inactive\nJob=0\n", "ActiveState=inactive\nJob=\n", "ActiveState=inactive\n",
                            "ActiveState=active\nJob=71\n", "ActiveState=failed\nJob=71\n"})
    EXPECT_THAT(verified(host, state), HasSubstr("does not answer")) << state;
}

TEST(RuntimeVerify, AsksNothingOfAnEngineWhereABootIsVerified) {
  FakeHost host;
  host.at_boot();
  EXPECT_THAT(verified(host, "ActiveState=activating\nJob=71\n"), Not(HasSubstr("does not answer")));
}

/// Returns the text of a plan and the actions that its change triggers.
std::string planned(const FakeHost& host) {
  const auto plan = plan_of(host, runtime_spec());
  if (!plan) return to_text(plan.error());
  std::string text = summary(*plan);
  for (const Action& action : plan->actions()) text += action.value("triggers").is_null() ? "" : "restarts\n";
  return text;
}

// Before the fix, the configuration was changed, and a minute later the apply failed, because the engine had not been
// restarted.
TEST(RuntimeRestart, IsLeftToTheUserWhereThereIsNoSystemdAndThePlanSaysSo) {
  FakeHost host;
  config_check(host);
  EXPECT_THAT(planned(host), HasSubstr("custom containerd answers\nrestarts\n"));
  host.without("/run/systemd");
  EXPECT_EQ(planned(host), "custom containerd takes its configuration\nmerge " + kConfig +
                               "\nnote: containerd is not restarted (this machine does not run systemd): the change "
                               "takes effect at its next start, which is left to you\n");
}

// Before the fix, the distribution's unit was restarted instead, or no unit.
TEST(RuntimeRestart, IsLeftToTheUserWhoStartedTheEngineByHand) {
  FakeHost host;
  config_check(host);
  host.directory("/run/containerd");
  be_daemon(host, "/usr/bin/containerd", "/usr/bin/containerd", "session-3.scope");
  const Fd listening = listen_at(host, kSocket);
  EXPECT_THAT(planned(host), HasSubstr("note: containerd is not restarted (it runs outside of any unit of systemd)"));
  EXPECT_THAT(planned(host), Not(HasSubstr("restarts")));
}

// Before the fix, engines were reconfigured and restarted on machines where all other components had nothing to do.
TEST(RuntimeGpus, AreRequiredForAnyChange) {
  FakeHost host;
  config_check(host);
  host.without("/sys/bus/pci");
  const auto detect = [&] { return Runtime().detect(runtime_spec(), host).value(); };
  EXPECT_EQ(detect().why_not(), "no NVIDIA GPU on the PCI bus");
  EXPECT_FALSE(Runtime().detect(runtime_spec({{"mode", "nri"}}), host)->applicable());
  host.hardware("assume");
  EXPECT_TRUE(detect().applicable());
  EXPECT_THAT(planned(host), HasSubstr("merge " + kConfig));
  host.hardware("require");
  EXPECT_THAT(planned(host), HasSubstr("there is no NVIDIA GPU on the PCI bus"));
}

/// The unit that snapd writes for the snap's daemon.
constexpr const char* kUnitOfSnap = "/etc/systemd/system/snap.docker.dockerd.service";
constexpr const char* kRunsSnap = "[Service]\nExecStart=/usr/bin/snap run docker.dockerd\n";

// Before the fix, in an image, there was no message about it. On a running machine the configuration got a runtime that
// the confined snap cannot start.
TEST(RuntimeDocker, OfASnapIsNamedAndLeftAsItIs) {
  const auto note =
      ::testing::AllOf(HasSubstr("Docker is installed as a snap"), HasSubstr("docker run --runtime nvidia"),
                       HasSubstr("/var/snap/docker/current/config/daemon.json"));
  FakeHost image;
  image.file(kUnitOfSnap, kRunsSnap).file("/usr/bin/slipway-runtime", "x", 0755);
  FakeHost node;
  be_node(node).file(kUnitOfSnap, kRunsSnap).file("/usr/bin/slipway-runtime", "x", 0755);
  node.file("/snap/docker/2932/bin/dockerd", "x", 0755).directory("/run");
  node.answers({"/snap/docker/2932/bin/dockerd", "--version"}, {0, "Docker version 28.4.0, build x\n", "", false});
  be_daemon(node, "/snap/docker/2932/bin/dockerd",
            "dockerd --group docker --config-file=/var/snap/docker/2932/config/daemon.json",
            "snap.docker.dockerd.service");
  const Fd listening = listen_at(node, "/run/docker.sock");
  for (const FakeHost* host : {&image, &node}) {
    const auto plan = plan_of(*host, runtime_spec({{"set_as_default", true}}));
    ASSERT_TRUE(plan.ok()) << to_text(plan.error());
    EXPECT_TRUE(plan->actions().empty()) << summary(*plan);
    EXPECT_THAT(plan->notes(), ::testing::ElementsAre(note));
    const auto named = plan_of(*host, runtime_spec({{"engines", {"docker"}}}));
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code, ErrorCode::unsupported);
    EXPECT_EQ(named.error().where, "spec.components.runtime.engines");
    EXPECT_THAT(to_text(named.error()), HasSubstr("docker.io"));
    const auto configured = plan_of(*host, runtime_spec({{"docker_config", "/etc/docker/of-mine.json"}}));
    ASSERT_FALSE(configured);
    EXPECT_EQ(configured.error().where, "spec.components.runtime.docker_config");
  }
}

// Before the fix, a stopped snap made the component fail, although slipway does not manage it.
TEST(RuntimeDocker, OfASnapThatDoesNotRunFailsNothing) {
  FakeHost host;
  be_node(host).file(kUnitOfSnap, kRunsSnap).directory("/run");
  const auto findings = Runtime().verify(runtime_spec(), host);
  ASSERT_TRUE(findings.ok()) << to_text(findings.error());
  ASSERT_EQ(findings->list().size(), 1U);
  EXPECT_EQ(findings->list()[0].name, "runtime.docker");
  EXPECT_EQ(findings->list()[0].status, Finding::Status::not_exercised) << findings->list()[0].text;
}

TEST(RuntimeDocker, OfAPackageIsConfiguredBesideASnap) {
  FakeHost host;
  install(host, "dockerd", "docker.io", "26.1.5");
  host.file(kUnitOfSnap, kRunsSnap);
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "merge /etc/docker/daemon.json\n");
}

TEST(RuntimeDocker, IsAskedWithTheArgumentsThatItRunsWith) {
  FakeHost host;
  be_node(host);
  install(host, "dockerd", "docker.io", "26.1.5");
  host.file("/usr/lib/systemd/system/docker.service",
            "[Service]\nExecStart=/usr/bin/dockerd -H fd:// --config-file /srv/d.json $DOCKER_OPTS\n");
  host.file("/srv/d.json", "{}");
  host.answers({"/usr/bin/dockerd", "--version"}, {0, "Docker version 26.1.5, build x\n", "", false});
  const auto plan = plan_of(host, runtime_spec());
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  EXPECT_EQ(summary(*plan), "custom Docker takes its configuration\nmerge /srv/d.json\ncustom Docker answers\n");
  host.answers({"/usr/bin/dockerd", "--validate", "--config-file", "/srv/d.json", "-H", "fd://"},
               {1, "", "unable to configure the Docker daemon\n", false});
  EXPECT_THAT(to_text(expect_engine(plan->actions()[0], host).error()),
              HasSubstr("unable to configure the Docker daemon"));
}

}  // namespace
}  // namespace slipway::toolkit
