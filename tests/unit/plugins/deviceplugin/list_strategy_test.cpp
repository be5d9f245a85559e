// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/list_strategy.hpp"

#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/text.hpp>

#include "deviceplugin/component.hpp"
#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FakeHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::settings_of;

struct EngineSays {
  Json cdi = true;
  std::string handler = "class";
  bool in_spec = true;  ///< whether the component runtime is in the spec
};

Json outputs_for(const EngineSays& engine, const std::string& kinds) {
  Json outputs = Json::object();
  if (engine.in_spec) outputs["runtime"] = {{"handler", engine.handler}, {"handlers", "nvidia"}};
  if (engine.in_spec && !engine.cdi.is_null()) outputs["runtime"]["cdi"] = engine.cdi;
  if (!kinds.empty()) outputs["cdi"] = {{"kinds", kinds}, {"absent_kinds", ""}, {"names", "index,uuid"}};
  return outputs;
}

FakeHost image_host() {
  FakeHost host;
  host.hardware("assume");
  return host;
}

/// @param config  of deviceplugin, as JSON
Result<Plan> planned(const Json& config, const EngineSays& engine, const FakeHost& host, bool with_cdi = true,
                     const std::string& kinds = "nvidia.com/gpu") {
  Json section{{"config", config},
               {"cdi_vendor", "nvidia.com"},
               {"kubelet_root", "/var/lib/kubelet"},
               {"driver_root", "/"},
               {"quiet_seconds", 30}};
  if (with_cdi) section["sections"]["cdi"] = Json::object();
  if (engine.in_spec) section["sections"]["runtime"] = Json::object();
  const DevicePlugin component;
  const Spec spec(section);
  const auto facts = component.detect(spec, host);
  EXPECT_TRUE(facts) << facts.error().what;
  return component.plan(spec, *facts, Inputs(Json{{"outputs", outputs_for(engine, with_cdi ? kinds : "")}}));
}

bool chose_cdi(const Result<Plan>& plan) {
  EXPECT_TRUE(plan) << (plan ? "" : to_text(plan.error()));
  return plan &&
         std::ranges::any_of(plan->actions(), [](const Action& action) { return action.target() == kDefaultsFile; });
}

std::string notes_in(const Result<Plan>& plan) { return plan ? joined(plan->notes(), "\n") : to_text(plan.error()); }

const Json kNothing{{"version", "v1"}};
Json with_strategy(const std::string& strategy) {
  return {{"version", "v1"}, {"flags", {{"plugin", {{"deviceListStrategy", strategy}}}}}};
}

TEST(ListStrategy, IsCdiWhereSpecEngineAndKubeletHaveIt) {
  EXPECT_TRUE(chose_cdi(planned(kNothing, {}, image_host())));
  EXPECT_FALSE(chose_cdi(planned(kNothing, {}, image_host(), false))) << "no component cdi";
  EXPECT_FALSE(chose_cdi(planned(kNothing, {.cdi = false}, image_host())));
  EXPECT_FALSE(chose_cdi(planned(kNothing, {.cdi = nullptr, .handler = "default"}, image_host())))
      << "nothing is known";
  EXPECT_FALSE(chose_cdi(planned(kNothing, {}, image_host(), true, "nvidia.com/gds"))) << "its specs have no GPU";
  EXPECT_FALSE(chose_cdi(planned(with_strategy("envvar"), {}, image_host()))) << "the config says so";
}

TEST(ListStrategy, FallsBackWhereKubeletIsTooOldAndSaysSo) {
  FakeHost host = image_host();
  host.file("/var/lib/dpkg/status", "Package: kubelet\nStatus: install ok installed\nVersion: 1.27.4-00\n");
  const auto plan = planned(kNothing, {}, host);
  EXPECT_FALSE(chose_cdi(plan));
  EXPECT_THAT(notes_in(plan),
              HasSubstr("deviceListStrategy is envvar, since kubelet 1.27.4-00 does not support CDI devices"));
}

// Before the fix, pods ran without a GPU on containerd 2.1, without a message.
TEST(ListStrategy, OfVariablesIsAnErrorWhereNoHandlerActsOnThem) {
  const auto refused = planned(with_strategy("envvar"), {.cdi = true, .handler = "none"}, image_host());
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_text(refused.error()),
              AllOf(HasSubstr("no handler of the container engine acts on that"),
                    HasSubstr("config.flags.plugin.deviceListStrategy"), HasSubstr("set deviceListStrategy: cdi-cri")));
  const auto by_default = planned(kNothing, {.cdi = true, .handler = "none"}, image_host(), false);
  ASSERT_FALSE(by_default);
  EXPECT_THAT(to_text(by_default.error()), HasSubstr("add cdi: {} to the spec's components"));
  EXPECT_TRUE(chose_cdi(planned(kNothing, {.cdi = true, .handler = "none"}, image_host())));
}

TEST(ListStrategy, OfVariablesIsANoteWhereAHandlerOfARuntimeClassActsOnThem) {
  EXPECT_THAT(notes_in(planned(with_strategy("envvar"), {}, image_host())),
              AllOf(HasSubstr("pods need a RuntimeClass"), HasSubstr("runtimeClassName: nvidia")));
  for (const auto& [strategy, handler] : {std::pair{"envvar", "default"}, {"cdi-annotations", "class"}, {"envvar", ""}})
    EXPECT_THAT(notes_in(planned(with_strategy(strategy), {.cdi = true, .handler = handler}, image_host())),
                Not(HasSubstr("RuntimeClass")))
        << strategy << " " << handler;
}

// Before the fix, a plan without the component runtime had no note, and pods got no GPU unless the user had configured
// the engine.
TEST(ListStrategy, OfVariablesIsANoteWhereTheEngineIsUnknown) {
  const std::string without_both = notes_in(planned(kNothing, {.in_spec = false}, image_host(), false));
  EXPECT_THAT(without_both,
              AllOf(HasSubstr("deviceListStrategy is envvar, since the component runtime is not in the spec"),
                    HasSubstr("add runtime: {} and cdi: {} to the spec's components")));
  EXPECT_THAT(notes_in(planned(kNothing, {.in_spec = false}, image_host())),
              HasSubstr("add runtime: {} to the spec's components"));
  EXPECT_THAT(notes_in(planned(with_strategy("envvar"), {.in_spec = false}, image_host())), IsEmpty())
      << "it was chosen";
  EXPECT_THAT(notes_in(planned(kNothing, {.handler = "default"}, image_host(), false)), IsEmpty());
}

// Before the fix, the advice was "Add cdi: {} to the components", where it was already.
TEST(ListStrategy, OfVariablesNamesAUsableRemedy) {
  FakeHost old = image_host();
  old.file("/var/lib/dpkg/status", "Package: kubelet\nStatus: install ok installed\nVersion: 1.27.4-00\n");
  const std::string class_alone = "set_as_default: true in spec.components.runtime, or ";
  EXPECT_THAT(notes_in(planned(kNothing, {}, image_host(), false)), HasSubstr(class_alone + "add cdi: {}"));
  EXPECT_THAT(notes_in(planned(kNothing, {}, old)), HasSubstr(class_alone + "update kubelet"));
  EXPECT_THAT(notes_in(planned(kNothing, {.cdi = false}, image_host())),
              HasSubstr(class_alone + "switch CDI on in the engine (cdi: true in spec.components.runtime)"));
  EXPECT_THAT(notes_in(planned(kNothing, {}, image_host(), true, "nvidia.com/gds")),
              HasSubstr(class_alone + "let spec.components.cdi write specs of the GPUs"));
  EXPECT_THAT(notes_in(planned(with_strategy("envvar"), {}, image_host())),
              HasSubstr(class_alone + "set deviceListStrategy: cdi-cri"));
  const auto refused = planned(kNothing, {.handler = "none"}, old);
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_text(refused.error()), AllOf(HasSubstr("CDI is not an alternative, since kubelet 1.27.4-00"),
                                              HasSubstr("update kubelet"), Not(HasSubstr("add cdi"))));
}

TEST(ListStrategy, OfTheServiceFollowsThePlanIfKubeletSupportsIt) {
  FakeHost host;
  auto settings = settings_of("version: v1");
  ListStrategyChoice choice(host, "/var/lib/kubelet");
  choice.apply(*settings);
  EXPECT_EQ(settings->list_strategies, std::set{ListStrategy::envvar}) << "no plan chose otherwise";
  host.file(kDefaultsFile, R"({"kind": "DevicePluginDefaults", "deviceListStrategy": "cdi-cri"})");
  choice.apply(*settings);
  EXPECT_EQ(settings->list_strategies, std::set{ListStrategy::cdi_cri}) << "there is no kubelet yet";
  EXPECT_EQ(settings->fallback, "");
  host.file("/var/lib/dpkg/status", "Package: kubelet\nStatus: install ok installed\nVersion: 1.26.0-00\n");
  auto later = settings_of("version: v1");
  choice.apply(*later);
  EXPECT_EQ(later->list_strategies, std::set{ListStrategy::envvar});
  EXPECT_THAT(later->fallback, HasSubstr("deviceListStrategy is envvar instead of cdi-cri: kubelet 1.26.0-00"));
  auto given = settings_of("flags: {plugin: {deviceListStrategy: volume-mounts}}");
  choice.apply(*given);
  EXPECT_EQ(given->list_strategies, std::set{ListStrategy::volume_mounts});
}

// A program is run once, however often the config is read.
TEST(ListStrategy, OfTheServiceChecksANewKubeletAgain) {
  FakeHost host;
  host.live("6.1.0-50-amd64").file(kDefaultsFile, R"({"deviceListStrategy": "cdi-cri"})");
  host.file("/usr/bin/kubelet", "", 0755);
  host.answers({"/usr/bin/kubelet", "--version"}, {.exit_status = 0, .output = "Kubernetes v1.27.0\n"});
  ListStrategyChoice choice(host, "/var/lib/kubelet");
  for (int i = 0; i < 3; ++i) {
    auto settings = settings_of("version: v1");
    choice.apply(*settings);
    EXPECT_EQ(settings->list_strategies, std::set{ListStrategy::envvar});
  }
  EXPECT_EQ(host.ran().size(), 1U);
  host.file("/var/lib/kubelet/device-plugins/kubelet.sock", "");
  auto settings = settings_of("version: v1");
  choice.apply(*settings);
  EXPECT_EQ(host.ran().size(), 2U) << "kubelet has come up";
}

}  // namespace
}  // namespace slipway::deviceplugin
