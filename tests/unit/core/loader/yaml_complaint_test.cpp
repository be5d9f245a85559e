// SPDX-License-Identifier: Apache-2.0
// Each mistake that people make in YAML, and the sentence that slipway says about it.
#include <ostream>

#include <gtest/gtest.h>

#include "base/yaml/tree.hpp"

namespace slipway::core {
namespace {

struct YamlSlip {
  std::string name;
  std::string yaml;
  std::string where;
  std::string says;  ///< a part of the message
};

void PrintTo(const YamlSlip& mistake, std::ostream* out) { *out << mistake.name; }

class YamlMistake : public ::testing::TestWithParam<YamlSlip> {};

TEST_P(YamlMistake, IsExplainedWhereItStands) {
  const auto documents = base::read_yaml(GetParam().yaml, "host.yaml");
  ASSERT_FALSE(documents);
  const Error& error = documents.error();
  EXPECT_EQ(error.where, "host.yaml:" + GetParam().where) << to_text(error);
  EXPECT_NE(error.what.find(GetParam().says), std::string::npos) << to_text(error);
  EXPECT_FALSE(error.next.empty()) << to_text(error);
}

const std::vector<YamlSlip> kYamlMistakes{
    {"TabUnderAKey", "a:\n\tb: 1\n", "2:1", "a tab is used for indentation"},
    {"TabBesideSpaces", "a:\n  b: 1\n\tc: 2\n", "3:1", "a tab is used for indentation"},
    {"TabAfterSpaces", "a:\n  b: 1\n \tc: 2\n", "3:2", "a tab is used for indentation"},
    {"TabThatYamlCppTakes", "a:\n\tb\n", "2:1", "a tab is used for indentation"},
    {"TabInAListOfMaps", "a:\n  - b: 1\n\t  c: 2\n", "3:1", "a tab is used for indentation"},
    {"DeeperThanAValue", "a:\n  b: 1\n   c: 2\n", "3:4", "deeper than line 2, but that line has a value already"},
    {"DeeperThanAQuotedValue", "a:\n  b: \"1\"\n    c: 2\n", "3:5", "deeper than line 2"},
    {"ShallowerThanItsSiblings", "a:\n    b: 1\n  c: 2\n", "3:3", "fits no line above it"},
    {"ShallowerListItem", "a:\n  - b\n - c\n", "3:2", "fits no line above it"},
    {"KeyBelowAListAtItsLevel", "- a\nb: 1\n", "2:1", "does not belong to the lines above it"},
    {"ItemWhereAKeyBelongs", "a: 1\n- b\n", "2:1", "a list item ('- …') is in the place of a key"},
    {"TwoColons", "a: b: c\n", "1:5", "a second ': ' in one value"},
    {"NoSpaceAfterColon", "a:1\nb: 2\n", "1:1", "no space after the colon"},
    {"LineWithoutColon", "a: 1\nb\nc: 2\n", "2:1", "this line is not a 'key: value'"},
    {"OpenList", "a: [1, 2\nb: 3\n", "1:4", "the '[' here is not closed before line 2"},
    {"OpenMap", "a: {x: 1\nb: 3\n", "1:4", "the '{' here is not closed before line 2"},
    {"OpenMapAtTheEnd", "a: {x: [1]", "1:4", "the '{' here is not closed"},
    {"BracketTooMany", "a: [1, 2]]\n", "1:10", "has no opening bracket"},
    {"OpenDoubleQuote", "a: \"abc\nb: 3\n", "1:4", "the quote that opens here is never closed"},
    {"OpenSingleQuote", "a: 'abc\nb: 3\n", "1:4", "the quote that opens here is never closed"},
    {"OpenQuoteBehindAnAnchor", "a: &x 'abc\n", "1:7", "the quote that opens here is never closed"},
    {"QuoteInAQuote", "a: 'it's'\n", "1:8", "text after the closing quote"},
    {"TextBehindAQuote", "a: \"x\" y\n", "1:8", "text after the closing quote"},
    {"WindowsPath", "a: \"C:\\Windows\"\n", "1:9", "unknown escape '\\W'"},
    {"AtSign", "a: @x\n", "1:4", "cannot begin with '@'"},
    {"Backtick", "a: `x`\n", "1:4", "cannot begin with '`'"},
    {"Percent", "a: %x\n", "1:4", "cannot begin with '%'"},
    {"StarOfAGlob", "a: *.conf\n", "1:4", "has no anchor"},
    {"AliasInsideItself", "a: &x [*x]\n", "1:8", "inside the value that it names"},
    {"DashInAValue", "a: - b\n", "1:4", "begins a list item only at the start of a line"},
    {"KeyTwice", "a: 1\nb: 2\na: 3\n", "3:1", "key 'a' is given twice; first in line 1"},
    {"KeyTwiceInBrackets", "a: {b: 1, b: 2}\n", "1:11", "key 'b' is given twice"},
    {"KeyTwiceQuoted", "a: 1\n\"a\": 3\n", "2:1", "key 'a' is given twice"},
    {"ListAsKey", "? [a]\n: b\n", "1:3", "expected a key"},
    {"NoKey", "a:\n  : 1\n", "2:3", "no key before the colon"},
    {"Tag", "a: !secret b\n", "1:4", "a tag (!…) is not supported here"},
    {"MergeKey", "a: &x {b: 1}\nc:\n  <<: *x\n", "3:3", "merge keys (<<)"},
    {"LaterYaml", "%YAML 2.0\n---\na: 1\n", "1:1", "cannot be read as YAML"},
    {"ControlCharacter", "a: 1\nb: \x04x\n", "2:4", "the control character 0x04"},
    {"Latin1", "name: M\xFCller\n", "1:8", "byte 0xfc is not UTF-8"},
    {"Overlong", "a: \xC0\xAF\n", "1:4", "is not UTF-8"},
    {"Surrogate", "a: \xED\xA0\x80\n", "1:4", "is not UTF-8"},
    {"CutSequence", "a: \xE2\x82", "1:4", "is not UTF-8"},
    {"ColumnsInCharacters", "a: {\"Grüße\": 1, \"Grüße\": 2}\n", "1:17", "given twice"},
};

INSTANTIATE_TEST_SUITE_P(Yaml, YamlMistake, ::testing::ValuesIn(kYamlMistakes),
                         [](const auto& test) { return test.param.name; });

std::string nested(const std::string& open, const std::string& close, std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  for (std::size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(ReadYaml, RefusesDeepNesting) {
  const auto documents = base::read_yaml(nested("[", "]", 65), "x");
  ASSERT_FALSE(documents);
  EXPECT_NE(documents.error().what.find("nested too deep"), std::string::npos);
  EXPECT_TRUE(base::read_yaml(nested("[", "]", 64), "x"));
  EXPECT_FALSE(base::read_yaml(nested("[", "", 100'000), "x"));
  EXPECT_FALSE(base::read_yaml(nested("{a: ", "}", 100'000), "x"));
}

// A fuzzer's find: yaml-cpp returns endless empty documents at places where no document can begin.
TEST(ReadYaml, StopsAfterInvalidDocuments) {
  for (const char* text : {",", ",a: 1\n", "---\n,a\n", "--- ,\n", "a: 1\n---\n, b\n", "...\n,\n", "}", "]"}) {
    const auto documents = base::read_yaml(text, "x");
    EXPECT_FALSE(documents) << text;
  }
}

TEST(ReadYaml, RefusesAnAliasBomb) {
  std::string bomb = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int j = 1; j < 9; ++j) bomb += ", " + alias;
    bomb += "]\n";
  }
  const auto documents = base::read_yaml(bomb, "x");
  ASSERT_FALSE(documents);
  EXPECT_NE(documents.error().what.find("too large once its aliases"), std::string::npos);
}

TEST(ReadYaml, RefusesAnAliasBombOfOneLongText) {
  std::string bomb = "a: &a " + std::string(500'000, 'x') + "\nb: [*a";
  for (int i = 0; i < 100; ++i) bomb += ", *a";
  EXPECT_FALSE(base::read_yaml(bomb + "]\n", "x"));
}

TEST(ReadYaml, RefusesAHugeFile) {
  const auto documents = base::read_yaml(std::string(base::kYamlMaxBytes + 1, '\n'), "core");
  ASSERT_FALSE(documents);
  EXPECT_NE(documents.error().what.find("too large"), std::string::npos);
}

TEST(ReadYaml, ReplacesAliasesByWhatTheyName) {
  const auto documents = base::read_yaml("a: &x {b: [1]}\nc: *x\n", "x");
  ASSERT_TRUE(documents) << to_text(documents.error());
  const base::YamlNode& copy = documents->front().find("c")->value;
  EXPECT_EQ(copy.find("b")->value.items.front().text, "1");
}

TEST(ReadYaml, KeepsScalarsAsTheyAreWritten) {
  const auto documents = base::read_yaml("a: 535.10\nb: \"1\"\nc: yes\nd:\ne: !!str 5\nf: ~\n", "x");
  ASSERT_TRUE(documents);
  const base::YamlNode& map = documents->front();
  EXPECT_EQ(map.find("a")->value.text, "535.10");
  EXPECT_FALSE(map.find("a")->value.quoted);
  EXPECT_TRUE(map.find("b")->value.quoted);
  EXPECT_EQ(map.find("c")->value.text, "yes");
  EXPECT_EQ(map.find("d")->value.kind, base::YamlNode::Kind::null);
  EXPECT_EQ(map.find("d")->value.position.line, 4);
  EXPECT_TRUE(map.find("e")->value.quoted);
  EXPECT_EQ(map.find("f")->value.kind, base::YamlNode::Kind::null);
}

TEST(ReadYaml, TakesTabsWhereYamlAllowsThem) {
  const auto documents = base::read_yaml("a: [\n\t1,\n\t2]\nb:\t1\nc: |\n  x\n  \ty\nd: 1\t# comment\n\t\n", "x");
  ASSERT_TRUE(documents) << to_text(documents.error());
  EXPECT_EQ(documents->front().find("c")->value.text, "x\n\ty\n");
}

TEST(ReadYaml, ReadsSeveralDocumentsWindowsLineEndsAndAByteOrderMark) {
  const auto documents = base::read_yaml("\xEF\xBB\xBF# first\r\na: 1\r\n---\r\nb: 'x'\r\n...\r\n", "x");
  ASSERT_TRUE(documents) << to_text(documents.error());
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ(documents->at(0).find("a")->value.text, "1");
  EXPECT_EQ(documents->at(1).find("b")->position.line, 4);
}

TEST(ReadYaml, FindsNothingInAnEmptyFile) {
  EXPECT_TRUE(base::read_yaml("", "x")->empty());
  EXPECT_TRUE(base::read_yaml("# only a comment\n", "x")->empty());
}

TEST(YamlFromJson, GivesTheSameTreeAsYaml) {
  const base::YamlNode node = base::yaml_from_json(Json::parse(R"({"a": [1, "1", true, null, {"b": 1.5}]})"));
  const auto& items = node.find("a")->value.items;
  EXPECT_FALSE(items[0].quoted);
  EXPECT_TRUE(items[1].quoted);
  EXPECT_EQ(items[2].text, "true");
  EXPECT_EQ(items[3].kind, base::YamlNode::Kind::null);
  EXPECT_EQ(items[4].find("b")->value.text, "1.5");
  EXPECT_EQ(items[4].position.line, 0);
}

}  // namespace
}  // namespace slipway::core
