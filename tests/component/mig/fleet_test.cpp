// SPDX-License-Identifier: Apache-2.0
// The offer to kubelet, and a layout in containers and labels, on nodes that share their GPUs differently.
#include "child.hpp"

namespace slipway {
namespace {

using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Number of ids by resource.
using Amounts = std::map<std::string, std::size_t>;

/// A node whose GPUs are partitioned and offered in one apply.
class FleetNode {
 public:
  /// @param sharing  for the device plugin's config; empty: none
  explicit FleetNode(const std::string& machine, const std::string& sharing = "")
      : profile_(machine + ",driver=535.261.03"),
        node_(profile_),
        config_("{version: v1, mig: {strategy: mixed}" + (sharing.empty() ? "" : ", sharing: " + sharing) + "}") {
    node_.host().put("usr/lib/x86_64-linux-gnu/libcuda.so.535.261.03", "");  // for the CDI spec
  }

  Ran apply(const std::string& mig) const {
    node_.host().spec("    mig: {" + mig + "}\n    cdi: {}\n    gfd: {mig_strategy: mixed, timestamp: false, config: " +
                      config_ + "}\n    deviceplugin: {config: " + config_ + "}\n");
    return node_.slipway({"apply"});
  }
  Amounts amounts() const {
    const std::string text = tool({"deviceplugin", "resources", "-o", "json"});
    const Json document = Json::parse(text, nullptr, false);
    EXPECT_TRUE(document.is_object()) << text;
    Amounts amounts;
    for (const Json& each : document.value("resources", Json::array())) amounts[each["name"]] = each["ids"].size();
    return amounts;
  }
  /// Counts the MIG devices in the CDI spec.
  std::size_t mig_devices() const {
    const std::string spec = node_.host().text("run/cdi/nvidia.com-gpu.yaml");
    std::size_t found = 0;
    for (std::size_t at = spec.find("name: MIG-"); at != std::string::npos; at = spec.find("name: MIG-", at + 1))
      ++found;
    return found;
  }
  std::string labels() const { return tool({"gfd", "labels", "--no-timestamp", "--mig-strategy", "mixed"}); }
  const MigNode& node() const { return node_; }

 private:
  std::string tool(std::vector<std::string> words) const {
    node_.host().folder().file("plugin.yaml", config_ + "\n");
    words.insert(words.end(), {"--config-file", node_.host().folder().at("plugin.yaml").string(), "--sim", profile_,
                               "--root", node_.host().folder().at("root").string()});
    const Ran ran = node_.host().bare(std::move(words));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  }

  std::string profile_;
  MigNode node_;
  std::string config_;
};

// Before the fix, mig ended as waiting, and later components kept their former plan: containers got devices that no
// longer existed until the specs were written again.
TEST(MigFleet, TheSpecHasTheDevicesOfTheGpusThatChangedWhileAnotherWaits) {
  const FleetNode node("h100x2");
  ASSERT_EQ(node.apply("config: all-1g.10gb").code, 0);
  ASSERT_EQ(node.mig_devices(), 14U);
  const slipway::testing::Child job;
  ASSERT_EQ(node.node().sim("process attach 0 " + job.pid() + " 10 compute trainer 9 0").code, 0);
  const Ran ran = node.apply("config: all-7g.80gb, drain: when-idle");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_EQ(node.node().instances(1).size(), 1U);
  EXPECT_EQ(node.mig_devices(), 7U + 1U) << ran.out;
}

TEST(MigFleet, AnA100Offers7Or3Or2Or1Instances) {
  const FleetNode node("a100-80x1");
  for (const auto& [profile, count] :
       std::map<std::string, std::size_t>{{"1g.10gb", 7}, {"2g.20gb", 3}, {"3g.40gb", 2}, {"7g.80gb", 1}}) {
    const Ran ran = node.apply("config: all-" + profile);
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_EQ(node.amounts(), (Amounts{{"nvidia.com/mig-" + profile, count}}));
    EXPECT_EQ(node.mig_devices(), count) << "the CDI spec follows in the same apply";
    EXPECT_THAT(node.labels(), HasSubstr("nvidia.com/mig-" + profile + ".count=" + std::to_string(count) + "\n"));
  }
  ASSERT_EQ(node.apply("config: all-disabled").code, 0);
  EXPECT_EQ(node.amounts(), (Amounts{{"nvidia.com/gpu", 1}}));
  EXPECT_EQ(node.mig_devices(), 0U);
}

TEST(MigFleet, TakesItsLayoutFromALabelFile) {
  const FleetNode node("a100-80x8");
  const std::string keys = "config: all-disabled, label_file: /run/slipway/node-labels, state_file: /run/mig-state";
  ASSERT_EQ(node.apply(keys).code, 0);
  EXPECT_EQ(node.amounts(), (Amounts{{"nvidia.com/gpu", 8}}));
  node.node().host().put("run/slipway/node-labels", "nvidia.com/mig.config=all-1g.10gb\n");
  const Ran ran = node.apply(keys);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(node.amounts(), (Amounts{{"nvidia.com/mig-1g.10gb", 56}}));
  EXPECT_EQ(node.mig_devices(), 56U);
  EXPECT_EQ(node.node().host().text("run/mig-state"), "nvidia.com/mig.config.state=success\n");
}

// Three nodes of one kind: instances, replicas of whole GPUs, replicas of instances.
TEST(MigFleet, EachNodeSharesItsGpusInItsOwnWay) {
  const FleetNode partitioned("a100-80x2");
  const FleetNode shared("a100-80x2", "{timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}");
  const FleetNode both("a100-80x2", "{timeSlicing: {resources: [{name: nvidia.com/mig-1g.10gb, replicas: 2}]}}");
  for (const auto& [node, config] : {std::pair(&partitioned, "config: all-1g.10gb"),
                                     {&shared, "config: all-disabled"},
                                     {&both, "config: all-balanced"}}) {
    const Ran ran = node->apply(config);
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  EXPECT_EQ(partitioned.amounts(), (Amounts{{"nvidia.com/mig-1g.10gb", 14}}));
  EXPECT_EQ(shared.amounts(), (Amounts{{"nvidia.com/gpu", 8}}));
  EXPECT_EQ(both.amounts(),
            (Amounts{{"nvidia.com/mig-1g.10gb", 8}, {"nvidia.com/mig-2g.20gb", 2}, {"nvidia.com/mig-3g.40gb", 2}}));
  EXPECT_THAT(partitioned.labels(), HasSubstr("nvidia.com/mig-1g.10gb.replicas=1\n"));
  EXPECT_THAT(shared.labels(), AllOf(HasSubstr("nvidia.com/gpu.replicas=4\n"), Not(HasSubstr("nvidia.com/mig-"))));
  EXPECT_THAT(both.labels(), AllOf(HasSubstr("nvidia.com/mig-1g.10gb.replicas=2\n"),
                                   HasSubstr("nvidia.com/mig-3g.40gb.replicas=1\n")));
}

}  // namespace
}  // namespace slipway
