// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::toolkit {
namespace {

using ::testing::HasSubstr;

Result<RuntimeSettings> read(const Json& section, const std::map<std::string, std::string>& process) {
  return read_settings(Spec(section), [&](const std::string& name) {
    const auto found = process.find(name);
    return found == process.end() ? std::string() : found->second;
  });
}

TEST(RuntimeSettings, RankKeysBeforeVariablesBeforeDefaults) {
  const std::map<std::string, std::string> process{{"CONTAINERD_CONFIG", "/process"}};
  const Json env{{"CONTAINERD_CONFIG", "/env"}};
  EXPECT_EQ(read({{"containerd_config", "/key"}, {"env", env}}, process)->place("containerd").config, "/key");
  EXPECT_EQ(read({{"env", env}}, process)->place("containerd").config, "/env");
  EXPECT_EQ(read(Json::object(), process)->place("containerd").config, "/process");
  const auto defaults = read(Json::object(), {});
  EXPECT_EQ(defaults->place("containerd").config, "");
  EXPECT_EQ(defaults->names, std::vector<std::string>{"nvidia"});
  EXPECT_TRUE(defaults->cdi && defaults->restart && !defaults->set_as_default && defaults->engines.empty());
}

TEST(RuntimeSettings, AcceptEveryUsefulVariableOfNvidiasInstaller) {
  const auto settings = read(Json::object(), {{"RUNTIME", "containerd"},
                                              {"RUNTIME_CONFIG", "/c"},
                                              {"CONTAINERD_CONFIG", "/not-this"},
                                              {"RUNTIME_DROP_IN_CONFIG", "/d.toml"},
                                              {"CONTAINERD_SOCKET", "/s"},
                                              {"RUNTIME_EXECUTABLE_PATH", "/p"},
                                              {"RUNTIME_RESTART_MODE", "none"},
                                              {"RUNTIME_ENABLE_CDI", "0"},
                                              {"CONTAINERD_RUNTIME_CLASS", "gpu"},
                                              {"CONTAINERD_SET_AS_DEFAULT", "true"},
                                              {"CONTAINERD_RUNTIME_TYPE", "t"}});
  ASSERT_TRUE(settings.ok()) << to_text(settings.error());
  const EnginePlace place = settings->place("containerd");
  EXPECT_EQ(place.config + place.drop_in + place.socket + place.program, "/c/d.toml/s/p");
  EXPECT_EQ(settings->engines, std::vector<std::string>{"containerd"});
  EXPECT_EQ(settings->names, std::vector<std::string>{"gpu"});
  EXPECT_TRUE(settings->set_as_default && !settings->cdi && !settings->restart);
  EXPECT_EQ(settings->runtime_type, "t");
  EXPECT_EQ(settings->place("docker").config, "") << "RUNTIME_CONFIG is about containerd";
}

TEST(RuntimeSettings, NameTheVariableThatIsInvalid) {
  EXPECT_THAT(to_text(read(Json::object(), {{"RUNTIME", "lxc"}}).error()), HasSubstr("the variable RUNTIME is 'lxc'"));
  EXPECT_THAT(to_text(read(Json::object(), {{"RUNTIME_ENABLE_CDI", "maybe"}}).error()), HasSubstr("true or false"));
  EXPECT_THAT(to_text(read(Json::object(), {{"DOCKER_CONFIG", "daemon.json"}}).error()), HasSubstr("an absolute path"));
  EXPECT_THAT(to_text(read(Json::object(), {{"RUNTIME_SOCKET", "/s"}}).error()),
              HasSubstr("which engine it applies to"));
}

TEST(RuntimeSettings, DoNotApplyToAnotherEngine) {
  const auto settings = read({{"engines", {"k3s"}}}, {{"RUNTIME_SOCKET", "/run/k3s/containerd/containerd.sock"}});
  EXPECT_EQ(settings->place("containerd").socket, "/run/k3s/containerd/containerd.sock");
  EXPECT_EQ(settings->place("crio").socket, "");
}

}  // namespace
}  // namespace slipway::toolkit
