// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nvidia/cdi/text.hpp"
#include "random_spec.hpp"
#include "toolkit/cdi/transform.hpp"

namespace slipway::nvidia::cdi {
namespace {

using testing::HasSubstr;
using toolkit::finish;
using toolkit::move_host_root;
using toolkit::with_root;

constexpr int kRounds = 500;

Spec plain_spec() {
  Spec spec;
  spec.kind = "nvidia.com/gpu";
  DeviceNode node{"/dev/nvidia0", "", "", 195, 0, 438, "rwm", {}, {}};
  spec.devices = {{"0", {}, {{}, {node}, {}, {}, {}, {}, {}}}};
  spec.version = smallest_version(spec);
  return spec;
}

TEST(CdiText, IsReadBackAsItWasWritten) {
  std::mt19937 random(4);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same specs in every run
  for (int i = 0; i < kRounds; ++i) {
    const Spec spec = random_spec(random);
    const std::string yaml = to_yaml(spec);
    const std::string json = to_json_text(spec);
    const auto from_yaml = parse_and_validate(yaml, "spec.yaml");
    const auto from_json = parse_and_validate(json, "spec.json");
    ASSERT_TRUE(from_yaml.ok()) << to_text(from_yaml.error()) << yaml;
    ASSERT_TRUE(from_json.ok()) << to_text(from_json.error()) << json;
    ASSERT_EQ(*from_yaml, spec) << yaml;
    ASSERT_EQ(*from_json, spec) << json;
    ASSERT_FALSE(Json::parse(json, nullptr, false).is_discarded()) << json;
  }
}

TEST(CdiText, HasUpstreamsFormAndFieldOrder) {
  Spec spec = plain_spec();
  spec.devices[0].edits.hooks = {{"createContainer", "/usr/bin/slipway-cdi-hook", {"a", "../card1::/dev/x"}, {}, {}}};
  spec.edits.mounts = {{"/h", "/c", {"ro", "nosuid"}, ""}};
  EXPECT_EQ(to_yaml(spec),
            "---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n    - name: \"0\"\n      containerEdits:\n"
            "        deviceNodes:\n            - path: /dev/nvidia0\n              major: 195\n"
            "              fileMode: 438\n              permissions: rwm\n        hooks:\n"
            "            - hookName: createContainer\n              path: /usr/bin/slipway-cdi-hook\n"
            "              args:\n                - a\n                - ../card1::/dev/x\ncontainerEdits:\n"
            "    mounts:\n        - hostPath: /h\n          containerPath: /c\n          options:\n"
            "            - ro\n            - nosuid\n");
  EXPECT_EQ(to_json_text(plain_spec()),
            R"({"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[{"name":"0","containerEdits":{"deviceNodes":)"
            R"([{"path":"/dev/nvidia0","major":195,"fileMode":438,"permissions":"rwm"}]}}]})");
}

TEST(CdiText, QuotesStringsThatYamlWouldMisread) {
  for (const char* text :
       {"0", "1:0", "12:30:59.5", "true", "Off", "~", "", "0x1f", "1_000", "1e3", ".5", "2026-01-31"})
    EXPECT_TRUE(reads_as_other_than_text(text)) << text;
  for (const char* text : {"gpu0", "mig0:1", "0.7.0", "1:70x", "GPU-1", "/dev/x", "535.261.03", "a::b", "rwm"})
    EXPECT_FALSE(reads_as_other_than_text(text)) << text;
  EXPECT_EQ(yaml_text("1:0"), "\"1:0\"");
  EXPECT_EQ(yaml_text("a: b"), "'a: b'");
  EXPECT_EQ(yaml_text("pci-0000:18:00.0-card"), "pci-0000:18:00.0-card");
}

TEST(CdiVersion, IsTheLowestSufficientVersion) {
  const std::vector<std::pair<std::string, std::function<void(Spec&)>>> steps{
      {"0.3.0", [](Spec& spec) { spec.devices[0].name = "gpu0"; }},
      {"0.4.0",
       [](Spec& spec) {
         spec.edits.mounts = {{"/a", "/b", {}, "tmpfs"}};
       }},
      {"0.5.0", [](Spec& spec) { spec.devices[0].edits.device_nodes[0].host_path = "/x"; }},
      {"0.6.0", [](Spec& spec) { spec.kind = "nvidia.com/gpu.coherent"; }},
      {"0.6.0", [](Spec& spec) { spec.devices[0].annotations["a"] = "b"; }},
      {"0.7.0", [](Spec& spec) { spec.devices[0].edits.additional_gids = {44}; }},
      {"0.7.0", [](Spec& spec) { spec.edits.intel_rdt = IntelRdt{.clos_id = "a"}; }},
      {"1.1.0",
       [](Spec& spec) {
         spec.edits.net_devices = {{"eth0", "eth0"}};
       }},
  };
  Spec spec = plain_spec();
  for (const auto& [version, change] : steps) {
    change(spec);
    EXPECT_EQ(smallest_version(spec), version);
  }
}

TEST(CdiRules, EachBrokenRuleIsNamedWithItsMember) {
  const std::vector<std::pair<std::string, std::function<void(Spec&)>>> mistakes{
      {"cdiVersion: '9.0.0'", [](Spec& spec) { spec.version = "9.0.0"; }},
      {"needs at least 0.5.0", [](Spec& spec) { spec.version = "0.3.0"; }},
      {"kind: 'gpu'", [](Spec& spec) { spec.kind = "gpu"; }},
      {"kind: '1vidia.com/gpu'", [](Spec& spec) { spec.kind = "1vidia.com/gpu"; }},
      {"devices: there is no device", [](Spec& spec) { spec.devices.clear(); }},
      {"devices[0].name: 'a/b'", [](Spec& spec) { spec.devices[0].name = "a/b"; }},
      {"devices[0].name: 'a-'", [](Spec& spec) { spec.devices[0].name = "a-"; }},
      {"devices[1].name: '0' appears twice", [](Spec& spec) { spec.devices.push_back(spec.devices[0]); }},
      {"devices[0].containerEdits: is empty", [](Spec& spec) { spec.devices[0].edits = {}; }},
      {"containerEdits.env[0]: '=a'", [](Spec& spec) { spec.edits.env = {"=a"}; }},
      {"containerEdits.env[0]: 'a'", [](Spec& spec) { spec.edits.env = {"a"}; }},
      {"deviceNodes[0].path: is empty", [](Spec& spec) { spec.devices[0].edits.device_nodes[0].path = ""; }},
      {"deviceNodes[0].type: 'x'", [](Spec& spec) { spec.devices[0].edits.device_nodes[0].type = "x"; }},
      {"deviceNodes[0].permissions: 'rx'",
       [](Spec& spec) { spec.devices[0].edits.device_nodes[0].permissions = "rx"; }},
      {"hooks[0].hookName: 'whenever'",
       [](Spec& spec) {
         spec.edits.hooks = {{"whenever", "/a", {}, {}, {}}};
       }},
      {"hooks[0].path: is empty",
       [](Spec& spec) {
         spec.edits.hooks = {{"poststop", "", {}, {}, {}}};
       }},
      {"mounts[0].hostPath: is empty",
       [](Spec& spec) {
         spec.edits.mounts = {{"", "/a", {}, ""}};
       }},
      {"mounts[0].containerPath: is empty",
       [](Spec& spec) {
         spec.edits.mounts = {{"/a", "", {}, ""}};
       }},
      {"'a b' is not an annotation key",
       [](Spec& spec) {
         spec.annotations["a b"] = "";
         spec.version = "1.1.0";
       }},
      {"intelRdt.closID: 'a/b'",
       [](Spec& spec) {
         spec.edits.intel_rdt = IntelRdt{.clos_id = "a/b"};
         spec.version = "1.1.0";
       }},
  };
  ASSERT_TRUE(validate(plain_spec(), "").ok());
  for (const auto& [expected, spoil] : mistakes) {
    Spec spec = plain_spec();
    spoil(spec);
    const Status status = validate(spec, "x.yaml");
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_THAT(to_text(status.error()), HasSubstr(expected));
  }
}

TEST(CdiReader, RefusesWithThePlaceAndTheReason) {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"kind: a/b\nknid: x\n", "spec:2:1"},
      {"kind: a/b\nkind: a/b\n", "'kind' appears twice"},
      {"devices:\n  - name: 0\n", "put it in quotes"},
      {"devices: x\n", "devices is not a list"},
      {"devices: [{containerEdits: {deviceNodes: [{path: /a, major: x}]}}]\n", "major is not a whole number"},
      {"devices: [{containerEdits: {deviceNodes: [{path: /a, gid: -1}]}}]\n", "gid is not between"},
      {"a: b\n---\nc: d\n", "something follows the first"},
      {"[", "not YAML"},
      {"", "is empty"},
      {",", "is empty"},
      {"{kind: a/b},\n", "something follows the first"},
      {"a: b\n...\n,\n", "something follows the first"},
  };
  for (const auto& [text, expected] : texts) {
    const auto spec = parse(text, "spec");
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_THAT(to_text(spec.error()), HasSubstr(expected)) << text;
  }
}

TEST(CdiReader, TakesFileModesInOctalAsYamlHasThem) {
  const auto spec = parse("devices: [{containerEdits: {deviceNodes: [{path: /a, fileMode: 0666}]}}]", "spec");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->devices[0].edits.device_nodes[0].file_mode, 0666U);
}

TEST(CdiTidy, IsIdempotent) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same specs in every run
  for (int i = 0; i < kRounds; ++i) {
    const Spec before = random_spec(random);
    Spec spec = before;
    finish(spec, true);
    Spec again = spec;
    finish(again, true);
    ASSERT_EQ(again, spec);
    ASSERT_TRUE(validate(spec, "").ok());
    for (const Device& device : before.devices) {
      const Device* kept = spec.find(device.name);
      ASSERT_NE(kept, nullptr);
      for (const DeviceNode& node : device.edits.device_nodes)
        ASSERT_TRUE(
            std::ranges::count(kept->edits.device_nodes, node) + std::ranges::count(spec.edits.device_nodes, node) == 1)
            << node.path;
    }
  }
}

TEST(CdiTidy, SortsByDepthThenPathAndAllHoldsEveryDevice) {
  Spec spec = plain_spec();
  const auto node = [](const std::string& path, int minor) {
    return DeviceNode{path, "", "", 195, minor, {}, "", {}, {}};
  };
  spec.devices.push_back({"1", {}, {{}, {node("/dev/dri/card1", 1), node("/dev/nvidia1", 1)}, {}, {}, {}, {}, {}}});
  finish(spec, true);
  const Device* all = spec.find("all");
  ASSERT_NE(all, nullptr);
  std::vector<std::string> paths;
  for (const DeviceNode& each : all->edits.device_nodes) paths.push_back(each.path);
  EXPECT_THAT(paths, testing::ElementsAre("/dev/nvidia0", "/dev/nvidia1", "/dev/dri/card1"));
}

TEST(CdiRoot, MovesHostPathsAtComponentBordersOnly) {
  EXPECT_EQ(with_root("/run/nvidia/driver/usr", "/run/nvidia/driver", "/"), "/usr");
  EXPECT_EQ(with_root("/run/nvidia/driver2/usr", "/run/nvidia/driver", "/"), "/run/nvidia/driver2/usr");
  EXPECT_EQ(with_root("/run/nvidia/driver", "/run/nvidia/driver/", "/"), "/");
  EXPECT_EQ(with_root("/usr", "/", "/host"), "/host/usr");
  Spec spec = plain_spec();
  spec.edits.hooks = {{"createContainer", "/r/hook", {"hook", "/r/x"}, {}, {}},
                      {"startContainer", "/r/hook", {}, {}, {}}};
  spec.edits.mounts = {{"/r/lib", "/r/lib", {}, ""}};
  move_host_root(spec, "/r", "/n");
  EXPECT_EQ(spec.edits.hooks[0].path, "/n/hook");
  EXPECT_EQ(spec.edits.hooks[0].args[1], "/r/x");
  EXPECT_EQ(spec.edits.hooks[1].path, "/r/hook");
  EXPECT_EQ(spec.edits.mounts[0].host_path, "/n/lib");
  EXPECT_EQ(spec.edits.mounts[0].container_path, "/r/lib");
  EXPECT_EQ(spec.devices[0].edits.device_nodes[0].host_path, "");
}

}  // namespace
}  // namespace slipway::nvidia::cdi
