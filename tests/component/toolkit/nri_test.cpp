// SPDX-License-Identifier: Apache-2.0
// `slipway service runtime`, as systemd runs it, before an engine that this test plays.
#include <filesystem>

#include <gmock/gmock.h>

#include "nri_engine.hpp"
#include "tests/component/gfd/program.hpp"

namespace slipway::nri {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSpec = R"(cdiVersion: "0.5.0"
kind: nvidia.com/gpu
devices:
  - {name: "0", containerEdits: {deviceNodes: [{path: /dev/nvidia0, type: c, major: 195}]}}
)";
// A spec in a folder with higher priority, which has the GPU under another number.
constexpr const char* kNewSpec = R"(cdiVersion: "0.5.0"
kind: nvidia.com/gpu
devices:
  - {name: "0", containerEdits: {deviceNodes: [{path: /dev/nvidia7, type: c, major: 195, minor: 7}]}}
)";

class NriService : public ::testing::Test {
 protected:
  NriService() {
    std::filesystem::create_directories(folder_.at("var/run/nri"));
    folder_.file("etc/cdi/nvidia.yaml", kSpec);
    folder_.file("etc/nvidia-container-runtime/config.toml",
                 "[slipway]\nrequests = [{namespaces = [\"team-a\"], devices = [\"nvidia.com/gpu=*\"]}]\n");
    mode("nri");
  }
  void mode(const std::string& mode) const {
    folder_.file("host.yaml",
                 "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
                 "    runtime: {mode: " +
                     mode + "}\n");
  }
  std::string command() const {
    return SLIPWAY_PROGRAM " service runtime -f " + folder_.at("host.yaml") + " --root " + folder_.path();
  }
  std::string socket() const { return folder_.at("var/run/nri/nri.sock"); }
  std::string log() const { return content(folder_.at("log")); }
  bool logs(const std::string& text) const {
    return eventually([&] { return log().find(text) != std::string::npos; });
  }
  /// Returns the nodes that a container gets, or the error.
  static std::string nodes(PluginEnd& plugin, std::uint32_t stream, const std::vector<std::string>& variables) {
    const auto response = plugin.ask(create(stream, container_with(variables)));
    if (response.status().code() != 0) return response.status().message();
    std::string paths;
    const auto adjustment = adjustment_in(response);
    for (const auto& device : adjustment.on_linux().devices()) paths += device.path() + ";";
    return paths;
  }

  Folder folder_;
};

TEST_F(NriService, RegistersAndGivesDevicesByThePresentSpecs) {
  const NriEngine engine(socket());
  Background service(command(), folder_.at("log"));
  PluginEnd plugin = engine.accept();
  ASSERT_EQ(plugin.take_in(), "10-slipway") << log();
  EXPECT_TRUE(logs("registered with containerd v2.1.4 at /var/run/nri/nri.sock")) << log();
  EXPECT_EQ(nodes(plugin, 5, {"NVIDIA_VISIBLE_DEVICES=0"}), "/dev/nvidia0;");
  EXPECT_EQ(nodes(plugin, 7, {"PATH=/bin"}), "");
  EXPECT_THAT(nodes(plugin, 9, {"NVIDIA_VISIBLE_DEVICES=1"}), HasSubstr("there is no device nvidia.com/gpu=1"));
  folder_.file("var/run/cdi/nvidia.yaml", kNewSpec);
  EXPECT_EQ(nodes(plugin, 11, {"NVIDIA_VISIBLE_DEVICES=0"}), "/dev/nvidia7;");
  EXPECT_TRUE(logs("team-a/train-0/cuda: nvidia.com/gpu=0, asked for by NVIDIA_VISIBLE_DEVICES=0")) << log();
  EXPECT_EQ(service.stop(), 0) << log();
  EXPECT_TRUE(plugin.closed());
}

// gRPC's own server is the stand-in for kubelet.
TEST_F(NriService, GivesOnlyKubeletsDevicesWithoutARule) {
  std::filesystem::remove(folder_.at("etc/nvidia-container-runtime/config.toml"));
  folder_.file("etc/cdi/nvidia.yaml",
               std::string(kSpec) +
                   "  - {name: GPU-0, containerEdits: {deviceNodes: [{path: /dev/nvidia0, type: c, "
                   "major: 195}]}}\n  - {name: \"1\", containerEdits: {deviceNodes: [{path: "
                   "/dev/nvidia1, type: c, major: 195, minor: 1}]}}\n");
  const NriEngine engine(socket());
  Background service(command(), folder_.at("log"));
  PluginEnd plugin = engine.accept();
  ASSERT_EQ(plugin.take_in(), "10-slipway") << log();
  EXPECT_EQ(nodes(plugin, 5, {"NVIDIA_VISIBLE_DEVICES=0"}), "");
  EXPECT_TRUE(logs("NVIDIA_VISIBLE_DEVICES=0 was left out (nvidia.com/gpu=0): kubelet does not answer")) << log();
  std::filesystem::create_directories(folder_.at("var/lib/kubelet/pod-resources"));
  const std::string kubelet = folder_.at("var/lib/kubelet/pod-resources/kubelet.sock");
  // Another plugin's device has the number of a GPU; another container has the other GPU.
  const Background pods(SLIPWAY_KUBELET_PODS " " + kubelet +
                            " team-a/train-0/cuda nvidia.com/gpu GPU-0::3 team-a/train-0/cuda example.com/nic 1 "
                            "team-a/train-0/other nvidia.com/gpu GPU-1",
                        folder_.at("kubelet"));
  ASSERT_TRUE(eventually([&] { return content(folder_.at("kubelet")) == "serving\n"; }));
  EXPECT_EQ(nodes(plugin, 7, {"NVIDIA_VISIBLE_DEVICES=0"}), "/dev/nvidia0;") << log();
  EXPECT_EQ(nodes(plugin, 9, {"NVIDIA_VISIBLE_DEVICES=1"}), "");
  EXPECT_TRUE(logs("(nvidia.com/gpu=1): kubelet has not given it to this container")) << log();
  EXPECT_EQ(nodes(plugin, 11, {"NVIDIA_VISIBLE_DEVICES=all"}), "/dev/nvidia0;") << log();
}

TEST_F(NriService, RefusesAnImageThatRequiresAnotherDriverUntilTheSettingsSayOtherwise) {
  folder_.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n");
  const NriEngine engine(socket());
  Background service(command(), folder_.at("log"));
  PluginEnd plugin = engine.accept();
  ASSERT_EQ(plugin.take_in(), "10-slipway") << log();
  const std::vector<std::string> image{"NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_REQUIRE_CUDA=cuda>=13.1"};
  EXPECT_THAT(nodes(plugin, 5, image), HasSubstr("requires cuda>=13.1 (NVIDIA_REQUIRE_CUDA)"));
  EXPECT_THAT(nodes(plugin, 7, {image[0], "NVIDIA_REQUIRE_X=" + std::string(1 << 16, '=')}),
              HasSubstr("have more than 16384 bytes together"));
  folder_.file("etc/nvidia-container-runtime/config.toml",
               "disable-require = true\n[slipway]\nrequests = [{namespaces = [\"team-a\"], devices = "
               "[\"nvidia.com/gpu=*\"]}]\n");
  EXPECT_EQ(nodes(plugin, 9, image), "/dev/nvidia0;");
}

TEST_F(NriService, DoesNotWaitForAProcessInKubeletsPlace) {
  std::filesystem::remove(folder_.at("etc/nvidia-container-runtime/config.toml"));
  std::filesystem::create_directories(folder_.at("var/lib/kubelet/pod-resources"));
  const NriEngine engine(socket());
  const NriEngine mute(folder_.at("var/lib/kubelet/pod-resources/kubelet.sock"));
  Background service(command(), folder_.at("log"));
  PluginEnd plugin = engine.accept();
  ASSERT_EQ(plugin.take_in(), "10-slipway") << log();
  EXPECT_EQ(nodes(plugin, 5, {"NVIDIA_VISIBLE_DEVICES=0"}), "");
  EXPECT_TRUE(logs("it does not answer in time")) << log();
  PluginEnd first = mute.accept();
  plugin.say(create(7, container_with({"NVIDIA_VISIBLE_DEVICES=0"})));
  PluginEnd second = mute.accept();
  second.say("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_TRUE(plugin.hear());
  EXPECT_TRUE(logs("the other side does not speak gRPC")) << log();
}

TEST_F(NriService, ReconnectsToARestartedEngine) {
  Background service(command(), folder_.at("log"));
  EXPECT_TRUE(logs("not registered at /var/run/nri/nri.sock")) << log();
  EXPECT_TRUE(logs("ready")) << "an engine that does not run yet keeps no machine from booting\n" << log();
  for (const char* version : {"v2.1.4", "v2.2.0"}) {
    const NriEngine engine(socket());
    PluginEnd plugin = engine.accept();
    ASSERT_EQ(plugin.take_in(version), "10-slipway") << log();
    EXPECT_TRUE(logs(std::string("registered with containerd ") + version)) << log();
    EXPECT_EQ(nodes(plugin, 5, {"NVIDIA_VISIBLE_DEVICES=0"}), "/dev/nvidia0;");
  }
  EXPECT_TRUE(logs("the engine has closed the connection")) << log();
  EXPECT_TRUE(service.running());
}

TEST_F(NriService, SurvivesInvalidMessages) {
  const NriEngine engine(socket());
  Background service(command(), folder_.at("log"));
  const std::string huge("\x00\x00\x00\x01\x7f\xff\xff\xff", 8);
  for (const std::string& bytes : {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), huge, registered("no plugins here"),
                                   question(1, "Synchronize", "\xff")}) {
    PluginEnd plugin = engine.accept();
    ASSERT_TRUE(plugin.hear());
    plugin.say(bytes);
    EXPECT_TRUE(plugin.closed()) << bytes;
  }
  EXPECT_TRUE(logs("the engine refuses the plugin: no plugins here")) << log();
  PluginEnd plugin = engine.accept();
  EXPECT_EQ(plugin.take_in(), "10-slipway") << log();
  EXPECT_EQ(nodes(plugin, 5, {"NVIDIA_VISIBLE_DEVICES=0"}), "/dev/nvidia0;");
}

TEST_F(NriService, RetriesASilentEngine) {
  const NriEngine engine(socket());
  Background service(command(), folder_.at("log"));
  PluginEnd mute = engine.accept();
  ASSERT_TRUE(mute.hear());
  EXPECT_FALSE(mute.hear()) << "it takes ten seconds, as long as this waits";
  PluginEnd plugin = engine.accept();
  EXPECT_EQ(plugin.take_in(), "10-slipway") << log();
  EXPECT_THAT(log(), HasSubstr("did not accept the plugin within 10 s"));
}

TEST_F(NriService, ReadsARequestFromAnyPieces) {
  const NriEngine engine(socket());
  Background service(command(), folder_.at("log"));
  PluginEnd plugin = engine.accept();
  ASSERT_EQ(plugin.take_in(), "10-slipway") << log();
  const std::string asked = create(5, container_with({"NVIDIA_VISIBLE_DEVICES=0"})) + create(7, container_with({}));
  for (const char byte : asked) plugin.say({byte});
  const auto first = plugin.hear();
  const auto second = plugin.hear();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->stream, 5U);
  EXPECT_EQ(adjustment_in(response_in(*first)).on_linux().devices_size(), 1);
  EXPECT_EQ(second->stream, 7U);
}

TEST_F(NriService, RunsOnlyInItsMode) {
  mode("config");
  const Ran refused = run(command());
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("runtime has a service only with mode: nri"));
}

/// Plans in an image with containerd.
class NriPlan : public NriService {
 protected:
  NriPlan() {
    folder_.file("usr/bin/containerd", "#!/bin/sh\n");
    std::filesystem::permissions(folder_.at("usr/bin/containerd"), std::filesystem::perms(0755));
    folder_.file("usr/bin/slipway", "");  // units need it
    folder_.file("var/lib/dpkg/status", "Package: containerd\nStatus: install ok installed\nVersion: 2.1.4-1\n\n");
    folder_.file("etc/containerd/config.toml", "version = 3\n");
  }
  Ran slipway(const std::string& words) const {
    return run(SLIPWAY_PROGRAM " " + words + " --root " + folder_.path() + " --cache " + folder_.at("cache"));
  }
  Ran apply() const { return slipway("apply -f " + folder_.at("host.yaml")); }
  bool unit() const { return std::filesystem::exists(folder_.at("etc/systemd/system/slipway-runtime.service")); }
  std::string config() const { return content(folder_.at("etc/containerd/config.toml")); }
};

TEST_F(NriPlan, InAnImageIsTheServiceAndNoFileOfTheEngine) {
  EXPECT_THAT(slipway("plan -f " + folder_.at("host.yaml")).output, HasSubstr("cannot be asked in an image"));
  const Ran applied = apply();
  ASSERT_EQ(applied.status, 0) << applied.output << applied.errors;
  EXPECT_TRUE(unit());
  EXPECT_EQ(config(), "version = 3\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.at("etc/containerd/conf.d")));
  EXPECT_THAT(apply().output, HasSubstr("Nothing to do"));
}

TEST_F(NriPlan, WritesTheRulesForRequestsIntoTheSettingsThatTheServiceReads) {
  std::filesystem::remove(folder_.at("etc/nvidia-container-runtime/config.toml"));
  mode("nri, requests: [{namespaces: [team-b], devices: [\"nvidia.com/gpu=*\"]}]");
  const Ran applied = apply();
  ASSERT_EQ(applied.status, 0) << applied.output << applied.errors;
  const std::string settings = folder_.at("etc/nvidia-container-runtime/config.toml");
  EXPECT_THAT(content(settings), HasSubstr(R"(namespaces = ["team-b"])"));
  EXPECT_THAT(apply().output, HasSubstr("Nothing to do"));
  mode("nri, requests: [{namespaces: [team-b], devices: [\"nvidia.com/*=all\"]}]");
  const Ran refused = apply();
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("VENDOR/CLASS=NAME")) << "a kind is not a pattern";
  mode("nri");
  ASSERT_EQ(apply().status, 0);
  EXPECT_THAT(content(settings), ::testing::Not(HasSubstr("team-b")));
}

TEST_F(NriPlan, FollowsAChangeOfTheMode) {
  mode("config");
  ASSERT_EQ(apply().status, 0);
  EXPECT_FALSE(unit());
  EXPECT_THAT(config(), HasSubstr("nvidia"));
  mode("nri");
  ASSERT_EQ(apply().status, 0);
  EXPECT_TRUE(unit());
  EXPECT_EQ(config(), "version = 3\n");
  mode("config");
  ASSERT_EQ(apply().status, 0);
  EXPECT_FALSE(unit());
  EXPECT_FALSE(std::filesystem::exists(folder_.at("etc/slipway/services/runtime.json")));
  EXPECT_THAT(config(), HasSubstr("nvidia"));
  ASSERT_EQ(slipway("remove runtime --yes").status, 0);
  EXPECT_EQ(config(), "version = 3\n");
}

}  // namespace
}  // namespace slipway::nri
