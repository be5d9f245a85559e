// SPDX-License-Identifier: Apache-2.0
// Variables and settings of NVIDIA's container toolkit: honoured, or refused by name; engines that are left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

using testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the machine of containerd 1.7, with slipway-runtime.
FakeHost node() {
  FakeHost host;
  be_node(host);
  install(host, "containerd", "containerd.io", "1.7.20-1");
  host.file("/usr/bin/slipway-runtime", "x", 0755);
  return host;
}

Json with_env(const Json& env) { return {{"env", env}}; }

std::string plan_text(const FakeHost& host, const Json& section) {
  const auto plan = plan_of(host, runtime_spec(section));
  if (!plan) return to_text(plan.error());
  std::string text = testing::summary(*plan);
  for (const std::string& note : plan->notes()) text += "note: " + note + "\n";
  return text;
}

TEST(RuntimeVariables, ThatForbidTouchingTheEngineNeverPlanAnEdit) {
  EXPECT_THAT(plan_text(node(), Json::object()), HasSubstr("/etc/containerd/config.toml"));
  for (const Json& section : {with_env({{"NO_RUNTIME_CONFIG", "true"}}), Json{{"engines", Json::array()}}}) {
    const std::string text = plan_text(node(), section);
    EXPECT_THAT(text, Not(HasSubstr("containerd"))) << section;
    EXPECT_THAT(text, HasSubstr("no engine is configured")) << section;
  }
  EXPECT_THAT(plan_text(node(), with_env({{"NO_RUNTIME_CONFIG", "false"}})), HasSubstr("/etc/containerd/config.toml"));
}

TEST(RuntimeVariables, ThatContradictTheSpecAreAnError) {
  EXPECT_THAT(plan_text(node(), {{"engines", {"containerd"}}, {"env", {{"NO_RUNTIME_CONFIG", "true"}}}}),
              HasSubstr("NO_RUNTIME_CONFIG=true keeps slipway from changing any engine, but `engines` names some"));
  EXPECT_THAT(plan_text(node(), {{"engines", Json::array()}, {"set_as_default", true}}),
              HasSubstr("set_as_default has no effect, since `engines: []` keeps slipway from changing any engine"));
}

TEST(RuntimeVariables, SetTheSettingsOfTheToolkit) {
  Json section{{"engines", Json::array()},
               {"disable_require", true},
               {"no_cgroups", true},
               {"disable_cuda_compat_lib_hook", true},
               {"log_level", "debug"},
               {"env",
                {{"ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "false"},
                 {"ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS", "true"},
                 {"NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL", "error"},
                 {"NVIDIA_CONTAINER_RUNTIME_RUNTIMES", "crun, runc"},
                 {"NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES", "ignore-imex-channel-requests"}}}};
  EXPECT_EQ(set_of(node(), runtime_spec(section)),
            Json({{"disable-require", true},
                  {"accept-nvidia-visible-devices-envvar-when-unprivileged", false},
                  {"accept-nvidia-visible-devices-as-volume-mounts", true},
                  {"nvidia-container-cli", {{"no-cgroups", true}}},
                  {"nvidia-container-runtime", {{"log-level", "debug"}, {"runtimes", {"crun", "runc"}}}},
                  {"features", {{"disable-cuda-compat-lib-hook", true}, {"ignore-imex-channel-requests", true}}}}));
}

TEST(RuntimeVariables, WithoutAProgramThatReadsTheSettingsAreAnErrorForKeysAndANoteForVariables) {
  FakeHost host;
  be_node(host);
  install(host, "containerd", "containerd.io", "2.1.4-1");
  EXPECT_THAT(plan_text(host, {{"disable_require", true}}), HasSubstr("disable_require has no effect here"));
  EXPECT_THAT(plan_text(host, with_env({{"ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS", "true"}})),
              HasSubstr("note: ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS has no effect here"));
}

TEST(RuntimeVariables, OfNriAreReplacedByKeys) {
  EXPECT_THAT(plan_text(node(), with_env({{"ENABLE_NRI_PLUGIN", "true"}})), HasSubstr("`mode: nri`"));
  const Json both{{"mode", "nri"},
                  {"nri_socket", "/s"},
                  {"env", {{"ENABLE_NRI_PLUGIN", "true"}, {"NRI_SOCKET", "/s"}, {"NRI_NAMESPACE", "gpu-operator"}}}};
  const auto settings = read_settings(Spec(both), [](const std::string&) { return std::string(); });
  ASSERT_TRUE(settings.ok()) << to_text(settings.error());
  EXPECT_EQ(settings->requests,
            Json::parse(R"([{"namespaces": ["gpu-operator"], "devices": ["management.nvidia.com/gpu=*"]}])"));
  Json other = both;
  other["nri_socket"] = "/t";
  EXPECT_FALSE(read_settings(Spec(other), [](const std::string&) { return std::string(); }));
}

TEST(RuntimeVariables, ThatAreRefusedOrMisspeltAreNamed) {
  const auto error = plan_of(node(), runtime_spec(with_env({{"RUNTIME_CONFIG_OVERRIDE", "{\"a\": 1}"}})));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::usage);
  EXPECT_EQ(error.error().where, "spec.components.runtime.env.RUNTIME_CONFIG_OVERRIDE");
  EXPECT_THAT(plan_text(node(), with_env({{"RUNTIME_CONFIG_OVERRIDE", "{}"}})), Not(HasSubstr("OVERRIDE")));
  EXPECT_THAT(plan_text(node(), with_env({{"NO_RUNTIME_CONFG", "true"}})),
              HasSubstr("has no such variable, so slipway ignores it; did you mean 'NO_RUNTIME_CONFIG'?"));
  EXPECT_THAT(plan_text(node(), with_env({{"TOOLKIT_PID_FILE", "/run/nvidia/toolkit/toolkit.pid"}})),
              HasSubstr("TOOLKIT_PID_FILE has no effect: "));
  EXPECT_THAT(plan_text(node(), with_env({{"NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES", "allow-ldconfig"}})),
              HasSubstr("which NVIDIA's toolkit does not have"));
  EXPECT_THAT(
      plan_text(node(), with_env({{"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND", "management.nvidia.com/gpu"}})),
      HasSubstr("management devices, which only rules may allow"));
}

TEST(RuntimeVariables, LetThePlanReportUnusedConfigToml) {
  FakeHost host = node();
  host.file("/etc/nvidia-container-runtime/config.toml",
            "disable-require = false\ndisable-requir = true\n[nvidia-container-cli]\nldcache = \"/x\"\n"
            "ldconfig = \"@/sbin/ldconfig\"\n");
  const std::string text = plan_text(host, Json::object());
  EXPECT_THAT(text, HasSubstr("has the key disable-requir, which is not a setting of NVIDIA's toolkit; did you mean "
                              "'disable-require'?"));
  EXPECT_THAT(text,
              HasSubstr("nvidia-container-cli.ldcache in /etc/nvidia-container-runtime/config.toml has no effect"));
  EXPECT_THAT(text, Not(HasSubstr("ldconfig")));
}

// Before the fix, slipway-runtime refused every container then, while plan, verify and doctor passed.
TEST(RuntimeVariables, HaveThePlanRefuseAConfigTomlThatSlipwayRuntimeCannotRead) {
  FakeHost host = node();
  const std::string path = "/etc/nvidia-container-runtime/config.toml";
  host.file(path, "[nvidia-container-runtime]\nruntimes = \"runc\"\n");
  const Json wrong = Json::object();
  EXPECT_THAT(plan_text(host, wrong), HasSubstr("nvidia-container-runtime.runtimes is not a list of texts"));
  EXPECT_THAT(plan_text(host, wrong), HasSubstr(path));
  const auto findings = Runtime().verify(runtime_spec(), host);
  ASSERT_TRUE(findings.ok()) << to_text(findings.error());
  EXPECT_FALSE(findings->passed());
  host.file(path, "[nvidia-container-runtime]\nmode = \"volume\"\n");
  EXPECT_THAT(plan_text(host, wrong), HasSubstr("nvidia-container-runtime.mode is not one of auto, cdi"));
  EXPECT_THAT(plan_text(host, with_env({{"NVIDIA_CONTAINER_RUNTIME_MODE", "cdi"}})), Not(HasSubstr("is not one of")))
      << "the plan puts it right";
}

// Before the fix, the plan that switched jit-cdi on reported the file's jit-cdi keys as unused, and the other way
// round.
TEST(RuntimeVariables, HaveThePlanJudgeConfigTomlAsThePlanMakesIt) {
  FakeHost host = node();
  const std::string flags = "[nvidia-container-runtime.modes.jit-cdi]\nnvcdi-feature-flags = [\"x\"]\n";
  host.file("/etc/nvidia-container-runtime/config.toml", flags);
  const Json makes = with_env({{"NVIDIA_CONTAINER_RUNTIME_MODE", "jit-cdi"}});
  EXPECT_THAT(plan_text(host, Json::object()), HasSubstr("the mode is not jit-cdi"));
  EXPECT_THAT(plan_text(host, makes), Not(HasSubstr("note: ")));
  host.file("/etc/nvidia-container-runtime/config.toml", "[nvidia-container-runtime]\nmode = \"jit-cdi\"\n" + flags);
  EXPECT_THAT(plan_text(host, Json::object()), Not(HasSubstr("note: ")));
  EXPECT_THAT(plan_text(host, with_env({{"NVIDIA_CONTAINER_RUNTIME_MODE", "cdi"}})),
              HasSubstr("the mode is not jit-cdi"));
}

TEST(RuntimeVariables, ThatAreRefusedAreRefusedInTheEnvironmentOfTheProcessToo) {
  const auto with = [](const std::string& name, const std::string& value, const Json& section = Json::object()) {
    const auto settings =
        read_settings(runtime_spec(section), [&](const std::string& asked) { return asked == name ? value : ""; });
    return settings ? std::string("taken") : to_text(settings.error());
  };
  EXPECT_THAT(with("CDI_OUTPUT_DIR", "/srv/cdi"), HasSubstr("CDI_OUTPUT_DIR=/srv/cdi asks for something"));
  EXPECT_THAT(with("CDI_OUTPUT_DIR", "/srv/cdi"), HasSubstr("environment.CDI_OUTPUT_DIR"));
  EXPECT_EQ(with("CDI_OUTPUT_DIR", "/var/run/cdi"), "taken") << "the default of NVIDIA's program";
  EXPECT_EQ(with("ROOT", "/x"), "taken") << "not needed, and perhaps not about slipway at all";
  EXPECT_THAT(with("ENABLE_NRI_PLUGIN", "true"), HasSubstr("`mode: nri`"));
  EXPECT_EQ(with("ENABLE_NRI_PLUGIN", "true", {{"mode", "nri"}}), "taken");
}

}  // namespace
}  // namespace slipway::toolkit
