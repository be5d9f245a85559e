// SPDX-License-Identifier: Apache-2.0
// `env` of the component gfd: the variables of gpu-feature-discovery, with their meaning.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "gfd/labels/config.hpp"
#include "nvidia/config/config_choice.hpp"

namespace slipway::gfd {
namespace {

using ::testing::HasSubstr;

Result<Config> with(const Json& env, const Json& more = Json::object()) {
  const slipway::testing::FakeHost host;
  Json section{
      {"config", {{"version", "v1"}, {"flags", {{"migStrategy", "single"}, {"gfd", {{"noTimestamp", true}}}}}}},
      {"env", env}};
  section.update(more);
  return config_of(Spec(section), host);
}

TEST(DiscoveryVariables, OverrideTheConfigButNotTheKeys) {
  const Json env{{"GFD_MIG_STRATEGY", "mixed"},      {"MIG_STRATEGY", "none"},
                 {"GFD_NO_TIMESTAMP", "false"},      {"GFD_SLEEP_INTERVAL", "90s"},
                 {"GFD_OUTPUT_FILE", "/srv/labels"}, {"GFD_MACHINE_TYPE_FILE", "/srv/machine"},
                 {"FAIL_ON_INIT_ERROR", "true"}};
  const auto config = with(env);
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_EQ(config->mig_strategy, MigStrategy::mixed);
  EXPECT_TRUE(config->timestamp && config->fail_on_init_error);
  EXPECT_EQ(config->interval, std::chrono::seconds(90));
  EXPECT_EQ(config->output + config->machine_type_file, "/srv/labels/srv/machine");
  const auto keys = with(env, {{"mig_strategy", "single"}, {"output", "/key"}});
  EXPECT_EQ(keys->mig_strategy, MigStrategy::single);
  EXPECT_EQ(keys->output, "/key");
}

TEST(DiscoveryVariables, ThatAreRefusedOrWrongAreNamed) {
  EXPECT_THAT(to_text(with({{"GFD_ONESHOT", "true"}}).error()), HasSubstr("`interval: infinite`"));
  EXPECT_THAT(to_text(with({{"USE_NODE_FEATURE_API", "true"}}).error()), HasSubstr("USE_NODE_FEATURE_API=true"));
  EXPECT_TRUE(with({{"USE_NODE_FEATURE_API", "false"}, {"GFD_ONESHOT", "false"}}));
  EXPECT_THAT(to_text(with({{"GFD_SLEEP_INTERVAL", "soon"}}).error()), HasSubstr("'soon' is not an interval"));
  EXPECT_THAT(to_text(with({{"GFD_NO_TIMESTAMP", "perhaps"}}).error()), HasSubstr("GFD_NO_TIMESTAMP"));
}

// Before the fix, the message for variables that deviceplugin has too lacked the line of the spec.
TEST(DiscoveryVariables, ThatAreInvalidAreNamedWithTheirPlace) {
  for (const std::string name : {"MIG_STRATEGY", "GFD_MIG_STRATEGY", "FAIL_ON_INIT_ERROR", "GFD_SLEEP_INTERVAL"})
    EXPECT_EQ(with({{name, "wrong"}}).error().where, "spec.components.gfd.env." + name);
}

// Before the fix, a variable in a drop-in of the service's unit had no effect, without a message.
TEST(DiscoveryVariables, OfTheServicesEnvironmentRankBelowThoseOfTheSpec) {
  static std::map<std::string, std::string> process;
  const auto variable = [](const char* name) -> const char* {
    const auto found = process.find(name);
    return found == process.end() ? nullptr : found->second.c_str();
  };
  const auto in_force = [&](const Json& env) -> Result<Config> {
    const slipway::testing::FakeHost host;
    const Spec spec(Json{{"env", env}});
    SLIPWAY_TRY(settings, nvidia::config::read_settings(spec, "gfd", host, variable));
    return config_of(spec, settings, variable);
  };
  process = {{"GFD_MIG_STRATEGY", "single"}, {"GFD_SLEEP_INTERVAL", "90s"}, {"FAIL_ON_INIT_ERROR", "true"}};
  const auto config = in_force({{"GFD_SLEEP_INTERVAL", "30s"}});
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_EQ(config->mig_strategy, MigStrategy::single);
  EXPECT_EQ(config->interval, std::chrono::seconds(30));
  EXPECT_TRUE(config->fail_on_init_error);
  process = {{"GFD_SLEEP_INTERVAL", "soon"}};
  EXPECT_THAT(to_text(in_force(Json::object()).error()), HasSubstr("environment.GFD_SLEEP_INTERVAL"));
  // Before the fix, the service wrote to a path that its unit does not allow, and the plan owned another file.
  process = {{"GFD_OUTPUT_FILE", "/srv/labels"}};
  EXPECT_THAT(to_text(in_force(Json::object()).error()),
              ::testing::AllOf(HasSubstr("environment.GFD_OUTPUT_FILE"), HasSubstr("write output in the spec's gfd")));
  EXPECT_EQ(in_force({{"GFD_OUTPUT_FILE", "/srv/spec"}}).value().output, "/srv/spec");
  process = {{"USE_NODE_FEATURE_API", "true"}};
  EXPECT_THAT(to_text(in_force(Json::object()).error()), HasSubstr("environment.USE_NODE_FEATURE_API"));
}

}  // namespace
}  // namespace slipway::gfd
