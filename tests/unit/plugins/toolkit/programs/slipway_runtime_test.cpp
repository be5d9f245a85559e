// SPDX-License-Identifier: Apache-2.0
// slipway-runtime's parts: the engine's request, its settings, and the edited bundle of a container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/regular_file.hpp>
#include <slipway/testing/temp_dir.hpp>
#include <slipway/text.hpp>

#include "toolkit/programs/slipway-runtime/command_line.hpp"
#include "toolkit/requests/config.hpp"
#include "toolkit/requests/document.hpp"
#include "toolkit/requests/report.hpp"
#include "toolkit/requests/request.hpp"
#include "toolkit/requests/specs.hpp"

namespace slipway::shim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- the command line
// --------------------------------------------------------------------------------------------------

TEST(CommandLine, IsReadAsContainerdWritesIt) {
  const auto line =
      parse_command_line({"--root", "/run/containerd/runc/k8s.io", "--log", "/b/log.json", "--log-format", "json",
                          "--systemd-cgroup", "create", "--bundle", "/b", "--pid-file", "/b/init.pid", "id"});
  EXPECT_EQ(line.command, "create");
  EXPECT_EQ(line.bundle, "/b");
  EXPECT_EQ(line.log, "/b/log.json");
  EXPECT_TRUE(line.log_json);
}

TEST(CommandLine, TakesEachFormOfAnOption) {
  EXPECT_EQ(parse_command_line({"create", "-b", "/b", "id"}).bundle, "/b");
  EXPECT_EQ(parse_command_line({"create", "-b=/b", "id"}).bundle, "/b");
  EXPECT_EQ(parse_command_line({"create", "-b/b", "id"}).bundle, "/b");
  EXPECT_EQ(parse_command_line({"create", "--bundle=/b", "id"}).bundle, "/b");
  EXPECT_EQ(parse_command_line({"run", "id", "--bundle", "/b"}).bundle, "/b");
  EXPECT_EQ(parse_command_line({"create", "id"}).bundle, ".");
}

TEST(CommandLine, DoesNotTakeAValueForACommandNorAnUnknownOptionsValue) {
  EXPECT_EQ(parse_command_line({"--root", "create", "state", "id"}).command, "state");
  EXPECT_EQ(parse_command_line({"--new-option", "value", "create", "id"}).command, "create");
  EXPECT_EQ(parse_command_line({"create", "--pid-file", "--bundle", "id"}).bundle, ".");
  EXPECT_EQ(parse_command_line({"create", "--", "--bundle", "/b"}).bundle, ".");
}

TEST(CommandLine, OfOtherCommandsIsOnlyPassedOn) {
  EXPECT_FALSE(parse_command_line({"exec", "--process", "p.json", "create"}).makes_container());
  EXPECT_FALSE(parse_command_line({"--version"}).makes_container());
  EXPECT_FALSE(parse_command_line({}).makes_container());
  EXPECT_FALSE(parse_command_line({"--log"}).makes_container());
}

// --- the settings
// ------------------------------------------------------------------------------------------------------

TEST(ShimConfig, HasUpstreamsNamesAndDefaults) {
  const auto config = parse_config("", "config.toml");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->accept_env_when_unprivileged);
  EXPECT_FALSE(config->accept_mounts);
  EXPECT_THAT(config->runtimes, ElementsAre("runc", "crun"));
  const auto other = parse_config(R"(
disable-require = true
accept-nvidia-visible-devices-envvar-when-unprivileged = false
accept-nvidia-visible-devices-as-volume-mounts = true
swarm-resource = "DOCKER_RESOURCE_GPU,OTHER"
[nvidia-container-cli]
ldconfig = "@/sbin/ldconfig.real"
no-cgroups = true
[nvidia-container-runtime]
debug = "/var/log/n.log"
mode = "cdi"
log-level = "Warning"
runtimes = ["/opt/runc"]
[nvidia-container-runtime.modes.cdi]
spec-dirs = ["/cdi"]
default-kind = "management.nvidia.com/gpu"
annotation-prefixes = ["a/"]
[features]
ignore-imex-channel-requests = true
disable-cuda-compat-lib-hook = true
)",
                                  "config.toml");
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->accept_env_when_unprivileged);
  EXPECT_TRUE(other->accept_mounts);
  EXPECT_THAT(other->swarm_resources, ElementsAre("DOCKER_RESOURCE_GPU", "OTHER"));
  EXPECT_EQ(other->debug_log, "/var/log/n.log");
  EXPECT_THAT(other->runtimes, ElementsAre("/opt/runc"));
  EXPECT_THAT(other->spec_folders, ElementsAre("/cdi"));
  EXPECT_EQ(other->default_kind, "management.nvidia.com/gpu");
  EXPECT_THAT(other->annotation_prefixes, ElementsAre("a/"));
  EXPECT_TRUE(other->ignore_imex_channels);
  EXPECT_TRUE(other->disable_require && other->no_cgroups && other->no_cuda_compat);
  EXPECT_EQ(other->log_level, Level::warning);
  EXPECT_FALSE(config->disable_require || config->no_cgroups || config->no_cuda_compat);
  EXPECT_EQ(config->log_level, Level::info);
}

std::string all_of(const Config& config) {
  std::string text;
  for (const std::string& part :
       {config.debug_log, config.mode, config.driver_root, config.default_kind, joined(config.swarm_resources),
        joined(config.jit_features), joined(config.jit_disabled_hooks), joined(config.runtimes),
        joined(config.spec_folders), joined(config.annotation_prefixes)})
    text += part + ";";
  for (const bool flag :
       {config.accept_env_when_unprivileged, config.accept_mounts, config.disable_require, config.no_cgroups,
        config.no_cuda_compat, config.ignore_imex_channels, config.no_device_groups})
    text += flag ? '1' : '0';
  return text + std::to_string(static_cast<int>(config.log_level)) +
         (toolkit::permits(config.requests, "lab", "a.com/b=c") ? "permits" : "");
}

// docs/nvidia-switches.md says of each of these keys that it is honoured; SwitchTable.* compares the page with the
// code.
TEST(ShimConfig, AcceptsEachKeyThatTheDocumentationCallsHonoured) {
  std::map<std::string, std::string> values{
      {"accept-nvidia-visible-devices-envvar-when-unprivileged", "false"},
      {"nvidia-container-runtime.mode", "\"cdi\""},
      {"nvidia-container-runtime.log-level", "\"error\""},
      {"slipway.requests", "[{namespaces = [\"lab\"], devices = [\"a.com/b=c\"]}]"}};
  for (const char* list : {"runtimes", "modes.cdi.spec-dirs", "modes.cdi.annotation-prefixes",
                           "modes.jit-cdi.nvcdi-feature-flags", "modes.jit-cdi.nvcdi-disable-hooks"})
    values["nvidia-container-runtime." + std::string(list)] = "[\"x\"]";
  for (const char* text : {"swarm-resource", "nvidia-container-cli.root", "nvidia-container-runtime.debug",
                           "nvidia-container-runtime.modes.cdi.default-kind"})
    values[text] = "\"x\"";
  const std::string page = read_regular(SLIPWAY_SOURCE_DIR "/docs/nvidia-switches.md", 1U << 20U).value_or("");
  const std::string section = page.substr(page.find("\n## config.toml"));
  const std::string before = all_of(*parse_config("", "c.toml"));
  std::size_t honoured = 0;
  for (const std::string& line : lines_of(section.substr(0, section.find("\n## nvidia-device-plugin")))) {
    if (!line.starts_with("| `") || (!line.ends_with("| honoured |") && line.find("| key `") == std::string::npos))
      continue;
    const std::string key = line.substr(3, line.find('`', 3) - 3);
    const auto value = values.find(key);
    const auto config = parse_config(key + " = " + (value == values.end() ? "true" : value->second) + "\n", "c.toml");
    ASSERT_TRUE(config.ok()) << key << ": " << to_text(config.error());
    EXPECT_NE(all_of(*config), before) << key << " has no effect";
    ++honoured;
  }
  EXPECT_GT(honoured, 15U);
}

TEST(ShimConfig, NamesAKeyOfAnotherType) {
  const auto config = parse_config("[nvidia-container-runtime]\nruntimes = \"runc\"\n", "/c.toml");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().what, HasSubstr("nvidia-container-runtime.runtimes is not a list of texts"));
  const auto mode = parse_config("[nvidia-container-runtime]\nmode = \"fast\"\n", "/c.toml");
  ASSERT_FALSE(mode);
  EXPECT_THAT(mode.error().what, HasSubstr("mode is not one of auto"));
  const auto broken = parse_config("[x\n", "/c.toml");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().where, HasSubstr("/c.toml:1:"));
}

// --- the specs
// ---------------------------------------------------------------------------------------------------------

std::string spec_with(const std::string& devices, const std::string& kind = "nvidia.com/gpu") {
  return R"({"cdiVersion":"0.5.0","kind":")" + kind + R"(","containerEdits":{"env":["COMMON=1"]},"devices":[)" +
         devices + "]}";
}
std::string device(const std::string& name) {
  return R"({"name":")" + name + R"(","containerEdits":{"env":["D)" + name + R"(=1"]}})";
}

Result<std::vector<std::string>> resolved(const Specs& specs, const std::vector<std::string>& devices,
                                          bool driver_only = false) {
  SLIPWAY_TRY(edits, specs.resolve(Request{devices, driver_only, "a test", {}}, Config{}));
  return edits.env;
}

TEST(ShimSpecs, GiveTheCommonEditsOnceAndTheDevicesInOrder) {
  Specs specs;
  specs.add("/etc/cdi/a.json", spec_with(device("0") + "," + device("1")), 0);
  EXPECT_THAT(resolved(specs, {"nvidia.com/gpu=1", "nvidia.com/gpu=0"}).value_or({}),
              ElementsAre("COMMON=1", "D1=1", "D0=1"));
  EXPECT_THAT(resolved(specs, {}, true).value_or({}), ElementsAre("COMMON=1"));
  EXPECT_THAT(resolved(specs, {"nvidia.com/gpu=all"}).value_or({}), ElementsAre("COMMON=1", "D0=1", "D1=1"))
      << "a spec without the device all";
}

TEST(ShimSpecs, OfALaterFolderOverrideEarlierOnes) {
  Specs specs;
  specs.add("/etc/cdi/a.json", spec_with(device("0")), 0);
  specs.add("/var/run/cdi/b.json", R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[)" + device("0") + "]}",
            1);
  EXPECT_THAT(resolved(specs, {"nvidia.com/gpu=0"}).value_or({}), ElementsAre("D0=1"));
}

TEST(ShimSpecs, KnowADeviceUnderAllItsNames) {
  Specs specs;
  const std::string same = R"("containerEdits":{"env":["A=1"]})";
  specs.add("/etc/cdi/a.json",
            spec_with(R"({"name":"0",)" + same + R"(},{"name":"GPU-a",)" + same + "}," + device("1")), 0);
  EXPECT_THAT(specs.all_names_of("nvidia.com/gpu=GPU-a"), ElementsAre("nvidia.com/gpu=0", "nvidia.com/gpu=GPU-a"));
  EXPECT_THAT(specs.all_names_of("nvidia.com/gpu=GPU-b"), IsEmpty());
  EXPECT_THAT(specs.all_names_of("other.com/gpu=GPU-a"), IsEmpty());
  specs.add("/var/run/cdi/b.json", spec_with(device("0")), 1);
  EXPECT_THAT(specs.all_names_of("nvidia.com/gpu=GPU-a"), ElementsAre("nvidia.com/gpu=GPU-a"))
      << "the name 0 is another device's by a folder that counts more";
}

TEST(ShimSpecs, NameBothFilesOfADuplicateDevice) {
  Specs specs;
  specs.add("/etc/cdi/a.json", spec_with(device("0")), 0);
  specs.add("/etc/cdi/b.json", spec_with(device("0")), 0);
  const auto edits = resolved(specs, {"nvidia.com/gpu=0"});
  ASSERT_FALSE(edits);
  EXPECT_EQ(edits.error().code, ErrorCode::conflict);
  EXPECT_THAT(edits.error().what, HasSubstr("/etc/cdi/a.json and /etc/cdi/b.json"));
}

TEST(ShimSpecs, ListTheExistingDevices) {
  Specs specs;
  specs.add("/etc/cdi/a.json", spec_with(device("0") + "," + device("1")), 0);
  specs.add("/etc/cdi/broken.yaml", "kind: [", 0);
  const auto edits = resolved(specs, {"nvidia.com/gpu=9"});
  ASSERT_FALSE(edits);
  const std::string output = one_line("slipway-runtime", edits.error());
  EXPECT_THAT(output, HasSubstr("there is no device nvidia.com/gpu=9; there are: 0, 1 (/etc/cdi/a.json)"));
  EXPECT_THAT(output, HasSubstr("asked for by: a test"));
  EXPECT_THAT(output, HasSubstr("left out: /etc/cdi/broken.yaml:1"));
}

TEST(ShimSpecs, SayHowToMakeAMissingSpec) {
  const auto edits = resolved(Specs{}, {"nvidia.com/imex-channel=3"});
  ASSERT_FALSE(edits);
  EXPECT_THAT(one_line("slipway-runtime", edits.error()),
              HasSubstr("cdi generate --mode imex --output /var/run/cdi/nvidia.com-imex-channel.yaml"));
  EXPECT_FALSE(resolved(Specs{}, {}, true));
  const auto made_up = resolved(Specs{}, {"nvidia.com/`reboot`=0"});
  EXPECT_THAT(one_line("slipway-runtime", made_up.error()), Not(HasSubstr("cdi generate"))) << "somebody pastes it";
}

// Before the fix, a pod's complete list of names was searched in each device of the specs, and collected again for each
// name.
TEST(ShimSpecs, FindEachOfVeryManyDevices) {
  Specs specs;
  std::string all;
  std::vector<std::string> wanted;
  for (int i = 0; i < 2048; ++i) {
    all += (i == 0 ? "" : ",") + device(std::to_string(i));
    wanted.push_back("nvidia.com/imex-channel=" + std::to_string(i));
  }
  specs.add("/etc/cdi/a.json", spec_with(all, "nvidia.com/imex-channel"), 0);
  const auto env = resolved(specs, wanted);
  ASSERT_TRUE(env) << to_text(env.error());
  EXPECT_EQ(env->size(), 2049U);
  EXPECT_EQ(env->back(), "D2047=1");
}

// --- the edit
// ----------------------------------------------------------------------------------------------------------

Result<HostNode> node_195_1(const std::string&) { return HostNode{"c", 195, 1, 0666}; }
Result<HostNode> no_node(const std::string& path) { return Error{ErrorCode::not_found, "no " + path, path, {}, {}}; }

nvidia::cdi::Edits all_edits() {
  nvidia::cdi::Edits edits;
  edits.env = {"NVIDIA_VISIBLE_DEVICES=void"};
  edits.device_nodes = {{.path = "/dev/nvidia1", .host_path = {}, .type = {}, .major = 195, .minor = 1}};
  edits.net_devices = {{"eth1", "net1"}};
  edits.hooks = {
      {.hook_name = "createContainer", .path = "/hook", .args = {"hook", "x"}, .env = {"A=1"}, .timeout = 5}};
  edits.mounts = {{"/host/lib", "/usr/lib/l.so", {"ro", "rbind"}, {}}};
  edits.intel_rdt = nvidia::cdi::IntelRdt{.clos_id = "c"};
  edits.additional_gids = {0, 44};
  return edits;
}

Json sample_bundle() {
  return Json::parse(R"({"ociVersion":"1.1.0","unknown":{"a":[1,2.5,null]},
    "process":{"env":["A=b","NVIDIA_VISIBLE_DEVICES=1"],"user":{"uid":1000,"gid":0,"new":1}},
    "mounts":[{"destination":"/usr/lib/deep/er","source":"x"},{"destination":"/usr/lib/l.so","source":"old"},
              {"destination":"/proc","type":"proc","source":"proc"}],
    "hooks":{"prestart":[{"path":"/usr/bin/nvidia-container-runtime-hook"},{"path":"/mine"}]},
    "linux":{"devices":[{"path":"/dev/nvidia1","type":"c","major":1,"minor":1},{"path":"/dev/fuse"}],
             "resources":{"devices":[{"allow":false,"access":"rwm"}]},"seccomp":{"x":1}}})");
}

TEST(BundleEdit, AppliesTheWholeSpecAndKeepsTheRest) {
  Json bundle = sample_bundle();
  ASSERT_TRUE(apply_edits(bundle, all_edits(), node_195_1, "config.json"));
  Json wanted = sample_bundle();
  wanted["process"]["env"] = {"A=b", "NVIDIA_VISIBLE_DEVICES=void"};
  wanted["process"]["user"]["additionalGids"] = {44};
  wanted["mounts"] = {{{"destination", "/proc"}, {"type", "proc"}, {"source", "proc"}},
                      {{"destination", "/usr/lib/l.so"}, {"source", "/host/lib"}, {"options", {"ro", "rbind"}}},
                      {{"destination", "/usr/lib/deep/er"}, {"source", "x"}}};
  wanted["hooks"]["prestart"] = Json::array({{{"path", "/mine"}}});
  wanted["hooks"]["createContainer"] =
      Json::array({{{"path", "/hook"}, {"args", {"hook", "x"}}, {"env", {"A=1"}}, {"timeout", 5}}});
  wanted["linux"]["devices"] = Json::array(
      {{{"path", "/dev/fuse"}},
       {{"path", "/dev/nvidia1"}, {"type", "c"}, {"major", 195}, {"minor", 1}, {"fileMode", 0666}, {"uid", 1000}}});
  wanted["linux"]["resources"]["devices"].push_back(
      {{"allow", true}, {"type", "c"}, {"major", 195}, {"minor", 1}, {"access", "rwm"}});
  wanted["linux"]["netDevices"] = {{"eth1", {{"name", "net1"}}}};
  wanted["linux"]["intelRdt"] = {{"closID", "c"}};
  EXPECT_EQ(bundle.dump(1), wanted.dump(1));
}

TEST(BundleEdit, WithoutCgroupsHasTheNodesAndNoRulesForThem) {
  Json bundle = sample_bundle();
  ASSERT_TRUE(apply_edits(bundle, all_edits(), node_195_1, "config.json", false));
  EXPECT_EQ(bundle["linux"]["devices"].back()["path"], "/dev/nvidia1");
  EXPECT_EQ(bundle["linux"]["resources"], sample_bundle()["linux"]["resources"]);
}

TEST(ShimSpecs, LeaveTheHookForCudaCompatibilityOutWhereTheSettingsSaySo) {
  Specs specs;
  specs.add("/etc/cdi/a.json",
            R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","containerEdits":{"hooks":[)"
            R"({"hookName":"createContainer","path":"/h","args":["h","enable-cuda-compat","--x"]},)"
            R"({"hookName":"createContainer","path":"/h","args":["h","update-ldcache"]}]},"devices":[)" +
                device("0") + "]}",
            0);
  const Request request{{"nvidia.com/gpu=0"}, false, "a test", {}};
  EXPECT_EQ(specs.resolve(request, Config{})->hooks.size(), 2U);
  Config config;
  config.no_cuda_compat = true;
  auto edits = specs.resolve(request, config);
  ASSERT_EQ(edits->hooks.size(), 2U) << "whether the machine is what the image requires is asked by it";
  leave_out_unwanted(*edits, config);
  ASSERT_EQ(edits->hooks.size(), 1U);
  EXPECT_THAT(edits->hooks[0].args, ElementsAre("h", "update-ldcache"));
}

TEST(BundleEdit, DoneTwiceChangesNothingMore) {
  Json bundle = sample_bundle();
  ASSERT_TRUE(apply_edits(bundle, all_edits(), node_195_1, "config.json"));
  Json again = bundle;
  ASSERT_TRUE(apply_edits(again, all_edits(), node_195_1, "config.json"));
  EXPECT_EQ(again, bundle);
}

TEST(BundleEdit, MakesTheMembersThatAreMissing) {
  Json bundle = Json::parse(R"({"process":{"args":["x"]},"mounts":null})");
  ASSERT_TRUE(apply_edits(bundle, all_edits(), node_195_1, "config.json"));
  EXPECT_EQ(bundle["mounts"].size(), 1U);
  EXPECT_EQ(bundle["process"]["args"], Json({"x"}));
}

TEST(BundleEdit, KeepsTheLastOfTwoWithTheSameName) {
  nvidia::cdi::Edits edits;
  edits.env = {"B=1", "C=1", "B=2"};
  edits.mounts = {{"/a", "/x", {}, {}}, {"/b", "/y", {}, {}}, {"/c", "/x", {}, {}}};
  Json bundle = Json::parse(R"({"process":{"env":["B","C=0","A=b"]},"mounts":[{"destination":"/x"}]})");
  ASSERT_TRUE(apply_edits(bundle, edits, node_195_1, "config.json"));
  EXPECT_EQ(bundle["process"]["env"], Json({"B", "A=b", "C=1", "B=2"}));
  EXPECT_EQ(bundle["mounts"],
            Json::parse(R"([{"destination":"/y","source":"/b"},{"destination":"/x","source":"/c"}])"));
}

// Before the fix, the paths of a pod's mounts were normalised for each comparison, and every list was searched for
// every element.
TEST(BundleEdit, LimitsTheLengthOfLists) {
  constexpr int kMany = 9'000;
  nvidia::cdi::Edits edits = all_edits();
  for (int i = 0; i < 900; ++i) {
    const std::string number = std::to_string(i);
    edits.env.push_back("V" + number + "=new");
    edits.mounts.push_back({"/host/" + number, "/m/" + number, {}, {}});
    edits.device_nodes.push_back({.path = "/dev/" + number, .host_path = {}, .type = "c", .major = 1, .minor = i});
  }
  Json bundle = sample_bundle();
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    bundle["process"]["env"].push_back("V" + number + "=old");
    bundle["mounts"].push_back({{"destination", "/m/" + number + "/./a/../b/" + std::string(100, '/')}});
    bundle["linux"]["devices"].push_back({{"path", "/dev/" + number}});
  }
  Json edited = bundle;
  ASSERT_TRUE(apply_edits(edited, edits, node_195_1, "config.json"));
  EXPECT_EQ(edited["process"]["env"].size(), kMany + 2U);
  EXPECT_EQ(edited["mounts"].size(), kMany + 3U + 900U);
  EXPECT_EQ(edited["linux"]["devices"].size(), kMany + 2U);
  for (int i = kMany; i < 20'000; ++i) bundle["mounts"].push_back({{"destination", "/m/" + std::to_string(i)}});
  const auto refused = apply_edits(bundle, edits, node_195_1, "config.json");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("mounts would have more than 10000 elements"));
}

TEST(BundleEdit, RefusesMembersOfAnotherTypeAndABundleWithoutProcess) {
  for (const char* text : {R"({"process":[]})", R"({"process":{},"mounts":{}})",
                           R"({"process":{},"linux":{"devices":"x"}})", R"({"process":{},"linux":7})",
                           R"({"process":{},"hooks":{"prestart":{}}})", R"({"process":{"env":{}}})", "{}"}) {
    Json bundle = Json::parse(text);
    const auto edited = apply_edits(bundle, all_edits(), node_195_1, "config.json");
    ASSERT_FALSE(edited) << text;
    EXPECT_THAT(edited.error().what, HasSubstr("config.json")) << text;
  }
}

TEST(BundleEdit, ReadsOnlyMissingValuesFromTheHost) {
  nvidia::cdi::DeviceNode node{.path = "/dev/x", .host_path = {}, .type = "c", .major = 10, .minor = 2};
  ASSERT_TRUE(complete_node(node, no_node));
  node.type.clear();
  EXPECT_FALSE(complete_node(node, no_node));
}

TEST(BundleEdit, RefusesASpecOfAnEarlierBoot) {
  const nvidia::cdi::DeviceNode node{.path = "/dev/nvidia-uvm", .host_path = {}, .type = {}, .major = 508, .minor = 0};
  const auto complete = complete_node(node, node_195_1);
  ASSERT_FALSE(complete);
  EXPECT_THAT(complete.error().what, HasSubstr("/dev/nvidia-uvm is 195:1, and the CDI spec says 508:0"));
}

// --- documents and logs
// ------------------------------------------------------------------------------------------------

TEST(Document, NestedWithoutEndIsRefusedBeforeItIsRead) {
  const auto deep = parse_document("{\"a\":" + std::string(100000, '['), "config.json");
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().what, HasSubstr("deeper than"));
  EXPECT_TRUE(parse_document(R"({"a":"[[[[[\"{{{{"})", "config.json"));
  EXPECT_FALSE(parse_document("[]", "config.json"));
  EXPECT_FALSE(parse_document("{\"a\":1", "config.json"));
}

TEST(Log, HasTheFormOfRuncsLog) {
  EXPECT_EQ(log_line(Level::error, "a \"b\"", true, 0),
            "{\"level\":\"error\",\"msg\":\"a \\\"b\\\"\",\"time\":\"1970-01-01T00:00:00Z\"}\n");
  EXPECT_EQ(log_line(Level::warning, "a \"b\"", false, 0),
            "time=\"1970-01-01T00:00:00Z\" level=warning msg=\"a \\\"b\\\"\"\n");
  EXPECT_EQ(one_line("slipway-runtime", Error{ErrorCode::invalid, "a\nb", "w", "n", {{"l", "d"}}}),
            "slipway-runtime: a b (w); n; l: d");
}

}  // namespace
}  // namespace slipway::shim
