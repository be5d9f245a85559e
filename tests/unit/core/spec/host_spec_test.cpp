// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "core/spec/document.hpp"
#include "plugins.hpp"

namespace slipway::core {
namespace {

HostSpec good(const std::string& components, const std::string& file = "/etc/slipway/host.yaml") {
  const std::string head = "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n";
  auto spec = host_spec_from_text(head + components, file, test_plugins());
  if (!spec) ADD_FAILURE() << to_text(spec.error());
  return spec ? std::move(*spec) : HostSpec{};
}

const std::string kDriver = "    driver: {version: 535.10, source: ../pkg}\n";

TEST(HostSpec, TypesScalarsByTheSchema) {
  const HostSpec spec = good(
      "    driver: {version: 535.10, source: /pkg, threads: 4, persistence: true, "
      "modprobe: {a: 1, b: yes, c: \"2\"}}\n");
  const Json& driver = spec.components.at("driver");
  EXPECT_EQ(driver["version"], "535.10");
  EXPECT_EQ(driver["threads"], 4);
  EXPECT_EQ(driver["persistence"], true);
  EXPECT_EQ(driver["modprobe"], (Json{{"a", "1"}, {"b", "yes"}, {"c", "2"}}));
}

TEST(HostSpec, FillsDefaultsAtEveryDepth) {
  const HostSpec spec =
      good(kDriver + "    deviceplugin: {resources: [{name: a}, {name: b, replicas: 3}]}\n    cdi:\n");
  EXPECT_EQ(spec.components.at("driver")["modules"], "auto");
  EXPECT_EQ(spec.components.at("driver")["persistence"], false);
  const Json& plugin = spec.components.at("deviceplugin");
  EXPECT_EQ(plugin["resources"][0], (Json{{"name", "a"}, {"replicas", 1}}));
  EXPECT_EQ(plugin["limits"], (Json{{"memory_mib", 64}, {"socket", "/run/x.sock"}}));
  EXPECT_EQ(spec.components.at("cdi"), Json::object());
  EXPECT_EQ(spec.name, "node");
  EXPECT_EQ(spec.hardware, "");
}

constexpr const char* kReader = R"(
component: deviceplugin
purpose: GPUs as resources of the kubelet
spec:
  config_file: {type: path}
  quiet_seconds: {type: integer, default: 30}
---
component: gfd
purpose: node labels
after: [deviceplugin]
sections: {deviceplugin: [config_file, config_name]}
spec:
  output: {type: string, default: /etc/gfd}
)";

HostSpec reader_spec(const std::string& components) {
  const std::string head = "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n";
  auto spec = host_spec_from_text(head + components, "/etc/slipway/host.yaml", plugins_of(kReader));
  if (!spec) ADD_FAILURE() << to_text(spec.error());
  return spec ? std::move(*spec) : HostSpec{};
}

TEST(HostSpec, PassesWhatAComponentReadsOfAnothersSection) {
  const HostSpec spec = reader_spec("    deviceplugin: {config_file: plugin.yaml}\n    gfd: {}\n");
  EXPECT_EQ(
      spec.components.at("gfd"),
      (Json{{"output", "/etc/gfd"}, {"sections", {{"deviceplugin", {{"config_file", "/etc/slipway/plugin.yaml"}}}}}}));
  EXPECT_FALSE(spec.components.at("deviceplugin").contains("sections"));
  EXPECT_FALSE(spec.document["spec"]["components"]["gfd"].contains("sections")) << "what was written is recorded";
}

TEST(HostSpec, PassesNothingOfAComponentThatIsMissing) {
  EXPECT_EQ(reader_spec("    gfd: {}\n").components.at("gfd"), (Json{{"output", "/etc/gfd"}}));
}

TEST(HostSpec, MakesPathsRelativeToItsFile) {
  const HostSpec spec = good(
      "    driver: {version: 535.10, source: {repository: pkg/driver, ca: ./ca.pem}}\n"
      "    deviceplugin: {config_file: plugin.yaml, limits: {socket: ../run/s}}\n"
      "    registrar: {password: {file: token}, tokens: {a: {env: TOKEN}}}\n");
  EXPECT_EQ(spec.components.at("driver")["source"],
            (Json{{"repository", "/etc/slipway/pkg/driver"}, {"ca", "/etc/slipway/ca.pem"}}));
  EXPECT_EQ(spec.components.at("deviceplugin")["config_file"], "/etc/slipway/plugin.yaml");
  EXPECT_EQ(spec.components.at("deviceplugin")["limits"]["socket"], "/etc/slipway/../run/s");
  EXPECT_EQ(spec.components.at("registrar")["password"], (Json{{"file", "/etc/slipway/token"}}));
  EXPECT_EQ(spec.components.at("registrar")["tokens"]["a"], (Json{{"env", "TOKEN"}}));
}

TEST(HostSpec, MakesPathsOfARelativeFileAbsoluteToo) {
  const HostSpec spec = good("    deviceplugin: {config_file: plugin.yaml}\n", "sub/host.yaml");
  EXPECT_EQ(spec.components.at("deviceplugin")["config_file"],
            (std::filesystem::current_path() / "sub/plugin.yaml").string());
}

TEST(HostSpec, SplitsTheShortFormOfAnArtifactSource) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const auto source = [&](const std::string& text) {
    return good("    driver: {version: 535.10, source: \"" + text + "\"}\n").components.at("driver")["source"];
  };
  EXPECT_EQ(source("oci://r:5000/a/b"), (Json{{"repository", "oci://r:5000/a/b"}}));
  EXPECT_EQ(source("oci://r:5000/a/b:535"), (Json{{"repository", "oci://r:5000/a/b"}, {"tag", "535"}}));
  EXPECT_EQ(source("oci://[::1]:5000/a:535@" + digest),
            (Json{{"repository", "oci://[::1]:5000/a"}, {"tag", "535"}, {"digest", digest}}));
  EXPECT_EQ(source("/srv/a:b@c"), (Json{{"repository", "/srv/a:b@c"}}));
  EXPECT_EQ(source("pkg.tar"), (Json{{"repository", "/etc/slipway/pkg.tar"}}));
}

TEST(HostSpec, KeepsAnotherToolsConfigAsItIs) {
  const HostSpec spec = good(
      "    deviceplugin:\n      config: {version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, "
      "replicas: 4}]}}, flags: {a: true, b: \"true\", c: 1.5, d: 010, e: ~}}\n");
  const Json& config = spec.components.at("deviceplugin")["config"];
  EXPECT_EQ(config["sharing"]["timeSlicing"]["resources"][0]["replicas"], 4);
  EXPECT_EQ(config["flags"], (Json{{"a", true}, {"b", "true"}, {"c", 1.5}, {"d", "010"}, {"e", nullptr}}));
}

TEST(HostSpec, KnowsWhereEveryKeyStands) {
  const HostSpec spec = good(
      "    driver:\n      version: 535.10\n      source: /pkg\n      modprobe: {a.b: 1}\n"
      "    deviceplugin:\n      resources:\n        - {name: x}\n");
  EXPECT_EQ(spec.position("components.driver.version"), "/etc/slipway/host.yaml:7:7");
  EXPECT_EQ(spec.position("spec.components.driver.version"), "/etc/slipway/host.yaml:7:7");
  EXPECT_EQ(spec.position("components.driver.modules"), "/etc/slipway/host.yaml:6:5");  // a default has the position of
                                                                                        // its section
  EXPECT_EQ(spec.position("components.driver.modprobe.a.b"), "/etc/slipway/host.yaml:9:18");
  EXPECT_EQ(spec.position("components.deviceplugin.resources.0.name"), "/etc/slipway/host.yaml:12:12");
  EXPECT_EQ(spec.position("metadata.name"), "/etc/slipway/host.yaml:3:12");
  EXPECT_EQ(spec.position("nowhere"), "/etc/slipway/host.yaml:4:1");
}

// Before the fix, an error in a config that a plugin reads pointed at the line of `config:`.
TEST(HostSpec, KnowsWhereTheKeysOfAnotherToolsConfigStand) {
  const HostSpec spec = good(
      "    deviceplugin:\n      config:\n        version: v1\n        sharing:\n          timeSlicing:\n"
      "            resources:\n              - {name: a, replicas: 2}\n              - name: b\n"
      "                replicas: x\n");
  const std::string config = "spec.components.deviceplugin.config";
  EXPECT_EQ(spec.position(config + ".sharing"), "/etc/slipway/host.yaml:9:9");
  EXPECT_EQ(spec.position(config + ".sharing.timeSlicing.resources[0].replicas"), "/etc/slipway/host.yaml:12:27");
  EXPECT_EQ(spec.position(config + ".sharing.timeSlicing.resources[1].replicas"), "/etc/slipway/host.yaml:14:17");
  EXPECT_EQ(spec.position(config + ".sharing.timeSlicing.resources[1].devices"), "/etc/slipway/host.yaml:13:17");
}

TEST(HostSpec, ReadsBackFromItsOwnRecord) {
  const HostSpec spec = good(kDriver +
                             "    deviceplugin: {config: {a: [1, \"1\", true]}, resources: [{name: 5}]}\n"
                             "    registrar: {password: {env: X}}\n");
  EXPECT_EQ(spec.document["spec"]["components"]["driver"],
            (Json{{"source", "/etc/slipway/../pkg"}, {"version", "535.10"}}));
  const auto again = host_spec_from_json(spec.document, "/elsewhere/host.yaml", test_plugins());
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_EQ(again->components, spec.components);
  EXPECT_EQ(again->document, spec.document);
  EXPECT_EQ(again->position("components.driver"), "");
}

TEST(HostSpec, OfARecordIsCheckedToo) {
  Json document = good(kDriver).document;
  document["spec"]["components"]["driver"]["threads"] = "4";
  const auto again = host_spec_from_json(document, "generation 3", test_plugins());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().where, "generation 3  spec.components.driver.threads");
}

TEST(HostSpec, TakesAnchorsAndAliases) {
  const HostSpec spec = good("    deviceplugin:\n      resources: [&one {name: a}, *one]\n");
  EXPECT_EQ(spec.components.at("deviceplugin")["resources"].size(), 2U);
}

TEST(HostSpec, WithAnUnknownComponentNamesThePluginThatCouldNotBeRead) {
  Plugins plugins = test_plugins();
  plugins.problems.push_back(Error{ErrorCode::denied, "/p/mig.so is not used", "/p/mig.so", "", {}});
  const auto spec = host_spec_from_text(
      "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: n}\nspec: {components: {mig: {}}}\n", "x", plugins);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().details.back().second, "/p/mig.so is not used (/p/mig.so)");
}

/// Returns the YAML examples of a page of docs/.
std::vector<std::string> examples_of(const std::string& page) {
  std::ifstream file(SLIPWAY_DOCS "/" + page);
  std::vector<std::string> examples;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```yaml";
      if (inside) examples.emplace_back();
    } else if (inside) {
      examples.back() += line + "\n";
    }
  }
  return examples;
}

TEST(Docs, ShowASpecThatIsRead) {
  const auto examples = examples_of("spec.md");
  ASSERT_FALSE(examples.empty());
  const auto spec = host_spec_from_text(examples.front(), "spec.md", test_plugins());
  EXPECT_TRUE(spec) << to_text(spec.error());
}

TEST(Docs, ShowAManifestThatIsRead) {
  const auto examples = examples_of("manifest.md");
  ASSERT_FALSE(examples.empty());
  const auto manifests = parse_manifests(examples.front(), "manifest.md");
  EXPECT_TRUE(manifests) << to_text(manifests.error());
}

TEST(Docs, ShowMessagesAsTheyAre) {
  std::ifstream file(SLIPWAY_DOCS "/spec.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const char* name : {"bad/key-in-a-list.txt", "bad/indentation.txt"}) {
    std::istringstream lines(test_file(name));
    for (std::string line; std::getline(lines, line);)
      EXPECT_NE(page.find("    " + line + "\n"), std::string::npos) << line;
  }
}

class SpecFile : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_ = "/tmp/slipway-spec-XXXXXX";
};

TEST_F(SpecFile, IsReadFromTheDisk) {
  std::ofstream(folder_ + "/host.yaml")
      << "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: n}\nspec: {hardware: assume, components: {}}\n";
  const auto spec = read_host_spec(folder_ + "/host.yaml", test_plugins());
  ASSERT_TRUE(spec) << to_text(spec.error());
  EXPECT_EQ(spec->hardware, "assume");
  EXPECT_EQ(spec->file, folder_ + "/host.yaml");
}

TEST_F(SpecFile, ThatIsMissingExplainsHowToWriteOne) {
  const auto spec = read_host_spec(folder_ + "/host.yaml", test_plugins());
  EXPECT_EQ(spec.error().code, ErrorCode::not_found);
  EXPECT_NE(spec.error().next.find("slipway init"), std::string::npos);
}

TEST_F(SpecFile, ThatIsAFolderIsRefused) {
  EXPECT_EQ(read_host_spec(folder_, test_plugins()).error().code, ErrorCode::invalid);
}

TEST_F(SpecFile, ThatIsTooLargeIsRefusedWithoutReadingItAll) {
  const auto spec = read_host_spec("/dev/zero", test_plugins());
  ASSERT_FALSE(spec);
  EXPECT_NE(spec.error().what.find("too large"), std::string::npos);
}

TEST(HostSpec, AcceptsFormerKeysAndNamesTheNewOnes) {
  const Plugins plugins = plugins_of(
      "component: acme\npurpose: x\nspec:\n  level: {type: integer, required: true, formerly: [mode]}\n"
      "  path: {type: path, deprecated: write level}\n");
  const std::string head = "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: n}\nspec:\n  components:\n";
  const auto spec = host_spec_from_text(head + "    acme: {mode: 3, path: a}\n", "/h/host.yaml", plugins);
  ASSERT_TRUE(spec) << to_text(spec.error());
  EXPECT_EQ(spec->components.at("acme"), (Json{{"level", 3}, {"path", "/h/a"}}));
  EXPECT_EQ(spec->document["spec"]["components"]["acme"]["level"], 3) << "a generation keeps the key of today";
  EXPECT_EQ(spec->position("components.acme.level"), "/h/host.yaml:6:12");
  EXPECT_EQ(spec->remarks.at("acme"),
            (std::vector<std::string>{"/h/host.yaml:6:12: the key 'mode' in acme is now called 'level'",
                                      "/h/host.yaml:6:21: the key 'path' in acme is deprecated: write level"}));
  const auto both = host_spec_from_text(head + "    acme: {mode: 3, level: 4}\n", "/h/host.yaml", plugins);
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().what, "'mode' is the former name of 'level', which is set too");

  const Plugins twice =
      plugins_of("component: acme\npurpose: x\nspec:\n  level: {type: integer, formerly: [mode, grade]}\n");
  const auto formers = host_spec_from_text(head + "    acme: {mode: 3, grade: 4}\n", "/h/host.yaml", twice);
  ASSERT_FALSE(formers.ok()) << "the last one won, and nobody was told";
  EXPECT_EQ(formers.error().what, "'mode' and 'grade' are both former names of 'level'");
}

}  // namespace
}  // namespace slipway::core
