// SPDX-License-Identifier: Apache-2.0
// Setting keys by splicing text, and taking them back.
#include <gmock/gmock.h>

#include "base/merge/edit.hpp"
#include "base/merge/json_fault.hpp"
#include "random_documents.hpp"

namespace slipway::merge {
namespace {

using ::testing::HasSubstr;

Edited edit(const std::string& format, const std::string& bytes, const Json& set) {
  const auto edited = set_keys(bytes, format, desired_keys_of(set), "/etc/file");
  EXPECT_TRUE(edited.ok()) << (edited ? "" : slipway::to_text(edited.error())) << bytes;
  return edited.value_or(Edited{});
}

std::string set_in(const std::string& format, const std::string& bytes, const Json& set) {
  return edit(format, bytes, set).bytes;
}

Error refused(const std::string& format, const std::string& bytes, const Json& set) {
  const auto edited = set_keys(bytes, format, desired_keys_of(set), "/etc/file");
  EXPECT_FALSE(edited.ok()) << (edited ? edited->bytes : "");
  return edited ? Error{} : edited.error();
}

TEST(MergeJson, KeepsOrderAndIndentation) {
  const std::string file = "{\n    \"log-driver\": \"json-file\",\n    \"a\": [1,\n          2]\n}\n";
  EXPECT_EQ(
      set_in("json", file, {{"runtimes", {{"nvidia", {{"path", "/usr/bin/x"}, {"args", Json::array()}}}}}}),
      "{\n    \"log-driver\": \"json-file\",\n    \"a\": [1,\n          2],\n    \"runtimes\": {\n        \"nvidia\": "
      "{\n            \"args\": [],\n            \"path\": \"/usr/bin/x\"\n        }\n    }\n}\n");
  EXPECT_EQ(set_in("json", file, {{"log-driver", "journald"}}),
            "{\n    \"log-driver\": \"journald\",\n    \"a\": [1,\n          2]\n}\n");
  EXPECT_EQ(set_in("json", file, {{"log-driver", nullptr}}), "{\n    \"a\": [1,\n          2]\n}\n");
}

TEST(MergeJson, StaysOnOneLineWhereTheFileDoes) {
  EXPECT_EQ(set_in("json", "{\"a\":1}", {{"b", {{"c", 2}}}}), "{\"a\":1,\"b\":{\"c\":2}}");
  EXPECT_EQ(set_in("json", "{\"a\": 1, \"x\": {}}", {{"x", {{"c", 2}, {"d", true}}}}),
            "{\"a\": 1, \"x\": {\"c\": 2, \"d\": true}}");
}

TEST(MergeJson, FillsAnEmptyFile) {
  EXPECT_EQ(set_in("json", "", {{"a", {{"b", 1}}}}), "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n");
  EXPECT_EQ(set_in("json", "{}\n", {{"a", 1}}), "{\n  \"a\": 1\n}\n");
}

TEST(MergeJson, ABrokenFileIsAnErrorWithItsPlace) {
  EXPECT_THAT(refused("json", "{\n  \"a\": 1,\n  \"b\" 2\n}\n", {{"c", 1}}).what, HasSubstr("/etc/file:3:"));
  EXPECT_THAT(refused("json", "[1]", {{"c", 1}}).what, HasSubstr("not an object"));
  EXPECT_THAT(refused("json", "{\"a\": 1, \"a\": 2}", {{"c", 1}}).what, HasSubstr("'a' appears twice"));
  const std::string deep(100000, '[');
  EXPECT_EQ(refused("json", "{\"a\": " + deep, {{"c", 1}}).code, ErrorCode::invalid);
}

// Json::parse() throws a different error for the number, and crashes the program for the lists.
TEST(JsonFault, IsFoundWithItsPlaceWhateverItIs) {
  EXPECT_FALSE(find_json_fault(R"({"a": [1, 2.5e300, null], "b": {"c": true}})"));
  const auto number = find_json_fault("{\"x\": 1e400}");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->why, "number overflow parsing '1e400'");
  EXPECT_GE(number->offset_bytes, 6U);
  EXPECT_LE(number->offset_bytes, 11U);
  const auto deep = find_json_fault("{\"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->offset_bytes, 6 + kMaxJsonDepth - 1);
  const auto sign = find_json_fault("{\"x\": 1,}");
  ASSERT_TRUE(sign);
  EXPECT_EQ(sign->offset_bytes, 8U);
  EXPECT_TRUE(find_json_fault(""));
}

// Before the fix, the number caused an uncaught exception, and lists and dotted keys crashed slipway.
TEST(MergeJson, ThatIsInvalidIsAnErrorWithItsPlace) {
  EXPECT_THAT(refused("json", "{\n\"x\": 1e400}", {{"a", 1}}).what, HasSubstr("number overflow parsing '1e400'"));
  const std::string lists = "{\"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_THAT(refused("json", lists, {{"a", 1}}).what,
              HasSubstr("/etc/file:1:206: this is not a valid JSON: it nests"));
}

TEST(MergeToml, KeysWithTooManyPartsAreAnErrorWithTheirPlace) {
  std::string dots = "a";
  for (int i = 0; i < 300'000; ++i) dots += ".a";
  for (const std::string& key : {dots, std::string("b = 1\n[") + dots + "]\n", "\"x=y\" . 'z' . " + dots + " = 1\n"}) {
    const Error error = refused("toml", "# a comment.with.dots\n" + key, {{"c", 1}});
    EXPECT_THAT(error.what, HasSubstr("a key has more than 32 parts"));
  }
  // Up to two quotes before the closing three belong to the text; before the fix, the rest was taken for text too.
  for (const std::string closing : {R"(x = ["""a"""", """b"""])", R"(x = ["""a""""", '''b''''])"})
    EXPECT_THAT(refused("toml", closing + "\n" + dots + " = 1\n", {{"c", 1}}).what, HasSubstr("more than 32 parts"));
  const std::string text = "text = \"\"\"" + std::string(100, '.') + "\"\"\" # " + std::string(100, '.') +
                           "\nlist = [1.5, 2.5]\na.'b.c'.\"d\\\".\".e = '" + std::string(100, '.') + "'\n";
  EXPECT_EQ(set_in("toml", text, {{"c", 1}}), text + "c = 1\n");
}

TEST(MergeJson, AScalarInThePathIsAConflictThatNamesIt) {
  const Error error = refused("json", "{\"a\": {\"b\": 5}}", {{"a", {{"b", {{"c", 1}}}}}});
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.what, HasSubstr("a.b is 5, and a.b.c should be set below it"));
  EXPECT_EQ(refused("json", "{\"a\": {\"b\": 5}}", {{"a", 1}}).code, ErrorCode::conflict);
}

const std::string kToml =
    "# containerd\nversion = 2 # schema\n\n[plugins]\n  [plugins.\"io.containerd.grpc.v1.cri\"]\n    sandbox = 'x'\n"
    "  [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n    # which one\n    default_runtime_name = \"runc\"\n\n"
    "[[proxy]]\nname = \"p\"\n";

TEST(MergeToml, SetsKeysWhereTheyStandAndAddsSectionsAtTheEnd) {
  const Json set{
      {"plugins",
       {{"io.containerd.grpc.v1.cri",
         {{"containerd",
           {{"default_runtime_name", "nvidia"},
            {"runtimes", {{"nvidia", {{"runtime_type", "io.containerd.runc.v2"}, {"privileged", false}}}}}}}}}}}};
  std::string expected = kToml;
  expected.replace(expected.find("\"runc\""), 6, "\"nvidia\"");
  expected +=
      "\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]\nprivileged = false\n"
      "runtime_type = \"io.containerd.runc.v2\"\n";
  EXPECT_EQ(set_in("toml", kToml, set), expected);
}

TEST(MergeToml, AddsToTheExistingSections) {
  EXPECT_THAT(set_in("toml", kToml, {{"root", "/x"}}), HasSubstr("version = 2 # schema\nroot = \"/x\"\n\n[plugins]"));
  EXPECT_THAT(set_in("toml", kToml, {{"plugins", {{"k", 1}}}}), HasSubstr("[plugins]\nk = 1\n  [plugins."));
  EXPECT_THAT(set_in("toml", kToml, {{"plugins", {{"io.containerd.grpc.v1.cri", {{"k", true}}}}}}),
              HasSubstr("    sandbox = 'x'\n    k = true\n  [plugins"));
}

TEST(MergeToml, AddsToInlineAndDottedTablesInTheirOwnWay) {
  EXPECT_EQ(set_in("toml", "a = { x = 1 }\n", {{"a", {{"y", {{"z", 2}}}}}}), "a = { x = 1, y = { z = 2 } }\n");
  EXPECT_EQ(set_in("toml", "a = {}\n", {{"a", {{"y", 2}}}}), "a = { y = 2 }\n");
  EXPECT_EQ(set_in("toml", "a.b.c = 1\n\n[t]\n", {{"a", {{"x", {{"y", 2}}}}}}), "a.b.c = 1\na.x.y = 2\n\n[t]\n");
  EXPECT_EQ(set_in("toml", "[t]\n\"q k\".b = 1\n", {{"t", {{"q k", {{"c", "d"}}}}}}),
            "[t]\n\"q k\".b = 1\n\"q k\".c = \"d\"\n");
  EXPECT_EQ(set_in("toml", "[a.b]\nx = 1\n", {{"a", {{"y", 2}}}}), "[a.b]\nx = 1\n\n[a]\ny = 2\n");
}

// toml++ tells the compiler that such letters never stand in the place of white space, which is wrong.
TEST(MergeToml, TakesLettersOfAllLanguagesWhereWhiteSpaceMayStand) {
  const std::string text = "a = \"\"\"one\\\n  \u00fc\u042d\"\"\"\n";
  EXPECT_EQ(set_in("toml", text, {{"b", 1}}), text + "b = 1\n");
  EXPECT_THAT(refused("toml", "a = 0\u042d\n", {{"b", 1}}).what, HasSubstr("/etc/file"));
}

TEST(MergeToml, RemovesLinesAndWholeSections) {
  EXPECT_EQ(set_in("toml", "a = 1\nb = [\n 1,\n] # c\nc = 3\n", {{"b", nullptr}}), "a = 1\nc = 3\n");
  EXPECT_EQ(set_in("toml", "a = { x = 1, y = 2 }\n", {{"a", {{"x", nullptr}}}}), "a = { y = 2 }\n");
  EXPECT_EQ(set_in("toml", "k = 1\n\n[s]\na = 1\n\n[s.t]\nb = 2\n\n[u]\nc = 3\n", {{"s", nullptr}}),
            "k = 1\n\n[u]\nc = 3\n");
}

TEST(MergeToml, UnsupportedEditsAreRefused) {
  EXPECT_EQ(refused("toml", kToml, {{"proxy", {1}}}).code, ErrorCode::unsupported);
  EXPECT_EQ(refused("toml", "a = 1\n", {{"b", {nullptr}}}).code, ErrorCode::unsupported);
  EXPECT_THAT(refused("toml", "a = 1\nb = \n", {{"c", 1}}).what, HasSubstr("/etc/file:2:"));
}

const std::string kYaml =
    "# kubelet\napiVersion: v1  # keep\nfeatureGates:\n  # gates\n  A: true\n\n  B: false\nlist:\n  - 1\n  - 2\n# "
    "end\n";

TEST(MergeYaml, SetsAddsAndRemovesLines) {
  EXPECT_THAT(set_in("yaml", kYaml, {{"apiVersion", "v2"}}), HasSubstr("apiVersion: v2  # keep\n"));
  EXPECT_THAT(set_in("yaml", kYaml, {{"featureGates", {{"C", true}}}}), HasSubstr("  B: false\n  C: true\nlist:\n"));
  EXPECT_THAT(set_in("yaml", kYaml, {{"new", {{"deep", {{"x", "a b"}}}}}}),
              HasSubstr("  - 2\nnew:\n  deep:\n    x: \"a b\"\n# end\n"));
  EXPECT_THAT(set_in("yaml", kYaml, {{"list", {3}}}), HasSubstr("list: [3]\n# end\n"));
  EXPECT_THAT(set_in("yaml", kYaml, {{"featureGates", {{"A", nullptr}}}}), HasSubstr("  # gates\n\n  B: false\n"));
  EXPECT_THAT(set_in("yaml", kYaml, {{"list", nullptr}}), HasSubstr("  B: false\n# end\n"));
}

TEST(MergeYaml, HandlesFlowMapsNothingsAndEmptyFiles) {
  EXPECT_EQ(set_in("yaml", "a: {x: 1}\n", {{"a", {{"w", {{"z", 2}}}}}}), "a: {x: 1, w: {z: 2}}\n");
  EXPECT_EQ(set_in("yaml", "a: {}\n", {{"a", {{"w", 2}}}}), "a: {w: 2}\n");
  EXPECT_EQ(set_in("yaml", "a:   # nothing\nb: 1\n", {{"a", {{"w", 2}}}}), "a:   # nothing\n  w: 2\nb: 1\n");
  EXPECT_EQ(set_in("yaml", "a: ~\n", {{"a", {{"w", 2}}}}), "a: {w: 2}\n");
  EXPECT_EQ(set_in("yaml", "", {{"a", {{"b", 1}}}}), "a:\n  b: 1\n");
  EXPECT_EQ(set_in("yaml", "# only\n", {{"a", 1}}), "# only\na: 1\n");
  EXPECT_EQ(set_in("yaml", "m:\n  only: 1\nb: 2\n", {{"m", {{"only", nullptr}}}}), "m: {}\nb: 2\n");
}

TEST(MergeYaml, QuotesAmbiguousValues) {
  for (const std::string text : {"yes", "null", "1.5", "0x10", "", "- a", "a: b", "#x", "2001-01-01", "off", "~"}) {
    const std::string bytes = set_in("yaml", "", {{"k", text}});
    EXPECT_THAT(bytes, HasSubstr("k: \"")) << text;
    EXPECT_EQ((*read_value(bytes, "yaml", ""))["k"], text);
  }
  EXPECT_EQ(set_in("yaml", "", {{"k", "/usr/bin/nvidia-smi"}}), "k: /usr/bin/nvidia-smi\n");
}

TEST(MergeYaml, AliasesSeveralDocumentsAndBrokenFilesAreRefused) {
  EXPECT_EQ(refused("yaml", "a: &x {b: 1}\nc: *x\n", {{"c", {{"b", 2}}}}).code, ErrorCode::unsupported);
  EXPECT_EQ(refused("yaml", "a: 1\n---\nb: 2\n", {{"c", 1}}).code, ErrorCode::unsupported);
  EXPECT_THAT(refused("yaml", "a: 1\nb: [1,\n", {{"c", 1}}).what, HasSubstr("/etc/file:3:1"));
  EXPECT_THAT(refused("yaml", "a: 1\na: 2\n", {{"c", 1}}).what, HasSubstr("'a' appears twice"));
}

TEST(MergeBytes, LineEndsAndByteOrderMarkStay) {
  EXPECT_EQ(set_in("toml",
                   "\xef\xbb\xbf"
                   "a = 1\r\n[t]\r\nb = 2\r\n",
                   {{"c", 3}, {"t", {{"d", 4}}}}),
            "\xef\xbb\xbf"
            "a = 1\r\nc = 3\r\n[t]\r\nb = 2\r\nd = 4\r\n");
  EXPECT_EQ(set_in("yaml", "a: 1\r\n", {{"b", {{"c", 2}}}}), "a: 1\r\nb:\r\n  c: 2\r\n");
  EXPECT_EQ(set_in("json", "{\r\n  \"a\": 1\r\n}", {{"b", 2}}), "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}");
  EXPECT_EQ(set_in("toml", "a = 1", {{"b", 2}}), "a = 1\nb = 2");
}

TEST(MergeBytes, AnExistingValueChangesNoByte) {
  EXPECT_EQ(set_in("toml", "a   =    0x1  # hex\n", {{"a", 1}}), "a   =    0x1  # hex\n");
  EXPECT_EQ(set_in("yaml", "a: 'x'\n", {{"a", "x"}, {"b", nullptr}}), "a: 'x'\n");
}

TEST(MergeUndo, LeavesAKeyWithAnotherValue) {
  const Edited edited = edit("toml", "a = 1\nb = 2\n", {{"a", 5}, {"c", 6}});
  std::string touched = edited.bytes;
  touched.replace(touched.find("a = 5"), 5, "a = 7");
  EXPECT_EQ(*undo_keys(touched, "toml", edited.records, "f"), "a = 7\nb = 2\n");
}

// Before the fix, an image's state with an empty key ended slipway, and one without a key was read past its end.
TEST(MergeUndo, RefusesRecordsThatItNeverMade) {
  const Json whole = edit("json", "{}", {{"a", {{"b", 1}}}}).records.at(0);
  ASSERT_TRUE(check_records(Json::array({whole}), "ours", "/etc/file").ok());
  const auto with = [&](const char* name, const Json& value) {
    Json record = whole;
    record[name] = value;
    return record;
  };
  Json without_ours = whole;
  without_ours.erase("ours");
  for (const Json& bad :
       std::vector<Json>{Json::object(), "text", nullptr, with("key", Json::array()), with("key", "a"),
                         with("key", {"a", 1}), with("edit", Json::object()), with("edit", {"old"}), with("made", 3),
                         with("made", -1), with("fills", 1), without_ours}) {
    const auto undone = undo_keys("{\"a\": {\"b\": 1}}", "json", {bad}, "/etc/file");
    ASSERT_FALSE(undone.ok()) << bad;
    EXPECT_EQ(undone.error().code, ErrorCode::corrupt) << bad;
    EXPECT_EQ(undone.error().where, "/etc/file");
  }
  EXPECT_FALSE(check_records(Json(1001, whole), "ours", "/etc/file").ok());
  EXPECT_FALSE(check_records({{"a", 1}}, "ours", "/etc/file").ok());
}

// Before the fix, the file was parsed again for each record: hours for a file of a megabyte.
TEST(MergeUndo, ParsesTheFileOnceForAllChangedKeys) {
  Json document;
  for (int i = 0; i < 1000; ++i) document["name-" + std::to_string(i)] = std::string(2000, 'x');
  const std::string bytes = document.dump(1);
  std::vector<KeyRecord> records;
  for (int i = 0; i < 1000; ++i) {
    Json record = edit("json", "{}", {{"name-" + std::to_string(i), "ours"}}).records.at(0);
    records.push_back(std::move(record));
  }
  EXPECT_EQ(*undo_keys(bytes, "json", records, "f"), bytes);
}

TEST(MergeUndo, WorksAroundEditsNextToIt) {
  const Edited edited = edit("toml", "[a]\nx = 1\n", {{"n", {{"k", 1}, {"l", 2}}}});
  std::string touched = edited.bytes;
  touched.replace(touched.find("x = 1"), 5, "x = 9 # mine");
  EXPECT_EQ(*undo_keys(touched, "toml", edited.records, "f"), "[a]\nx = 9 # mine\n");
  touched += "mine = 3\n";  // now the section is no longer slipway's alone
  EXPECT_EQ(*undo_keys(touched, "toml", edited.records, "f"), "[a]\nx = 9 # mine\n\n[n]\nmine = 3\n");
}

#ifdef __SANITIZE_ADDRESS__
constexpr int kRounds = 100;  // under AddressSanitizer, a round takes ten times as long
#else
constexpr int kRounds = 400;
#endif

class MergeProperties : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Formats, MergeProperties, ::testing::Values("json", "toml", "yaml"),
                         [](const auto& test) { return test.param; });

/// Returns the expected document after setting one key.
Json still_planned(Json document, const Key& key, const Json& value) {
  Json* at = &document;
  for (const std::string& name : key) {
    if (!at->is_object()) *at = Json::object();
    at = &(*at)[name];
  }
  *at = value;
  return document;
}

/// Adds a key unless one is inside another, as in the keys of one `set` object.
void add_unless_one_is_within_another(std::vector<DesiredKey>& desired_keys, DesiredKey desired) {
  for (const DesiredKey& other : desired_keys) {
    const std::size_t common = std::min(other.key.size(), desired.key.size());
    if (std::equal(desired.key.begin(), desired.key.begin() + static_cast<std::ptrdiff_t>(common), other.key.begin()))
      return;
  }
  desired_keys.push_back(std::move(desired));
}

TEST_P(MergeProperties, SetThenParseIsTheOldDocumentWithThatKey) {
  RandomDocuments random(1);
  int done = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = random.text(GetParam());
    const auto before = read_value(bytes, GetParam(), "f");
    ASSERT_TRUE(before.ok()) << slipway::to_text(before.error()) << bytes;
    const Key key = random.key(*before);
    const Json value = random.value();
    const auto edited = set_keys(bytes, GetParam(), {{key, value}}, "f");
    if (!edited) continue;
    ++done;
    const bool emptied =
        reach(*before, key).depth == key.size() && value == Json::object() && reach(*before, key).value->is_object();
    const Json expected = emptied ? *before : still_planned(*before, key, value);
    EXPECT_EQ(*read_value(edited->bytes, GetParam(), "f"), expected) << bytes << "---\n" << edited->bytes;
  }
  EXPECT_GT(done, kRounds * 3 / 4);
}

TEST_P(MergeProperties, ANewKeyKeepsEveryByteOfTheFile) {
  RandomDocuments random(2);
  int done = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = random.text(GetParam());
    const Json before = *read_value(bytes, GetParam(), "f");
    const Key key = random.key(before);
    const Reach existing = reach(before, key);
    if (existing.depth == key.size() || !existing.value->is_object() || existing.value->empty()) continue;
    const auto edited = set_keys(bytes, GetParam(), {{key, random.value()}}, "f");
    if (!edited) continue;
    ++done;
    EXPECT_EQ(edited->records.at(0)["edit"]["old"], "") << bytes << "---\n" << edited->bytes;
  }
  EXPECT_GT(done, kRounds / 4);
}

TEST_P(MergeProperties, SetThenUndoGivesTheOldBytes) {
  RandomDocuments random(3);
  int done = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = random.text(GetParam());
    const Json before = *read_value(bytes, GetParam(), "f");
    std::vector<DesiredKey> desired_keys;
    for (std::size_t i = 0; i < 1 + random.below(3); ++i)
      add_unless_one_is_within_another(desired_keys, {random.key(before), random.chance(20) ? Json() : random.value()});
    const auto edited = set_keys(bytes, GetParam(), desired_keys, "f");
    if (!edited) continue;
    ++done;
    const auto undone = undo_keys(edited->bytes, GetParam(), edited->records, "f");
    ASSERT_TRUE(undone.ok()) << slipway::to_text(undone.error());
    EXPECT_EQ(*undone, bytes) << edited->bytes << Json(edited->records).dump(1);
  }
  EXPECT_GT(done, kRounds / 2);
}

// Two components set keys in one file; in either order the other's keys stay, and at the end all are gone.
TEST_P(MergeProperties, TwoOwnersUndoTheirKeysInAnyOrder) {
  RandomDocuments random(4);
  int done = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = random.text(GetParam());
    const Json before = *read_value(bytes, GetParam(), "f");
    const DesiredKey first{random.key(before), random.value()};
    const DesiredKey second{random.key(before), random.value()};
    if (first.key.front() == second.key.front()) continue;
    const auto one = set_keys(bytes, GetParam(), {first}, "f");
    const auto two = one ? set_keys(one->bytes, GetParam(), {second}, "f") : one;
    if (!two) continue;
    ++done;
    const bool in_order = random.chance(50);
    const auto middle = undo_keys(two->bytes, GetParam(), in_order ? one->records : two->records, "f");
    ASSERT_TRUE(middle.ok()) << slipway::to_text(middle.error());
    const DesiredKey& kept = in_order ? second : first;
    EXPECT_TRUE(holds(*read_value(*middle, GetParam(), "f"), kept.key, kept.value)) << *middle;
    const auto last = undo_keys(*middle, GetParam(), in_order ? two->records : one->records, "f");
    ASSERT_TRUE(last.ok());
    EXPECT_EQ(*read_value(*last, GetParam(), "f"), before) << *last;
    // Blanks in empty braces, and a text block at the end of the file, may be written in another way afterwards.
    const bool written_anew =
        before.empty() || bytes.find("|\n") != std::string::npos || bytes.find("|\r") != std::string::npos;
    if (!written_anew) {
      EXPECT_EQ(*last, bytes) << two->bytes;
    }
  }
  EXPECT_GT(done, kRounds * 2 / 5);
}

// A fuzzer's find: yaml-cpp added endless documents after a comma.
TEST(MergeYaml, WithSomethingBehindTheDocumentIsRefusedAtOnce) {
  for (const char* text : {"{a: 1},\n", "a: 1\n---\nb: 2\n", "{a: 1}]\n"}) {
    const auto value = read_value(text, "yaml", "/c.yaml");
    EXPECT_FALSE(value.ok()) << text;
  }
}

}  // namespace
}  // namespace slipway::merge
