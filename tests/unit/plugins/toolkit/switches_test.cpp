// SPDX-License-Identifier: Apache-2.0
// Every switch of NVIDIA's programs: the code does what docs/nvidia-switches.md says.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/text.hpp>

#include "gfd/labels/config.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/variables.hpp"
#include "toolkit/runtime/settings.hpp"
#include "toolkit/runtime/toolkit_config.hpp"
#include "toolkit/runtime/variables.hpp"

namespace slipway {
namespace {

using nvidia::Switch;
using Treatment = nvidia::Switch::Treatment;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string text_of(const std::string& path) {
  std::ifstream in(SLIPWAY_SOURCE_DIR "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Returns the rows of a section's table: the last cell by a switch's name.
std::map<std::string, std::string> section(const std::string& heading) {
  std::map<std::string, std::string> rows;
  bool inside = false;
  for (const std::string& line : lines_of(text_of("docs/nvidia-switches.md"))) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    const auto cells = split(line, '|');
    std::string name(trimmed(cells.at(1)));
    std::erase(name, '`');
    EXPECT_TRUE(rows.emplace(name, trimmed(cells.at(cells.size() - 2))).second) << name << " appears twice";
  }
  EXPECT_FALSE(rows.empty()) << heading;
  return rows;
}

std::string what_the_code_says(const Switch& one) {
  if (one.treatment == Treatment::refused) return "refused: " + std::string(one.reason);
  if (one.treatment == Treatment::needless) return "not needed: " + std::string(one.reason);
  return one.key.empty() ? "honoured" : "key `" + std::string(one.key) + "`";
}

void expect_documented(std::span<const Switch> switches, const std::string& heading) {
  auto rows = section(heading);
  for (const Switch& one : switches) {
    const auto row = rows.find(std::string(one.name));
    ASSERT_NE(row, rows.end()) << one.name << " is not in the section " << heading;
    EXPECT_EQ(row->second, what_the_code_says(one)) << one.name;
    rows.erase(row);
  }
  for (const auto& [name, row] : rows) ADD_FAILURE() << "the section " << heading << " has a row more: " << name;
}

/// True when the manifest of a plugin has a key of that name.
bool has_key(const std::string& manifest, const std::string& key) {
  return text_of("plugins/" + manifest).find("\n  " + key + ":\n") != std::string::npos;
}

TEST(SwitchTable, MatchesTheCodeForEachSwitch) {
  expect_documented(toolkit::installer_variables(), "nvidia-ctk-installer");
  expect_documented(toolkit::toolkit_config_keys(), "config.toml");
  expect_documented(nvidia::config::plugin_variables(), "nvidia-device-plugin");
  expect_documented(nvidia::config::discovery_variables(), "gpu-feature-discovery");
}

TEST(SwitchTable, NamesKeysThatExist) {
  const std::map<std::string, std::string> manifests{
      {"nvidia-ctk-installer", "toolkit/toolkit.component.yaml"},
      {"config.toml", "toolkit/toolkit.component.yaml"},
      {"nvidia-device-plugin", "deviceplugin/deviceplugin.component.yaml"},
      {"gpu-feature-discovery", "gfd/gfd.component.yaml"},
      {"nvidia-mig-manager", "mig/mig.component.yaml"},
      {"nvidia-validator", "validator/validator.component.yaml"}};
  for (const auto& [heading, manifest] : manifests)
    for (const auto& [name, what] : section(heading)) {
      EXPECT_THAT(what, AnyOf(StartsWith("key `"), StartsWith("refused: "), StartsWith("not needed: "), "honoured"))
          << name;
      if (what.starts_with("key `")) {
        EXPECT_TRUE(has_key(manifest, what.substr(5, what.size() - 6))) << manifest << " has not the key of " << name;
      }
    }
}

TEST(SwitchTable, NamesOptionsOfTheMigTool) {
  const std::string tools = text_of("plugins/mig/tools/tools.cpp");
  for (const auto& [name, what] : section("nvidia-mig-parted"))
    if (!what.starts_with("not needed: ")) {
      EXPECT_THAT(what, StartsWith("`slipway mig ")) << name;
      EXPECT_THAT(tools, HasSubstr("\"" + name + "\"")) << name;
    }
}

// --- each honoured switch changes the settings in use

const std::map<std::string, std::string>& samples() {
  static const std::map<std::string, std::string> values{
      {"NO_RUNTIME_CONFIG", "true"},
      {"NRI_NAMESPACE", "gpu-operator"},
      {"NRI_MANAGEMENT_CDI_DEVICE_NAMESPACES", "lab"},
      {"RUNTIME", "containerd"},
      {"NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL", "warning"},
      {"NVIDIA_CONTAINER_RUNTIME_MODE", "cdi"},
      {"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND", "acme.com/gpu"},
      {"ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "false"},
      {"ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS", "true"},
      {"CDI_ENABLED", "false"},
      {"ENABLE_CDI", "false"},
      {"RUNTIME_ENABLE_CDI", "false"},
      {"NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES", "disable-cuda-compat-lib-hook"},
      {"RUNTIME_DROP_IN_CONFIG", "/d.toml"},
      {"RUNTIME_RESTART_MODE", "none"},
      {"NVIDIA_RUNTIME_NAME", "gpu"},
      {"CONTAINERD_RUNTIME_CLASS", "gpu"},
      {"DOCKER_RUNTIME_NAME", "gpu"},
      {"NVIDIA_RUNTIME_SET_AS_DEFAULT", "true"},
      {"CONTAINERD_SET_AS_DEFAULT", "true"},
      {"DOCKER_SET_AS_DEFAULT", "true"},
      {"CONTAINERD_RUNTIME_TYPE", "t"},
      {"MIG_STRATEGY", "mixed"},
      {"FAIL_ON_INIT_ERROR", "true"},
      {"PASS_DEVICE_SPECS", "true"},
      {"DEVICE_LIST_STRATEGY", "cdi-cri"},
      {"DEVICE_ID_STRATEGY", "index"},
      {"GDRCOPY_ENABLED", "true"},
      {"GDS_ENABLED", "true"},
      {"MOFED_ENABLED", "true"},
      {"SHARED_DEVICES_ALLOCATION_POLICY", "packed"},
      {"IMEX_CHANNEL_IDS", "0"},
      {"IMEX_REQUIRED", "true"},
      {"GFD_MIG_STRATEGY", "mixed"},
      {"GFD_FAIL_ON_INIT_ERROR", "true"},
      {"GFD_NO_TIMESTAMP", "true"},
      {"GFD_SLEEP_INTERVAL", "90s"},
      {"DP_DISABLE_HEALTHCHECKS", "63"},
      {"DP_ENABLE_HEALTHCHECKS", "all"}};
  return values;
}

std::string sample(const Switch& one) {
  const auto found = samples().find(std::string(one.name));
  return found == samples().end() ? "/srv/sample" : found->second;
}

/// Returns all settings in use, or an error's text.
std::string in_force(const Json& spec, const std::map<std::string, std::string>& process = {}) {
  const auto settings = toolkit::read_settings(Spec(spec), [&](const std::string& name) {
    const auto found = process.find(name);
    return found == process.end() ? std::string() : found->second;
  });
  if (!settings) return "error: " + to_text(settings.error());
  std::string text = canonical(Json(*settings)) + joined(settings->engines);
  for (const auto& [engine, place] : settings->places)
    text += engine + place.config + place.drop_in + place.socket + place.program;
  return text;
}

TEST(SwitchTable, OfTheInstallerHasAnEffectForEachVariableThatIsHonoured) {
  for (const Switch& one : toolkit::installer_variables()) {
    Json spec{{"mode", std::string(one.name).starts_with("NRI_") ? "nri" : "config"}};
    if (one.name != "NO_RUNTIME_CONFIG" && one.name != "RUNTIME")
      spec["engines"] = Json{one.name.starts_with("DOCKER_") ? "docker" : "containerd"};
    const std::string before = in_force(spec);
    const std::string by_process = in_force(spec, {{std::string(one.name), sample(one)}});
    spec["env"] = {{std::string(one.name), sample(one)}};
    const std::string after = in_force(spec);
    if (one.treatment == Treatment::refused) {
      EXPECT_THAT(after, HasSubstr(std::string(one.name) + "=" + sample(one) + " asks for something")) << one.name;
      EXPECT_THAT(after, HasSubstr(std::string(one.reason))) << one.name;
      EXPECT_THAT(by_process, HasSubstr("environment." + std::string(one.name))) << one.name;
      continue;
    }
    EXPECT_EQ(by_process != before, one.treatment == Treatment::honoured) << one.name << ": " << by_process;
    EXPECT_THAT(after, ::testing::Not(StartsWith("error"))) << one.name;
    EXPECT_NE(after, before) << one.name << " has no effect";
    if (one.treatment == Treatment::needless) {
      EXPECT_THAT(after, HasSubstr(std::string(one.name) + " has no effect: ")) << one.name;
    }
  }
}

/// Returns the environment of a service, for functions that take a pointer to one.
std::map<std::string, std::string>& process_of_service() {
  static std::map<std::string, std::string> variables;
  return variables;
}
const char* of_service(const char* name) {
  const auto found = process_of_service().find(name);
  return found == process_of_service().end() ? nullptr : found->second.c_str();
}

std::string text_of(const gfd::Config& config) {
  return canonical(Json{{"mig", to_string(config.mig_strategy)},
                        {"timestamp", config.timestamp},
                        {"output", config.output},
                        {"machine", config.machine_type_file},
                        {"interval", config.interval ? config.interval->count() : 0},
                        {"fails", config.fail_on_init_error},
                        {"warnings", config.warnings}});
}

/// Returns the settings of a service from the variables of its spec, or else from its environment.
std::string service_in_force(const std::string& component, const Json& env) {
  const testing::FakeHost host;
  const Spec spec(Json{{"env", env}});
  const auto settings = nvidia::config::read_settings(spec, component, host, of_service);
  if (!settings) return "error: " + to_text(settings.error());
  if (component == "deviceplugin") return canonical(to_json(*settings)) + joined(settings->warnings);
  const auto config = gfd::config_of(spec, *settings, of_service);
  return config ? text_of(*config) : "error: " + to_text(config.error());
}

class ServiceVariables : public ::testing::TestWithParam<const char*> {
 protected:
  std::span<const Switch> all() const {
    return GetParam() == std::string("gfd") ? nvidia::config::discovery_variables()
                                            : nvidia::config::plugin_variables();
  }
};
INSTANTIATE_TEST_SUITE_P(SwitchTable, ServiceVariables, ::testing::Values("deviceplugin", "gfd"));

TEST_P(ServiceVariables, HaveAnEffectWhereTheyAreHonouredAndAreRefusedWhereTheyAreNot) {
  const std::string before = service_in_force(GetParam(), Json::object());
  for (const Switch& one : all()) {
    if (one.name == "KUBELET_SOCKET") continue;  // the service reads it, see DevicePluginService.*
    const std::string name(one.name);
    const std::string after = service_in_force(GetParam(), {{name, sample(one)}});
    process_of_service() = {{name, sample(one)}};
    const std::string by_process = service_in_force(GetParam(), Json::object());
    process_of_service().clear();
    EXPECT_NE(after, before) << one.name << " has no effect";
    EXPECT_EQ(by_process != before, one.treatment != Treatment::needless) << one.name << ": " << by_process;
    if (one.treatment == Treatment::refused) {
      EXPECT_THAT(after, HasSubstr("asks for something")) << one.name;
      EXPECT_THAT(by_process, HasSubstr("environment." + name)) << one.name;
    }
    if (one.treatment == Treatment::honoured && !name.ends_with("CONFIG_FILE")) {  // which does not exist
      EXPECT_THAT(after, ::testing::Not(StartsWith("error"))) << one.name;
    }
  }
}

TEST(SwitchTable, OfConfigTomlWarnsOfWhatHasNoEffect) {
  for (const Switch& one : toolkit::toolkit_config_keys()) {
    Json file{{"nvidia-container-runtime", {{"mode", "jit-cdi"}}}};
    Json* at = &file;
    for (const std::string& part : split(one.name, '.')) at = &(*at)[part];
    *at = "something";
    const auto warnings = toolkit::toolkit_config_warnings(file);
    if (one.treatment == Treatment::honoured) {
      EXPECT_THAT(warnings, IsEmpty()) << one.name;
    } else {
      EXPECT_THAT(warnings, Contains(HasSubstr(std::string(one.name)))) << one.name;
    }
  }
  // Before the fix, the plan said that these have no effect, whatever the mode.
  const Json flags{{"modes", {{"jit-cdi", {{"nvcdi-feature-flags", {"disable-nvsandboxutils"}}}}}}, {"mode", "cdi"}};
  EXPECT_THAT(toolkit::toolkit_config_warnings({{"nvidia-container-runtime", flags}}),
              Contains(HasSubstr("the mode is not jit-cdi")));
  const auto misspelt = toolkit::toolkit_config_warnings({{"features", {{"disable-cuda-compat-lib-hok", true}}}});
  EXPECT_THAT(misspelt, Contains(HasSubstr("did you mean 'features.disable-cuda-compat-lib-hook'?")));
}

}  // namespace
}  // namespace slipway
