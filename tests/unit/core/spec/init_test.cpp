// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/spec/document.hpp"
#include "core/spec/yaml_value.hpp"
#include "plugins.hpp"

namespace slipway::core {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<const Manifest*> all_of(const Plugins& plugins) {
  std::vector<const Manifest*> manifests;
  for (const auto& [name, path] : plugins.component_to_path) manifests.push_back(plugins.manifest(name));
  return manifests;
}

Result<HostSpec> read_back(const std::string& text, const Plugins& plugins) {
  return host_spec_from_text(text, "init.yaml", plugins);
}

TEST(InitText, ReadsBackAsItIs) {
  const std::string text = init_text(all_of(test_plugins()), {});
  const auto spec = read_back(text, test_plugins());
  ASSERT_TRUE(spec) << to_text(spec.error()) << text;
  EXPECT_EQ(spec->components.size(), 4U);
  EXPECT_EQ(spec->components.at("driver")["version"], "535.261.03");
}

TEST(InitText, CommentsWithHelpAndSaysWhatIsOnlyAnExample) {
  const std::string text = init_text(all_of(test_plugins()), {});
  EXPECT_THAT(text, HasSubstr("      # The driver's version.\n      version: \"535.261.03\"  # change this"));
  EXPECT_THAT(text, HasSubstr("      # Which kernel modules to load. Values: auto, open or proprietary.\n"
                              "      # modules: auto\n"));
}

TEST(InitText, UsesValidSuggestionsAndSkipsOthers) {
  const std::map<std::string, Json> suggested{
      {"driver", {{"version", "550.1"}, {"modules", "shut"}, {"threads", 8}, {"unknown", 1}}}};
  const std::string text = init_text(all_of(test_plugins()), suggested, "h100-node");
  const auto spec = read_back(text, test_plugins());
  ASSERT_TRUE(spec) << to_text(spec.error()) << text;
  EXPECT_EQ(spec->name, "h100-node");
  EXPECT_EQ(spec->components.at("driver")["version"], "550.1");
  EXPECT_EQ(spec->components.at("driver")["modules"], "auto");
  EXPECT_EQ(spec->components.at("driver")["threads"], 8);
  EXPECT_THAT(text, Not(HasSubstr("\"550.1\"  # change this")));
}

TEST(InitText, HasNoDeprecatedKeyUnlessItIsRequired) {
  const Plugins plugins = plugins_of(
      "component: acme\npurpose: x\nspec:\n  mode: {type: integer, deprecated: write level}\n"
      "  path: {type: path, required: true, example: /a, deprecated: write folder}\n");
  const std::string text = init_text(all_of(plugins), {});
  EXPECT_TRUE(read_back(text, plugins)) << text;
  EXPECT_THAT(text, Not(HasSubstr("mode")));
}

TEST(InitText, OfNoComponentsIsASpecToo) { EXPECT_TRUE(read_back(init_text({}, {}), test_plugins())); }

/// Checks every optional key on its own, with its # removed.
TEST(InitText, StaysValidWhenAnyOptionalKeyIsTakenIn) {
  const std::string text = init_text(all_of(test_plugins()), {});
  int taken = 0;
  for (const std::string mark : {"      # ", "  # "})
    for (std::size_t at = text.find("\n" + mark); at != std::string::npos; at = text.find("\n" + mark, at + 1)) {
      const std::string line = text.substr(at + 1 + mark.size(), text.find('\n', at + 1) - at - 1 - mark.size());
      if (line.find(": ") == std::string::npos || line.find(". ") != std::string::npos) continue;  // a sentence
      std::string changed = text;
      changed.erase(at + 1 + mark.size() - 2, 2);
      const auto spec = read_back(changed, test_plugins());
      EXPECT_TRUE(spec) << line << '\n' << to_text(spec.error());
      ++taken;
    }
  EXPECT_GE(taken, 9);
}

/// Creates a manifest of random keys of every type.
class RandomManifest {
 public:
  explicit RandomManifest(unsigned seed) : random_(seed) {}

  Json component() {
    Json keys = Json::object();
    for (std::size_t i = pick(7); i > 0; --i) keys["k" + std::to_string(pick(50))] = key(0);
    return Json{{"component", "c" + std::to_string(pick(1000))}, {"purpose", text()}, {"spec", keys}};
  }

  std::string text() {
    static const std::vector<std::string> parts{"a", "yes", "null", "1", "0.5", " ",    "\n",   "\t", "#",
                                                ":", "'",   "\"",   "-", "{",   "*",    "&",    "%",  "@",
                                                "ü", "€",   "\\",   "!", "",    "\x7f", "\x01", "~",  ": "};
    std::string result;
    for (std::size_t i = pick(6); i > 0; --i) result += parts[pick(parts.size())];
    return result;
  }

 private:
  std::size_t pick(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  Json key(int depth) {
    static const std::vector<std::string> types{"string", "integer", "boolean",         "enum", "any",   "list",
                                                "map",    "secret",  "artifact-source", "path", "object"};
    const std::string type = types[pick(depth < 3 ? types.size() : 5)];
    Json schema{{"type", type}, {"help", text()}, {"required", pick(2) == 0}};
    if (type == "enum") schema["values"] = {text() + "1", text() + "2", text() + "3"};
    if ((type == "list" || type == "map") && pick(2) == 0) schema["items"] = key(depth + 1);
    if (type == "object")
      for (std::size_t i = 1 + pick(3); i > 0; --i) schema["keys"]["o" + std::to_string(i)] = key(depth + 1);
    const char* value = schema["required"] == true || pick(2) == 0 ? "example" : "default";
    if (type == "string" || type == "any") schema[value] = text();
    if (type == "integer") schema[value] = pick(100);
    if (type == "enum") schema[value] = schema["values"][pick(3)];
    return schema;
  }

  std::mt19937 random_;
};

TEST(InitText, OfAnyManifestReadsBack) {
  int tried = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    RandomManifest random(seed);
    std::string manifest = flow_yaml(random.component());
    auto parsed = parse_manifests(manifest, "random");
    if (!parsed) continue;  // an enum with the same value twice
    const Plugins plugins = plugins_of(manifest);
    const std::string text = init_text(all_of(plugins), {});
    const auto spec = read_back(text, plugins);
    EXPECT_TRUE(spec) << "seed " << seed << '\n' << to_text(spec.error()) << text << manifest;
    ++tried;
  }
  EXPECT_GT(tried, 400);
}

TEST(FlowYaml, ReadsBackAsTheSameValue) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomManifest random(seed);
    const Json value{{"a", {random.text(), random.text(), 1, true, nullptr, 1.5}}, {random.text(), random.text()}};
    const std::string yaml = "x: " + flow_yaml(value) + "\n";
    const auto config = read_back(
        "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: n}\nspec: {components: {deviceplugin: {config: " +
            flow_yaml(value) + "}}}\n",
        test_plugins());
    ASSERT_TRUE(config) << yaml << to_text(config.error());
    EXPECT_EQ(config->components.at("deviceplugin")["config"], value) << yaml;
  }
}

}  // namespace
}  // namespace slipway::core
