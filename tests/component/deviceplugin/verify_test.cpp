// SPDX-License-Identifier: Apache-2.0
// The findings of `slipway verify` and doctor about the service, its kubelet and the clients of its GPUs.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <slipway/fd.hpp>

#include "tests/component/deviceplugin/node.hpp"
#include "tests/component/engine/spawn.hpp"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool is_lockable(const std::string& folder) {
  const Fd open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return ::flock(open.get(), LOCK_EX | LOCK_NB) == 0;
}

TEST(DevicePluginVerify, ReportsKubeletsOwnState) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 0})");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  const auto pod = kubelet.allocate(kGpu, 2);
  ASSERT_TRUE(eventually([&] { return node.status()["holders"].size() == 1; })) << service.log();
  EXPECT_EQ(node.status()["holders"][0]["pod"], "default/pod");
  EXPECT_EQ(node.status()["holders"][0]["ids"].size(), 2U);
  ASSERT_TRUE(eventually([&] { return node.status()["resources"][0].value("allocatableAtKubelet", 0) == 8; }));
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_THAT(verify.out, HasSubstr("pass  deviceplugin.registered: kubelet has 8 allocatable nvidia.com/gpu"))
      << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("pass  deviceplugin.health: 8 GPUs are healthy"));
}

// Before the fix, verify failed right after an apply had changed MIG layouts: the service asked kubelet before it had
// read the new list, and again only five seconds later.
TEST(DevicePluginVerify, WaitsForKubeletToAcceptAnUpdate) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins());
  kubelet.set_late_answers(5);
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {}}, "Checksum": 0})");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return node.status().contains("resources"); })) << service.log();
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_THAT(verify.out, HasSubstr("pass  deviceplugin.registered: kubelet has 8 allocatable nvidia.com/gpu"))
      << verify.err << service.log();
  EXPECT_TRUE(eventually([&] { return !node.status().contains("settling"); })) << node.status();
}

Json findings_of(const Node& node, const std::string& name) {
  Json found = Json::array();
  const auto ran = node.host().slipway([&] {
    auto words = node.words("verify");
    words.insert(words.end(), {"-o", "json"});
    return words;
  }());
  const Json result = Json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(result.is_object()) << ran.out << ran.err;
  for (const Json& finding : result["components"]["deviceplugin"])
    if (finding["name"] == name) found.push_back(finding);
  return found;
}

// Before the fix, an XID 79, a lost GPU and an XID 48 were one finding, with the remedy of the last of them.
TEST(DevicePluginVerify, GivesEachUnhealthyGpuItsOwnRemedy) {
  const Node node("h100x8");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const auto health = [&](std::size_t gpu) { return node.status()["gpus"][gpu]["health"]; };
  const auto turns_bad = [&](std::size_t gpu) {
    return eventually([&] { return !health(gpu).value("healthy", true); });
  };
  node.sim("gpu 1 xid 79");
  ASSERT_TRUE(turns_bad(1)) << service.log();
  node.sim("gpu 5 xid 48");
  ASSERT_TRUE(turns_bad(5)) << service.log();
  node.sim("gpu 3 lost");
  ASSERT_TRUE(turns_bad(3)) << service.log();
  const Json findings = findings_of(node, "deviceplugin.health");
  ASSERT_EQ(findings.size(), 3U) << findings;
  EXPECT_EQ(findings[0]["cause"], "gpu/0000:2a:00.0");
  EXPECT_EQ(findings[1]["cause"], "gpu/0000:5d:00.0");
  EXPECT_EQ(findings[2]["cause"], "gpu/0000:ab:00.0");
  // The service prints commands for its own machine; findings name the requested root and machine.
  const auto as_of_findings = [&](std::string remedy) {
    const std::string pause = "`slipway pause ";
    const std::string machine = "--root " + node.host().path("").parent_path().string() + " --sim h100x8";
    if (remedy.find(pause) == std::string::npos) return remedy;
    for (std::size_t at = remedy.find(pause); at != std::string::npos; at = remedy.find(pause, at + 1))
      remedy.insert(at + pause.size(), machine + " ");
    return "on the simulated machine (" + machine + "), not on this one: " + remedy;
  };
  EXPECT_EQ(findings[0]["remedy"], as_of_findings(health(1)["remedy"]));
  EXPECT_EQ(findings[1]["remedy"], as_of_findings(health(3)["remedy"]));
  EXPECT_EQ(findings[2]["remedy"], as_of_findings(health(5)["remedy"]));
  EXPECT_NE(findings[0]["remedy"], findings[2]["remedy"]);
  const auto doctor = node.host().slipway(node.words("doctor"));
  EXPECT_THAT(doctor.out, HasSubstr("4 things are wrong"))
      << "one for each GPU, and that deviceplugin is not provisioned";
  EXPECT_THAT(doctor.out, HasSubstr("leads to deviceplugin.service: "));
  EXPECT_THAT(doctor.out, Not(HasSubstr("slipway status")));
}

// Before the fix, doctor found no problem, and status did not list it.
TEST(DevicePluginVerify, SaysThatTheKubeletWhichHadTheGpusWentAway) {
  const Node node("h100x2");
  auto kubelet = std::make_unique<Kubelet>(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet->healthy(kGpu) == 2; })) << service.log();
  ASSERT_TRUE(eventually([&] {
    const Json resource = node.status()["resources"][0];  // null before the service has written it
    return resource.is_object() && resource.value("registered", false);
  }));
  kubelet.reset();
  ASSERT_TRUE(eventually([&] { return node.status()["resources"][0].contains("waitsFor"); })) << service.log();
  const Json findings = findings_of(node, "deviceplugin.registered");
  ASSERT_EQ(findings.size(), 1U) << findings;
  EXPECT_EQ(findings[0]["status"], "fail");
  EXPECT_THAT(findings[0]["text"].get<std::string>(),
              HasSubstr("nvidia.com/gpu was registered with kubelet, but is no longer: kubelet does not run"));
  const auto status = node.host().slipway({"status", "--sim", "h100x2"});
  EXPECT_THAT(status.out, HasSubstr("nvidia.com/gpu was registered, but is no longer"));
  EXPECT_THAT(status.out, HasSubstr("the service of deviceplugin reports"));
}

// Before the fix, "0 GPUs are healthy" passed while the driver was not loaded.
TEST(DevicePluginVerify, DoesNotPassWhileTheServiceSeesNoneOfTheGpusOnTheBus) {
  const Node node("h100x8");
  std::filesystem::create_directories(node.host().path("run/slipway"));
  node.sim("make h100x8");
  node.sim("driver unloaded");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return node.status().is_object() && !node.status().value("problem", "").empty(); }))
      << service.log();
  const Json findings = findings_of(node, "deviceplugin.health");
  ASSERT_EQ(findings.size(), 1U) << findings;
  EXPECT_EQ(findings[0]["status"], "fail");
  EXPECT_EQ(findings[0]["text"], "8 GPUs are on the PCI bus, but the service sees none of them");
  EXPECT_EQ(findings[0]["cause"], "deviceplugin.offers");
}

// Before the fix, the file of a killed service said that all GPUs are healthy, and verify passed.
TEST(DevicePluginVerify, IgnoresTheFileOfADeadService) {
  const Node node("h100x2");
  {
    RunningService service(node.host(), node.words());
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    ASSERT_TRUE(eventually([&] { return node.status().is_object(); }));
    EXPECT_THAT(node.host().slipway(node.words("verify")).out, HasSubstr("pass  deviceplugin.health"));
    service.signal(SIGKILL);
    EXPECT_EQ(service.exit_code(), 128 + SIGKILL);
  }
  ASSERT_TRUE(node.status().is_object());
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_EQ(verify.code, 1) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("fail  deviceplugin.service: the service does not run"));
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  deviceplugin.health: the service does not run"));
  const auto table =
      node.host().bare({"deviceplugin", "status", "--root", node.host().path("").string(), "--sim", "h100x2"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("this is what it knew when it ended"));
}

// Before the fix, only the log said that no GPU was offered.
TEST(DevicePluginVerify, NamesTheProcessThatKeepsTheServiceFromKubelet) {
  const Node node("h100x2");
  const pid_t stranger = spawn({.words = {"/usr/bin/flock", "--no-fork", node.plugins(), "sleep", "1000"}});
  ASSERT_TRUE(eventually([&] { return !is_lockable(node.plugins()); }));
  Kubelet kubelet(node.plugins());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {"nvidia.com/gpu": ["a", "b"]}}})");
  const RunningService service(node.host(), node.words());
  EXPECT_TRUE(eventually([&] { return service.log().find("holds the lock") != std::string::npos; })) << service.log();
  const std::string who = "sleep (pid " + std::to_string(stranger) + ") holds the lock of kubelet's folder";
  ASSERT_TRUE(eventually([&] { return node.status().dump().find(who) != std::string::npos; })) << node.status();
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_EQ(verify.code, 1) << verify.out << verify.err;
  EXPECT_THAT(verify.out,
              HasSubstr("fail  deviceplugin.registered: nvidia.com/gpu is not registered with kubelet: " + who));
  EXPECT_THAT(node.host().slipway({"status"}).out, HasSubstr(who));
  ASSERT_EQ(::kill(stranger, SIGKILL), 0);
  ::waitpid(stranger, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 2; })) << service.log();
  EXPECT_THAT(node.host().slipway(node.words("verify")).out, HasSubstr("pass  deviceplugin.registered"));
}

TEST(DevicePluginVerify, AnOlderKubeletIsReadByItsCheckpoint) {
  const Node node("h100x8");
  Kubelet kubelet(node.plugins(), {.tells_allocatable = false});
  kubelet.serve_pod_resources(node.host().path("var/lib/kubelet/pod-resources/kubelet.sock").string());
  node.host().put("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                  R"({"Data": {"PodDeviceEntries": null, "RegisteredDevices": {"nvidia.com/gpu": ["a", "b"]}}})");
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 8; })) << service.log();
  ASSERT_TRUE(eventually([&] { return node.status().contains("holders"); })) << service.log();
  const auto verify = node.host().slipway(node.words("verify"));
  EXPECT_THAT(verify.out, HasSubstr("8 nvidia.com/gpu are offered and kubelet has 2"));
  EXPECT_EQ(verify.code, 1);
}

TEST(DevicePluginService, NamesTheClientsThatHoldAGpusMemory) {
  const Node node("h100x8", "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 32; })) << service.log();
  node.sim("process add 2 4711 70000 compute trainer");
  node.sim("process add 2 4712 1000 compute notebook");
  ASSERT_TRUE(eventually([&] { return node.status()["gpus"][2].value("clients", Json::array()).size() == 2; }));
  EXPECT_EQ(node.status()["gpus"][2]["clients"][0]["pid"], 4711);
  EXPECT_EQ(node.status()["gpus"][2]["clients"][0]["memoryBytes"], 70000ULL << 20U);
  EXPECT_TRUE(eventually([&] {
    return node.host().text("run/slipway/deviceplugin/metrics.prom").find("client_memory_bytes{uuid=\"") !=
           std::string::npos;
  }));
}

TEST(DevicePluginService, NamesTheProcessThatExhaustedATimeSlicedGpu) {
  const Node node("h100x8", "{config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}");
  Kubelet kubelet(node.plugins());
  RunningService service(node.host(), node.words());
  ASSERT_TRUE(eventually([&] { return kubelet.healthy(kGpu) == 32; })) << service.log();
  const auto doctor = [&] { return node.host().slipway(node.words("doctor")).out; };
  EXPECT_THAT(doctor(), Not(HasSubstr("deviceplugin.memory")));
  node.sim("process add 2 4711 80000 compute trainer");
  ASSERT_TRUE(eventually([&] { return service.log().find("share by time-slicing, has") != std::string::npos; }))
      << service.log();
  EXPECT_THAT(service.log(), HasSubstr("(pid 4711) has 80000 MiB"));
  const std::string found = doctor();
  EXPECT_THAT(found, HasSubstr("fail  deviceplugin.memory: GPU 2 ("));
  EXPECT_THAT(found, HasSubstr("20389 MiB"));
  EXPECT_THAT(node.host().slipway({"status"}).out, HasSubstr("share by time-slicing, has"));
  node.sim("process remove 4711");
  EXPECT_TRUE(eventually([&] { return service.log().find("has enough free memory again") != std::string::npos; }))
      << service.log();
  EXPECT_THAT(doctor(), Not(HasSubstr("deviceplugin.memory")));
}

}  // namespace
}  // namespace slipway::testing
