// SPDX-License-Identifier: Apache-2.0
// `slipway explain --schema`: the JSON Schema of host.yaml accepts and refuses the same specs as slipway.
#include <fstream>

#include "tests/component/cli/driver_root.hpp"
#include "tests/component/cli/json_schema.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::judged;
using slipway::testing::Ran;
using ::testing::StartsWith;

namespace fs = std::filesystem;

constexpr const char* kHostHead = "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\n";

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_whole_spec(const std::string& text) {
  return text.find("kind: Host\n") != std::string::npos && text.find("apiVersion: slipway.dev/v1") != std::string::npos;
}

/// Returns the ```yaml blocks of a page.
std::vector<std::string> blocks_of(const std::string& page) {
  std::vector<std::string> blocks;
  const std::string begin = "```yaml\n";
  for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::size_t end = page.find("```", at);
    blocks.push_back(page.substr(at, end - at));
    at = end;
  }
  return blocks;
}

class HostSchema : public ::testing::Test {
 protected:
  HostSchema() {
    const Ran ran = root.slipway({"explain", "--schema"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    root.folder().file("schema.json", ran.out);
  }
  std::string file(const std::string& name, const std::string& text) const {
    root.folder().file(name, text);
    return root.folder().at(name).string();
  }
  std::map<std::string, std::string> by_schema(const std::vector<std::string>& files) const {
    return judged(root.folder().at("schema.json").string(), files);
  }
  /// Returns slipway's judgement, from a command that reads a spec and no host.
  Ran by_slipway(const std::string& spec) const { return root.slipway({"graph", "-f", spec}); }

  DriverRoot root;
};

TEST_F(HostSchema, AcceptsEverySpecOfTheDocumentation) {
  std::vector<std::string> files;
  const fs::path sources = SLIPWAY_SOURCES;
  for (const char* folder : {"docs", "examples", "tests/e2e"})
    for (const auto& entry : fs::recursive_directory_iterator(sources / folder)) {
      // Plugins outside the tree have components of their own, such as those in the page for plugin authors (guide.sh
      // applies it).
      if (!entry.is_regular_file() || entry.path().string().starts_with((sources / "examples/plugins").string()) ||
          entry.path() == sources / "docs/plugin-authors.md")
        continue;
      const std::string extension = entry.path().extension().string();
      std::vector<std::string> texts;
      if (extension == ".yaml") texts = {text_of(entry.path())};
      if (extension == ".md") texts = blocks_of(text_of(entry.path()));
      for (const std::string& text : texts)
        if (is_whole_spec(text)) files.push_back(file("good-" + std::to_string(files.size()) + ".yaml", text));
    }
  ASSERT_GE(files.size(), 4U) << "the examples are not where this test looks";
  const auto verdicts = by_schema(files);
  for (const std::string& each : files) {
    EXPECT_THAT(verdicts.at(each), StartsWith("good")) << text_of(each);
    const Ran ran = by_slipway(each);
    EXPECT_EQ(ran.code, 0) << text_of(each) << ran.err;
  }
}

struct SpecCase {
  const char* name;
  std::string text;
};

const std::string kDriver = "    driver: {source: /srv/driver";

const std::vector<SpecCase> kGood{
    {"no-components", "spec: {components: {}}\n"},
    {"empty-section", "spec:\n  components:\n    cdi:\n"},
    {"branch-as-number", "spec:\n  components:\n" + kDriver + ", version: 535}\n"},
    {"range", "spec:\n  components:\n" + kDriver + ", version: \">=535.200 <550\"}\n"},
    {"registry", "spec:\n  components:\n    driver: {source: \"oci://registry.example.com:5000/nvidia/driver:535\"}\n"},
    {"long-source", "spec:\n  components:\n    driver: {source: {repository: ./layout, trust: unsigned}}\n"},
    {"secret", "spec:\n  components:\n" + kDriver + ", signing: {key: {file: /k}, certificate: /c}}\n"},
    {"parameters", "spec:\n  components:\n" + kDriver + ", parameters: {nvidia: {NVreg_DeviceFileMode: 432}}}\n"},
    {"hardware", "spec: {hardware: assume, components: {}}\n"},
};

const std::vector<SpecCase> kBad{
    {"no-spec", ""},
    {"no-components", "spec: {}\n"},
    {"components-list", "spec: {components: []}\n"},
    {"components-null", "spec:\n  components:\n"},
    {"top-key", "spec: {components: {}}\nstatus: {}\n"},
    {"spec-key", "spec: {components: {}, nodes: 3}\n"},
    {"hardware", "spec: {hardware: maybe, components: {}}\n"},
    {"unknown-component", "spec:\n  components: {drver: {}}\n"},
    {"unknown-key", "spec:\n  components:\n" + kDriver + ", verson: \"535.261.03\"}\n"},
    {"missing-source", "spec:\n  components:\n    driver: {version: \"535.261.03\"}\n"},
    {"null-driver", "spec:\n  components:\n    driver:\n"},
    {"no-version", "spec:\n  components:\n" + kDriver + ", version: newest}\n"},
    {"null-version", "spec:\n  components:\n" + kDriver + ", version: null}\n"},
    {"list-version", "spec:\n  components:\n" + kDriver + ", version: [535]}\n"},
    {"enumeration", "spec:\n  components:\n" + kDriver + ", precompiled: sometimes}\n"},
    {"boolean", "spec:\n  components:\n" + kDriver + ", blacklist_nouveau: sure}\n"},
    {"no-list", "spec:\n  components:\n" + kDriver + ", gpus: H100}\n"},
    {"http-source", "spec:\n  components:\n    driver: {source: \"http://registry.example.com/driver\"}\n"},
    {"no-scheme", "spec:\n  components:\n    driver: {source: \"registry.example.com:5000/driver\"}\n"},
    {"upper-case-name", "spec:\n  components:\n    driver: {source: \"oci://registry.example.com/Driver\"}\n"},
    {"no-digest", "spec:\n  components:\n    driver: {source: {repository: /p, digest: \"sha256:12\"}}\n"},
    {"source-key", "spec:\n  components:\n    driver: {source: {repository: /p, trusted: true}}\n"},
    {"inline-secret", "spec:\n  components:\n" + kDriver + ", signing: {key: hunter2, certificate: /c}}\n"},
    {"two-secrets", "spec:\n  components:\n" + kDriver + ", signing: {key: {file: /a, env: B}, certificate: /c}}\n"},
};

TEST_F(HostSchema, AgreesWithSlipwayOnGoodAndBadSpecs) {
  std::vector<std::string> files;
  std::map<std::string, bool> good;
  const auto add = [&](const SpecCase& one, bool is_good) {
    files.push_back(file(std::string(is_good ? "good-" : "bad-") + one.name + ".yaml", kHostHead + one.text));
    good[files.back()] = is_good;
  };
  for (const SpecCase& one : kGood) add(one, true);
  for (const SpecCase& one : kBad) add(one, false);
  const auto heads = std::vector<SpecCase>{
      {"api-version", "apiVersion: slipway.dev/v2\nkind: Host\nmetadata: {name: a}\nspec: {components: {}}\n"},
      {"kind", "apiVersion: slipway.dev/v1\nkind: Hosts\nmetadata: {name: a}\nspec: {components: {}}\n"},
      {"no-metadata", "apiVersion: slipway.dev/v1\nkind: Host\nspec: {components: {}}\n"},
      {"name", "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: Node_1}\nspec: {components: {}}\n"}};
  for (const SpecCase& one : heads) {
    files.push_back(file(std::string("bad-head-") + one.name + ".yaml", one.text));
    good[files.back()] = false;
  }
  const auto verdicts = by_schema(files);
  for (const std::string& each : files) {
    EXPECT_THAT(verdicts.at(each), StartsWith(good[each] ? "good" : "bad")) << text_of(each);
    const Ran ran = by_slipway(each);
    EXPECT_EQ(ran.code, good[each] ? 0 : 1) << text_of(each) << ran.err;
  }
}

TEST_F(HostSchema, DescribesKeysTheirValuesAndDefaults) {
  const Json schema = Json::parse(text_of(root.folder().at("schema.json")));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  const Json driver = schema["properties"]["spec"]["properties"]["components"]["properties"]["driver"];
  EXPECT_EQ(driver["additionalProperties"], false);
  EXPECT_EQ(driver["properties"]["precompiled"]["enum"], (Json{"prefer", "require", "never"}));
  EXPECT_EQ(driver["properties"]["precompiled"]["default"], "prefer");
  EXPECT_THAT(driver["properties"]["modules"]["description"].get<std::string>(),
              StartsWith("Which kernel modules are installed."));
}

TEST_F(HostSchema, IsOnlyPrintedForAHost) {
  const Ran ran = root.slipway({"explain", "--schema", "drivers"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, ::testing::HasSubstr("explain --schema output"));
}

}  // namespace
}  // namespace slipway
