// SPDX-License-Identifier: Apache-2.0
// A container's requests to slipway-runtime, and the containers that may make them.
#include "toolkit/requests/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolkit/requests/config.hpp"

namespace slipway::shim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- the request
// -------------------------------------------------------------------------------------------------------

Json bundle_with(const std::vector<std::string>& env) {
  return Json{{"process", {{"env", env}}}, {"mounts", Json::array()}};
}

Request request_of(const Json& bundle, const Config& config = {}) {
  const auto request = read_request(bundle, config, "config.json");
  EXPECT_TRUE(request) << to_text(request.error());
  return request.value_or({});
}

std::vector<std::string> devices_of(const std::string& visible) {
  return request_of(bundle_with({"PATH=/bin", "NVIDIA_VISIBLE_DEVICES=" + visible})).devices;
}

TEST(Request, OfTheEnvironmentIsIndicesUuidsMigDevicesAndQualifiedNames) {
  EXPECT_THAT(devices_of("0, 1:2,GPU-a,MIG-b"),
              ElementsAre("nvidia.com/gpu=0", "nvidia.com/gpu=1:2", "nvidia.com/gpu=GPU-a", "nvidia.com/gpu=MIG-b"));
  EXPECT_THAT(devices_of("nvidia.com/gds=all,0,0"), ElementsAre("nvidia.com/gds=all", "nvidia.com/gpu=0"));
  EXPECT_THAT(devices_of("runtime.nvidia.com/gpu=1"), ElementsAre("nvidia.com/gpu=1"));
}

// Before the fix, each of the names in a pod's annotation, up to a megabyte, was compared with all others.
TEST(Request, OfMoreDevicesThanANodeCanHaveIsRefusedAndAnyNumberOfRepetitionsIsOne) {
  std::string repeated = "0";
  std::string many = "0";
  for (int i = 1; i < 200'000; ++i) {
    repeated += ",0";
    many += "," + std::to_string(i);
  }
  EXPECT_THAT(devices_of(repeated), ElementsAre("nvidia.com/gpu=0"));
  const auto request = read_request(bundle_with({"NVIDIA_VISIBLE_DEVICES=" + many}), {}, "config.json");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, ErrorCode::invalid);
  EXPECT_THAT(request.error().what, HasSubstr("more than 4096 devices"));
}

TEST(Request, AllOverridesNamesAndVoidOverridesAll) {
  EXPECT_THAT(devices_of("0,all,1"), ElementsAre("nvidia.com/gpu=all"));
  EXPECT_THAT(devices_of("all,void"), IsEmpty());
  EXPECT_THAT(devices_of(""), IsEmpty());
  EXPECT_TRUE(request_of(bundle_with({})).empty());
}

TEST(Request, NoneIsOnlyTheDriver) {
  const Request request = request_of(bundle_with({"NVIDIA_VISIBLE_DEVICES=none"}));
  EXPECT_TRUE(request.driver_only);
  EXPECT_THAT(request.devices, IsEmpty());
}

TEST(Request, OfAnImageBeforeCuda9IsAll) {
  EXPECT_THAT(request_of(bundle_with({"CUDA_VERSION=8.0"})).devices, ElementsAre("nvidia.com/gpu=all"));
  EXPECT_TRUE(request_of(bundle_with({"CUDA_VERSION=12.2", "NVIDIA_REQUIRE_CUDA=cuda>=12.2"})).empty());
  EXPECT_TRUE(request_of(bundle_with({"CUDA_VERSION=8.0", "NVIDIA_VISIBLE_DEVICES="})).empty());
}

TEST(Request, OfAnUnprivilegedContainersEnvironmentCanBeDisabled) {
  Config config;
  config.accept_env_when_unprivileged = false;
  Json bundle = bundle_with({"NVIDIA_VISIBLE_DEVICES=all"});
  const Request refused = request_of(bundle, config);
  EXPECT_TRUE(refused.empty());
  ASSERT_EQ(refused.warnings.size(), 1U);
  EXPECT_THAT(refused.warnings.front(), HasSubstr("NVIDIA_VISIBLE_DEVICES=all was left out"));
  bundle["process"]["capabilities"]["bounding"] = {"CAP_CHOWN"};
  EXPECT_TRUE(request_of(bundle, config).empty());
  bundle["process"]["capabilities"]["bounding"] = {"CAP_CHOWN", "CAP_SYS_ADMIN"};
  EXPECT_THAT(request_of(bundle, config).devices, ElementsAre("nvidia.com/gpu=all"));
}

Json mounted(const std::vector<std::string>& names, const std::string& source = "/dev/null") {
  Json bundle = bundle_with({"NVIDIA_VISIBLE_DEVICES=7"});
  for (const std::string& name : names)
    bundle["mounts"].push_back({{"source", source}, {"destination", "/var/run/nvidia-container-devices/" + name}});
  return bundle;
}

TEST(Request, OfMountsOverridesTheEnvironmentWhenAccepted) {
  Config config;
  const Json bundle = mounted({"GPU-a", "cdi/nvidia.com/gpu/1", "cdi/nvidia.com/gds=all"});
  EXPECT_THAT(request_of(bundle, config).devices, ElementsAre("nvidia.com/gpu=7"));
  config.accept_mounts = true;
  EXPECT_THAT(request_of(bundle, config).devices,
              ElementsAre("nvidia.com/gpu=GPU-a", "nvidia.com/gpu=1", "nvidia.com/gds=all"));
  EXPECT_THAT(request_of(mounted({"GPU-a"}, "/dev/zero"), config).devices, ElementsAre("nvidia.com/gpu=7"));
  EXPECT_THAT(request_of(mounted({"../GPU-a"}), config).devices, ElementsAre("nvidia.com/gpu=7"));
}

TEST(Request, NamesAMountThatIsNotADevice) {
  Config config;
  config.accept_mounts = true;
  const Request request = request_of(mounted({"cdi/nonsense", "0"}), config);
  EXPECT_THAT(request.devices, ElementsAre("nvidia.com/gpu=0"));
  ASSERT_EQ(request.warnings.size(), 1U);
  EXPECT_THAT(request.warnings.front(), HasSubstr("cdi/nonsense"));
}

TEST(Request, OfAnAnnotationOverridesAllOthers) {
  Json bundle = bundle_with({"NVIDIA_VISIBLE_DEVICES=7"});
  bundle["annotations"] = {{"cdi.k8s.io/plugin_a", "nvidia.com/gpu=1,nvidia.com/gpu=2"},
                           {"other/x", "nvidia.com/gpu=3"}};
  EXPECT_THAT(request_of(bundle).devices, ElementsAre("nvidia.com/gpu=1", "nvidia.com/gpu=2"));
}

TEST(Request, AddsFunctionsAndChannelsToDevices) {
  const Json bundle = bundle_with({"NVIDIA_VISIBLE_DEVICES=0", "NVIDIA_GDS=enabled", "NVIDIA_IMEX_CHANNELS=0,3"});
  EXPECT_THAT(request_of(bundle).devices, ElementsAre("nvidia.com/gpu=0", "nvidia.com/gds=all",
                                                      "nvidia.com/imex-channel=0", "nvidia.com/imex-channel=3"));
  EXPECT_TRUE(request_of(bundle_with({"NVIDIA_GDS=enabled"})).empty());
}

// --- who may have it
// ---------------------------------------------------------------------------------------------------

Json in_group(Json bundle, const std::string& cgroup) {
  bundle["linux"]["cgroupsPath"] = cgroup;
  return bundle;
}

/// Returns a container of a pod in that namespace, as containerd writes it.
Json in_namespace(Json bundle, const std::string& name) {
  bundle["annotations"]["io.kubernetes.cri.sandbox-namespace"] = name;
  return in_group(bundle, "kubepods-besteffort-pod1.slice:cri-containerd:8f2a");
}

Result<Request> read(const Json& bundle, const Config& config) {
  return read_request(bundle, config, "config.json", {.pod_namespace = pod_namespace_of(bundle)});
}

TEST(RequestPolicy, GivesManagementDevicesOnlyByARule) {
  Json by_variable = in_namespace(bundle_with({"NVIDIA_VISIBLE_DEVICES=management.nvidia.com/gpu=all"}), "team-a");
  by_variable["process"]["capabilities"]["bounding"] = {"CAP_SYS_ADMIN"};
  Json by_annotation = in_namespace(bundle_with({}), "team-a");
  by_annotation["annotations"]["cdi.k8s.io/x"] = "management.nvidia.com/gpu=all";
  Config config;
  const auto left_out = read(by_variable, config);
  ASSERT_TRUE(left_out);
  EXPECT_TRUE(left_out->empty()) << "not even for a privileged one";
  ASSERT_EQ(left_out->warnings.size(), 1U);
  EXPECT_THAT(left_out->warnings.front(), HasSubstr("given only to containers that a rule names"));
  const auto denied = read(by_annotation, config);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::denied);
  EXPECT_THAT(denied.error().next,
              HasSubstr("requests: [{namespaces: [team-a], devices: [management.nvidia.com/gpu=all]}]"));
  config.requests = {{{"team-a"}, {"management.nvidia.com/gpu=*"}}};
  for (const Json& bundle : {by_variable, by_annotation}) {
    const auto given = read(bundle, config);
    ASSERT_TRUE(given) << "the attack, with the protection off";
    EXPECT_THAT(given->devices, ElementsAre("management.nvidia.com/gpu=all"));
    EXPECT_TRUE(read(in_namespace(bundle, "team-b"), config).value_or({}).empty());
  }
}

TEST(RequestPolicy, IsTheSameForAnnotationsAndVariables) {
  Json attack = bundle_with({});
  attack["annotations"]["cdi.k8s.io/x"] = "nvidia.com/gpu=all";
  Config config;
  EXPECT_THAT(request_of(attack, config).devices, ElementsAre("nvidia.com/gpu=all")) << "the protection is off";
  config.accept_env_when_unprivileged = false;
  const auto denied = read_request(attack, config, "config.json");
  ASSERT_FALSE(denied);
  EXPECT_THAT(to_text(denied.error()), HasSubstr("the annotation cdi.k8s.io/x asks for nvidia.com/gpu=all"));
  EXPECT_EQ(denied.error().where, "config.json");
  attack["process"]["capabilities"]["bounding"] = {"CAP_SYS_ADMIN"};
  EXPECT_THAT(request_of(attack, config).devices, ElementsAre("nvidia.com/gpu=all"));
}

TEST(RequestPolicy, AppliesToAllVariables) {
  Json attack = mounted({"0"});
  attack["process"]["env"] = {"NVIDIA_NVSWITCH=enabled", "NVIDIA_MOFED=enabled", "NVIDIA_IMEX_CHANNELS=7"};
  Config config;
  config.accept_mounts = true;
  EXPECT_THAT(request_of(attack, config).devices, ElementsAre("nvidia.com/gpu=0", "nvidia.com/mofed=all",
                                                              "nvidia.com/nvswitch=all", "nvidia.com/imex-channel=7"))
      << "the protection is off";
  config.accept_env_when_unprivileged = false;
  const Request request = request_of(attack, config);
  EXPECT_THAT(request.devices, ElementsAre("nvidia.com/gpu=0"));
  ASSERT_EQ(request.warnings.size(), 3U);
  EXPECT_THAT(request.warnings.front(), HasSubstr("NVIDIA_MOFED=enabled was left out (nvidia.com/mofed=all)"));
}

TEST(RequestPolicy, LeavesDevicesOfOtherVendorsToRules) {
  const Json attack = bundle_with({"NVIDIA_VISIBLE_DEVICES=vendor.com/nic=0,nvidia.com/gpu=1"});
  Config config;
  EXPECT_THAT(request_of(attack, config).devices, ElementsAre("nvidia.com/gpu=1"));
  config.requests = {{{"*"}, {"vendor.com/nic=0"}}};
  EXPECT_THAT(request_of(attack, config).devices, ElementsAre("vendor.com/nic=0", "nvidia.com/gpu=1"));
}

// podman copies an image's annotations, and writes its own io.container.manager only where the image has none. An image
// cannot choose the cgroup that the engine puts the container into.
TEST(RequestPolicy, TakesNoPodsNamespaceFromAForeignAnnotation) {
  const Json pods = in_namespace(bundle_with({}), "team-a");
  for (const char* cgroup : {"kubepods-besteffort-pod1.slice:cri-containerd:8f2a", "/kubepods/burstable/pod1/8f2a",
                             "/nodes/kubepods/pod1/8f2a", "kubepods-pod1.slice:crio:8f2a", "/kubepods/pod1/crio-8f2a"})
    EXPECT_EQ(pod_namespace_of(in_group(pods, cgroup)), "team-a") << cgroup;
  for (const char* cgroup :
       {"", "machine.slice:libpod:8f2a", "/libpod_parent/libpod-8f2a", "/kubepods/pod1/libpod-8f2a",
        "system.slice:docker:cri-containerd", "/docker/8f2a", "/8f2a", "machine.slice"})
    EXPECT_EQ(pod_namespace_of(in_group(pods, cgroup)), "") << cgroup << ": an image's author wrote the annotation";
  Json crio = in_group(bundle_with({}), "kubepods-pod1.slice:crio:8f2a");
  crio["annotations"]["io.kubernetes.pod.namespace"] = "team-a";
  EXPECT_EQ(pod_namespace_of(crio), "team-a");
  EXPECT_EQ(pod_namespace_of(in_namespace(crio, "gpu-operator")), "") << "a pod's author wrote one of them";
  Json disguised = in_namespace(bundle_with({}), "gpu-operator");
  disguised["annotations"]["io.container.manager"] = "other";
  EXPECT_EQ(pod_namespace_of(in_group(disguised, "machine.slice:libpod:8f2a")), "");
  Json nowhere = pods;
  nowhere.erase("linux");
  EXPECT_EQ(pod_namespace_of(nowhere), "");
  EXPECT_EQ(pod_namespace_of(bundle_with({})), "");
}

// CRI-O writes kubelet's annotations into every bundle, and injects the devices that they name by itself.
TEST(RequestPolicy, StartsContainersWhoseAnnotationIsForTheEngine) {
  Json bundle = bundle_with({});
  bundle["annotations"] = {{"cdi.k8s.io/vendor-plugin_1", "vendor.com/nic=0"},
                           {"cdi.k8s.io/x", "k8s.device-plugin.nvidia.com/gpu=GPU-1"}};
  const Request request = request_of(bundle);
  EXPECT_THAT(request.devices, ElementsAre("k8s.device-plugin.nvidia.com/gpu=GPU-1"));
  ASSERT_EQ(request.warnings.size(), 1U);
  EXPECT_THAT(request.warnings.front(), HasSubstr("the annotation cdi.k8s.io/vendor-plugin_1 was left out"));
  EXPECT_THAT(request.warnings.front(), HasSubstr("devices of other vendors are given only by a rule"));
  bundle["annotations"] = {{"cdi.k8s.io/x", "management.nvidia.com/gpu=all"}};
  EXPECT_FALSE(read_request(bundle, {}, "config.json")) << "no device plugin writes that";
}

// Before the fix, a pod's author could make each new container write 2 MB to the journal, and a rule that an
// administrator might paste.
TEST(RequestPolicy, QuotesLittleOfTheContainersTextAndNoPatterns) {
  const std::string name(100'000, 'x');
  Config config;
  config.accept_mounts = true;
  Json many = mounted({});
  for (int i = 0; i < 1000; ++i)
    many["mounts"].push_back({{"source", "/dev/null"},
                              {"destination", "/var/run/nvidia-container-devices/cdi/" + std::to_string(i) + name}});
  many["process"]["env"] = {"NVIDIA_VISIBLE_DEVICES=0,vendor.com/nic=" + name};
  const Request request = request_of(many, config);
  ASSERT_FALSE(request.warnings.empty());
  std::string told = request.source;
  for (const std::string& warning : request.warnings) told += warning;
  EXPECT_LT(told.size(), 10'000U);
  Json denied = bundle_with({});
  denied["annotations"]["cdi.k8s.io/" + name] = "management.nvidia.com/gpu=" + name;
  EXPECT_LT(to_text(read_request(denied, config, "config.json").error()).size(), 2'000U);
  denied["annotations"] = {{"cdi.k8s.io/x", "management.nvidia.com/gpu=*"}};
  EXPECT_THAT(to_text(read_request(denied, config, "config.json").error()), Not(HasSubstr("devices: [")));
  for (const char* device : {"nvidia.com/gpu=*", "nvidia.com/gpu=0]}, {x: [y", "nvidia.com/gpu=`id`", "gpu"})
    EXPECT_EQ(toolkit::rule_for("team-a", device), "") << device;
  EXPECT_EQ(toolkit::rule_for("*", "nvidia.com/gpu=0"), "");
  EXPECT_EQ(toolkit::rule_for("team-a", "nvidia.com/gpu=0"),
            "runtime: {requests: [{namespaces: [team-a], devices: [nvidia.com/gpu=0]}]}");
}

TEST(RequestPolicy, IsReadFromTheSettingsAndAMistakeInItIsAnError) {
  const auto config = parse_config(
      "[slipway]\nrequests = [{namespaces = [\"a\", \"b\"], devices = [\"nvidia.com/gpu=*\"]}]\n", "/c.toml");
  ASSERT_TRUE(config) << to_text(config.error());
  EXPECT_TRUE(toolkit::permits(config->requests, "b", "nvidia.com/gpu=GPU-1"));
  EXPECT_FALSE(toolkit::permits(config->requests, "c", "nvidia.com/gpu=GPU-1"));
  EXPECT_FALSE(toolkit::permits(config->requests, "", "nvidia.com/gpu=GPU-1"));
  EXPECT_FALSE(toolkit::permits(config->requests, "b", "nvidia.com/gds=all"));
  std::string many = "{namespaces = [\"a\"], devices = [\"v.com/c=d\"]}";
  for (int i = 1; i < 65; ++i) many += ", {namespaces = [\"a\"], devices = [\"v.com/c=d\"]}";
  const std::pair<std::string, const char*> wrong[] = {
      {"requests = 3", "not a list of at most 64 rules"},
      {"requests = [" + many + "]", "not a list of at most 64 rules"},
      {"request = []", "slipway is not a table with only `requests`"},
      {R"(requests = [{namespaces = ["a"]}])", "rule 1: devices is not a list"},
      {R"(requests = [{namespaces = ["a"], devices = ["*/gpu=all"]}])",
       "rule 1: '*/gpu=all' is not one of the devices"},
      {R"(requests = [{namespaces = ["a"], devices = ["nvidia.com/*=all"]}])", "'nvidia.com/*=all'"},
      {R"(requests = [{namespaces = ["a"], devices = ["nvidia.com/gpu"]}])", "'nvidia.com/gpu'"},
      {R"(requests = [{namespaces = ["a*"], devices = ["nvidia.com/gpu=1"]}])", "'a*' is not one of the namespaces"},
      {R"(requests = [{namespaces = ["a"], devices = ["v.com/c=1"], kinds = []}])", "neither namespaces nor devices"}};
  for (const auto& [line, what] : wrong) {
    const auto refused = parse_config("[slipway]\n" + line + "\n", "/c.toml");
    ASSERT_FALSE(refused) << line;
    EXPECT_THAT(refused.error().what, HasSubstr(what)) << line;
  }
}

TEST(Request, RefusesABundleThatIsNotOcis) {
  const auto request = read_request(Json{{"process", {{"env", {1}}}}}, {}, "config.json");
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().what, HasSubstr("process.env"));
  EXPECT_FALSE(read_request(Json{{"process", 3}}, {}, "config.json"));
  EXPECT_FALSE(read_request(Json{{"annotations", "x"}}, {}, "config.json"));
}

}  // namespace
}  // namespace slipway::shim
