// SPDX-License-Identifier: Apache-2.0
// The data that deviceplugin gets about kubelet's engine.
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

using testing::FakeHost;

Json outputs_of(const FakeHost& host, const Json& section = Json::object()) {
  const auto plan = plan_of(host, runtime_spec(section));
  EXPECT_TRUE(plan) << (plan ? "" : to_text(plan.error()));
  return plan ? plan->outputs() : Json();
}

FakeHost with_containerd(const std::string& version, const std::string& config = "") {
  FakeHost host;
  install(host, "containerd", "containerd", version);
  host.hardware("assume");
  if (!config.empty()) host.file(kConfig, config);
  return host;
}

TEST(RuntimeOutputs, EnableCdiForContainerd17AndLater) {
  EXPECT_EQ(outputs_of(with_containerd("1.7.24"))["cdi"], true);
  EXPECT_EQ(outputs_of(with_containerd("2.1.0"))["cdi"], true);
  const auto with_runtime = [](const std::string& version) {
    FakeHost host = with_containerd(version);
    host.file("/usr/bin/slipway-runtime", "x", 0755);
    return host;
  };
  EXPECT_EQ(outputs_of(with_runtime("1.7.24"), {{"cdi", false}})["cdi"], false);
  EXPECT_EQ(outputs_of(with_runtime("2.1.0"), {{"cdi", false}})["cdi"], true) << "it is on by default";
  EXPECT_EQ(outputs_of(with_runtime("1.6.20"))["cdi"], false);
}

TEST(RuntimeOutputs, HaveNoHandlerWhereNoProgramActsOnVariables) {
  FakeHost host = with_containerd("2.1.0");
  EXPECT_EQ(outputs_of(host)["handler"], "none");
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  EXPECT_EQ(outputs_of(host)["handler"], "class");
  EXPECT_EQ(outputs_of(host)["handlers"], "nvidia");
  EXPECT_EQ(outputs_of(host, {{"set_as_default", true}})["handler"], "default");
}

TEST(RuntimeOutputs, KnowADefaultHandlerOfTheUsers) {
  const FakeHost host = with_containerd("1.7.24",
                                        "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
                                        "default_runtime_name = \"gpu\"\n"
                                        "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.gpu.options]\n"
                                        "BinaryName = \"/usr/local/nvidia/toolkit/nvidia-container-runtime\"\n");
  EXPECT_EQ(outputs_of(host)["handler"], "default");
}

TEST(RuntimeOutputs, OfTheNriServiceAreADefaultHandler) {
  EXPECT_EQ(outputs_of(with_containerd("2.1.0"), {{"mode", "nri"}}), (Json{{"handler", "default"}}));
}

TEST(RuntimeOutputs, AreEmptyWithoutAConfiguredEngine) {
  EXPECT_EQ(outputs_of(with_containerd("2.1.0"), {{"engines", Json::array()}}), Json::object());
}

}  // namespace
}  // namespace slipway::toolkit
