// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <gmock/gmock.h>

#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

Json sick(const char* reason, const char* text) { return {{"healthy", false}, {"reason", reason}, {"text", text}}; }

Json status_of(const Json& first, const Json& mig = {{"index", 0}}) {
  return {{"gpus",
           {{{"index", 0U}, {"address", "0000:0b:00.0"}, {"health", first}, {"migDevices", Json::array({mig})}},
            {{"index", 1U}, {"address", "0000:1b:00.0"}, {"health", {{"healthy", true}}}}}}};
}

TEST(NodeProblem, AnswersAsCustomPluginsDo) {
  EXPECT_EQ(node_problem_of(status_of({{"healthy", true}}), {}).code, 0);
  const NodeProblem problem = node_problem_of(status_of(sick("xid-79", "XID 79: the GPU has fallen off the bus")), {});
  EXPECT_EQ(problem.code, 1);
  EXPECT_EQ(problem.line, "GPU 0 (0000:0b:00.0): XID 79: the GPU has fallen off the bus");
  for (const Json& broken : {Json(), Json("text"), Json::object(), Json{{"gpus", 3}}})
    EXPECT_EQ(node_problem_of(broken, {}).code, 2) << broken;
}

TEST(NodeProblem, CountsOnlyTheReasonsThatAreRequested) {
  const Json status = status_of(sick("xid-79", "XID 79"));
  EXPECT_EQ(node_problem_of(status, {"lost", "hangs"}).code, 0);
  EXPECT_EQ(node_problem_of(status, {"lost", "xid"}).code, 1);
  EXPECT_EQ(node_problem_of(status, {"xid-7"}).code, 0);
  EXPECT_EQ(node_problem_of(status, {"xid-79"}).code, 1);
}

TEST(NodeProblem, NamesAMigDeviceThatIsSickAlone) {
  const Json mig{{"index", 2U}, {"health", sick("xid-94", "XID 94")}};
  EXPECT_EQ(node_problem_of(status_of({{"healthy", true}}, mig), {}).line,
            "MIG device 2 of GPU 0 (0000:0b:00.0): XID 94");
}

TEST(NodeProblem, IsOneLineOfLimitedLength) {
  const NodeProblem problem = node_problem_of(status_of(sick("lost", (std::string(9000, 'x') + "\n").c_str())), {});
  EXPECT_EQ(problem.line.size(), 500U);
  EXPECT_EQ(node_problem_of(status_of(sick("lost", "a\nb\x1b")), {}).line, "GPU 0 (0000:0b:00.0): a b ");
  for (const Json& odd : {Json{{"index", -1}}, Json{{"health", 3}}, Json{{"health", {{"healthy", "no"}}}}, Json(7)})
    EXPECT_EQ(node_problem_of({{"gpus", Json::array({odd})}}, {}).code, 0) << odd;
}

TEST(NodeProblem, IsRequestedAsTheMonitorsConfigurationSays) {
  std::ifstream file(NODE_PROBLEM_MONITOR);
  const Json monitor = Json::parse(file, nullptr, false);
  ASSERT_TRUE(monitor.is_object());
  EXPECT_EQ(monitor["plugin"], "custom");
  EXPECT_GE(monitor["pluginConfig"]["max_output_length"].get<int>(), 500);
  for (const Json& rule : monitor["rules"]) {
    EXPECT_EQ(rule["args"][0], "deviceplugin");
    EXPECT_EQ(rule["args"][1], "node-problem");
    bool is_there = false;
    for (const Json& condition : monitor["conditions"]) is_there = is_there || condition["type"] == rule["condition"];
    EXPECT_TRUE(is_there) << rule;
  }
}

}  // namespace
}  // namespace slipway::deviceplugin
