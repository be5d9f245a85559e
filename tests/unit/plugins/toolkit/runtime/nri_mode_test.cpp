// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/findings.hpp>
#include <slipway/service/unit_state.hpp>

#include "engine_socket.hpp"
#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using slipway::testing::summary;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kEngineSocket = "/run/containerd/containerd.sock";
const std::string kNri = "/var/run/nri/nri.sock";
const std::string kHead = "Num       RefCount Protocol Flags    Type St Inode Path\n";

Spec nri_spec(const Json& more = Json::object()) {
  Json section{{"mode", "nri"}, {"nri_socket", kNri}, {"kubelet_root", "/var/lib/kubelet"}};
  section.update(more);
  return runtime_spec(section);
}

/// A machine with a containerd of that version; `listens`: its NRI is on.
FakeHost machine(const std::string& version, bool listens = false) {
  FakeHost host;
  be_node(host).directory("/run/containerd");
  install(host, "containerd", "containerd", version);
  host.answers({"/usr/bin/containerd", "--version"}, {0, "containerd x v" + version + "\n", "", false});
  host.file(kNri, "");
  const std::string flags = listens ? "00010000" : "00000000";
  host.file("/proc/1/net/unix", kHead + "0000000000000000: 00000002 00000000 " + flags + " 0001 01 17 " + kNri + "\n");
  return host;
}

std::string told(const FakeHost& host, const Spec& spec) {
  const auto plan = plan_of(host, spec);
  if (!plan) return to_text(plan.error());
  std::string text = summary(*plan);
  for (const std::string& note : plan->notes()) text += note + "\n";
  return text;
}

TEST(RuntimeNri, ChangesNothingOfAnEngineThatListens) {
  const FakeHost host = machine("2.1.4", true);
  const Fd listening = listen_at(host, kEngineSocket);
  EXPECT_EQ(told(host, nri_spec()), "");
}

TEST(RuntimeNri, IsRefusedWhereTheEngineHasItDisabled) {
  const FakeHost host = machine("2.1.4");
  const Fd listening = listen_at(host, kEngineSocket);
  const std::string text = told(host, nri_spec());
  EXPECT_THAT(text, HasSubstr("containerd v2.1.4 runs and does not listen at /var/run/nri/nri.sock"));
  EXPECT_THAT(text,
              HasSubstr("disable = false in [plugins.\"io.containerd.nri.v1.nri\"] of /etc/containerd/config.toml"));
  EXPECT_THAT(text, HasSubstr("mode: config"));
  EXPECT_THAT(text, Not(HasSubstr("by default")));
}

TEST(RuntimeNri, IsOffByDefaultBefore2AndUnknownBefore17) {
  const FakeHost seventeen = machine("1.7.24");
  const Fd listening = listen_at(seventeen, kEngineSocket);
  EXPECT_THAT(told(seventeen, nri_spec()), HasSubstr("as it is by default before 2.0"));
  const FakeHost sixteen = machine("1.6.20");
  EXPECT_THAT(told(sixteen, nri_spec()), HasSubstr("containerd v1.6.20 has no NRI"));
}

// A socket that a killed engine left behind is treated like any other file.
TEST(RuntimeNri, TakesASocketForNriOnlyWhereAProcessListens) {
  FakeHost host = machine("2.1.4", true);
  const Fd listening = listen_at(host, kEngineSocket);
  host.file("/proc/1/net/unix",
            kHead + "0000000000000000: 00000002 00000000 00010000 0001 01 17 /elsewhere/nri.sock\n");
  EXPECT_THAT(told(host, nri_spec()), HasSubstr("does not listen"));
}

TEST(RuntimeNri, IsNotedForAnEngineThatDoesNotRun) {
  FakeHost image;
  install(image, "containerd", "containerd", "2.1.4-1");
  EXPECT_THAT(told(image, nri_spec()), HasSubstr("containerd is not asked in an image"));
  install(image, "containerd", "containerd", "1.7.24~ds1-6");
  EXPECT_THAT(told(image, nri_spec()), HasSubstr("off by default: set disable = false"));
  EXPECT_THAT(told(machine("2.1.4"), nri_spec()), HasSubstr("containerd does not run"));
}

// The service ignores the settings of the other mode. Before the fix, no message said so.
TEST(RuntimeNri, RefusesAndNamesTheSettingsOfTheOtherMode) {
  FakeHost host = machine("2.1.4", true);
  const Fd listening = listen_at(host, kEngineSocket);
  EXPECT_THAT(told(host, nri_spec({{"debug", "/var/log/x"}})),
              HasSubstr("debug has no effect with `mode: nri`: the service writes to its journal"));
  EXPECT_THAT(told(host, nri_spec({{"no_cgroups", true}})), HasSubstr("no_cgroups has no effect"));
  EXPECT_THAT(told(host, nri_spec({{"env", {{"NVIDIA_CONTAINER_RUNTIME_MODE", "jit-cdi"}}}})),
              HasSubstr("NVIDIA_CONTAINER_RUNTIME_MODE=jit-cdi has no effect with `mode: nri`"));
  EXPECT_THAT(told(host, nri_spec({{"env", {{"NVIDIA_CONTAINER_RUNTIME_RUNTIMES", "crun"}}}})),
              HasSubstr("the engine starts its own runtime"));
  EXPECT_THAT(told(host, nri_spec({{"env", {{"NVIDIA_CONTAINER_RUNTIME_MODE", "cdi"}}}})), Not(HasSubstr("no effect")));
  host.file("/etc/nvidia-container-runtime/config.toml",
            "[nvidia-container-runtime]\ndebug = \"/var/log/x\"\nruntimes = [\"docker-runc\", \"runc\", \"crun\"]\n");
  const std::string text = told(host, nri_spec());
  EXPECT_THAT(text, HasSubstr("nvidia-container-runtime.debug in /etc/nvidia-container-runtime/config.toml has no "
                              "effect with `mode: nri`: the service writes to its journal"));
  EXPECT_THAT(text, Not(HasSubstr("runtimes"))) << "the default of NVIDIA's package";
}

// K3s' own template and a broken configuration do not matter in this mode.
TEST(RuntimeNri, NeedsNoConfigurationFile) {
  FakeHost host = machine("2.1.4", true);
  host.file(kConfig, "this is not TOML");
  const Fd listening = listen_at(host, kEngineSocket);
  EXPECT_EQ(told(host, nri_spec()), "");
  EXPECT_THAT(told(host, runtime_spec()), HasSubstr(kConfig));
}

TEST(RuntimeNri, IsOnlyForEnginesThatSupportIt) {
  FakeHost host;
  host.file("/usr/bin/dockerd", "x", 0755).file("/usr/bin/podman", "x", 0755);
  EXPECT_THAT(told(host, nri_spec({{"engines", {"docker"}}})), HasSubstr("docker has no NRI"));
  EXPECT_THAT(told(host, nri_spec({{"engines", {"containerd"}}})), HasSubstr("containerd is not installed"));
  const auto facts = Runtime().detect(nri_spec(), host);
  ASSERT_TRUE(facts.ok());
  EXPECT_FALSE(facts->applicable());
  host.file("/usr/bin/crio", "x", 0755);
  EXPECT_THAT(told(host, nri_spec()), HasSubstr("CRI-O is not asked in an image"));
}

/// Plays the running service: answers one question with that status.
std::jthread service_says(const FakeHost& host, const std::string& status, Fd& listening) {
  std::filesystem::create_directories(host.root().at("run/slipway/service"));
  listening = listen_at(host, "/run/slipway/service/runtime.sock");
  return std::jthread([fd = listening.get(), status](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Fd client(::accept(fd, nullptr, nullptr));
      if (!client) return;
      char asked[100];
      if (::recv(client.get(), asked, sizeof asked, 0) <= 0) continue;
      const std::string answer = canonical(Json{{"ok", true}, {"ready", true}, {"status", status}}) + "\n";
      (void)!::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  });
}

std::string verified(const FakeHost& host) {
  const auto findings = Runtime().verify(nri_spec(), host);
  return findings ? canonical(to_json(*findings)) : to_text(findings.error());
}

TEST(RuntimeNri, IsVerifiedByTheRunningService) {
  const FakeHost host = machine("2.1.4", true);
  const Fd engine = listen_at(host, kEngineSocket);
  EXPECT_THAT(verified(host), HasSubstr("does not run"));
  for (const auto& [status, expected] :
       std::map<std::string, std::string>{{"registered with containerd v2.1.4 at /s", "the plugin is registered with"},
                                          {"not registered at /s: no", "containers get no devices: not registered"}}) {
    Fd listening;
    auto service = service_says(host, status, listening);
    EXPECT_THAT(verified(host), HasSubstr(expected));
    service.request_stop();
    ::shutdown(listening.get(), SHUT_RDWR);
    service.join();
    std::filesystem::remove(host.root().at("run/slipway/service/runtime.sock"));
  }
  FakeHost image;
  install(image, "containerd", "containerd", "2.1.4-1");
  EXPECT_THAT(verified(image), Not(HasSubstr("fail")));
}

TEST(RuntimeNri, IsNotYetVerifiedWhereSystemdIsAboutToStartEngineAndService) {
  FakeHost host = machine("2.1.4", true);
  for (const char* unit : {"containerd.service", "slipway-runtime.service"})
    host.answers(unit_state_command(unit), {0, "ActiveState=inactive\nJob=7\n", "", false});
  EXPECT_THAT(verified(host), Not(HasSubstr("\"fail\"")));
  EXPECT_THAT(verified(host), HasSubstr("systemd starts the service later"));
}

/// Plays a server: sends this text to the first client, after the client has sent something.
std::jthread says(int listening, const std::string& words) {
  return std::jthread([listening, words] {
    const Fd client(::accept(listening, nullptr, nullptr));
    char heard[100];
    if (!client || ::recv(client.get(), heard, sizeof heard, 0) <= 0) return;
    (void)!::send(client.get(), words.data(), words.size(), MSG_NOSIGNAL);
    while (::recv(client.get(), heard, sizeof heard, 0) > 0) {
    }
  });
}

std::string kubelet_of(const FakeHost& host) {
  const auto findings = Runtime().verify(nri_spec(), host);
  if (!findings) return to_text(findings.error());
  for (const Finding& one : findings->list())
    if (one.name == "runtime.kubelet") return std::string(to_string(one.status)) + ": " + one.text + " " + one.remedy;
  return "not looked at";
}

// Before the fix, a wrong kubelet_root was noticed only by pods that started without their GPUs.
TEST(RuntimeNri, IsVerifiedByKubeletsSocket) {
  const std::string socket = "/pod-resources/kubelet.sock";
  FakeHost host = machine("2.1.4", true);
  EXPECT_THAT(kubelet_of(host), HasSubstr("not-exercised: no kubelet runs"));
  host.file("/proc/1/net/unix", kHead + "0: 00000002 00000000 00010000 0001 01 17 /data/kubelet" + socket + "\n");
  EXPECT_THAT(kubelet_of(host), HasSubstr("not-exercised: no kubelet runs")) << "a name that anybody may listen under";
  host.directory("/data/kubelet/pod-resources");
  const Fd elsewhere = listen_at(host, "/data/kubelet" + socket);
  EXPECT_THAT(kubelet_of(host), HasSubstr("fail: kubelet is in /data/kubelet"));
  EXPECT_THAT(kubelet_of(host), HasSubstr("write kubelet_root: /data/kubelet"));
  host.directory("/var/lib/kubelet/pod-resources");
  const Fd listening = listen_at(host, "/var/lib/kubelet" + socket);
  {
    const std::jthread kubelet = says(listening.get(), std::string("\0\0\0\4\0\0\0\0\0", 9));
    EXPECT_THAT(kubelet_of(host), HasSubstr("pass: kubelet says at /var/lib/kubelet" + socket));
  }
  const std::jthread other = says(listening.get(), "HTTP/1.1 400 Bad Request\r\n");
  EXPECT_THAT(kubelet_of(host), HasSubstr("fail: what listens at /var/lib/kubelet" + socket + " does not answer"));
  FakeHost image;
  install(image, "containerd", "containerd", "2.1.4-1");
  EXPECT_THAT(kubelet_of(image), HasSubstr("not-exercised"));
}

}  // namespace
}  // namespace slipway::toolkit
