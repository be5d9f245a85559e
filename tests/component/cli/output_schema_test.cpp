// SPDX-License-Identifier: Apache-2.0
// The output of commands for programs: events and the result on standard output, each line by the published schema.
#include <fstream>

#include "tests/component/cli/driver_root.hpp"
#include "tests/component/cli/json_schema.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::judged;
using slipway::testing::Ran;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line, nullptr, false));
  return lines;
}

class OutputSchema : public ::testing::Test {
 protected:
  OutputSchema() {
    const Ran ran = root.slipway({"explain", "--schema", "output"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    root.folder().file("output.schema.json", ran.out);
  }
  ~OutputSchema() override {
    std::vector<std::string> files;
    for (const auto& [file, words] : printed) files.push_back(file);
    const auto verdicts = judged(root.folder().at("output.schema.json").string(), files);
    for (const auto& [file, words] : printed) EXPECT_THAT(verdicts.at(file), StartsWith("good")) << words;
  }

  /// Runs it with -o json, keeps the output for validation, and returns its result: the last line.
  Json result(std::vector<std::string> words, const std::string& form, int code, bool simulated = true) {
    std::string name;
    for (const std::string& word : words) name += word + " ";
    SCOPED_TRACE(name + form);
    words.insert(words.end(), {"-o", form});
    const Ran ran = simulated ? root.run(words) : root.slipway(words);
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    events.clear();
    error_text = ran.err;
    const std::string file = "printed-" + std::to_string(printed.size()) + (form == "json" ? ".json" : ".jsonl");
    root.folder().file(file, ran.out);
    printed[root.folder().at(file).string()] = name + form;
    if (form == "json") return Json::parse(ran.out, nullptr, false);
    events = lines_of(ran.out);
    EXPECT_FALSE(events.empty()) << ran.err;
    if (events.empty()) return {};
    Json last = events.back();
    events.pop_back();
    return last;
  }
  /// Returns the kind of a component tool's output with -o json; a usage error has one too.
  std::string tool_kind(std::vector<std::string> words, int code = 0) {
    std::string name;
    for (const std::string& word : words) name += word + " ";
    words.insert(words.end(), {"-o", "json"});
    const Ran ran = root.bare(words);
    EXPECT_EQ(ran.code, code) << name << ran.out << ran.err;
    const std::string file = "printed-" + std::to_string(printed.size()) + ".json";
    root.folder().file(file, ran.out);
    printed[root.folder().at(file).string()] = name;
    error_text = ran.err;
    const Json json = Json::parse(ran.out, nullptr, false);
    return json.is_object() ? json.value("kind", "") : ran.out;
  }
  std::string kind(const std::vector<std::string>& words, const std::string& form, int code, bool simulated = true) {
    const Json last = result(words, form, code, simulated);
    return last.is_object() ? last.value("kind", "") : last.dump();
  }

  DriverRoot root;
  std::map<std::string, std::string> printed;  ///< file to the command that printed it
  std::vector<Json> events;                    ///< of the last command
  std::string error_text;
};

TEST_F(OutputSchema, MatchesTheOutputOfHostCommands) {
  const std::string first = "modules: open, source: {repository: " + testing::kPackage + ", trust: unsigned}";
  for (const std::string form : {"json", "jsonl"}) {
    root.driver("version: \"535.261.03\", " + first);
    EXPECT_EQ(kind({"init"}, form, 0), "Host");
    EXPECT_EQ(kind({"detect", "-f", root.folder().at("host.yaml").string()}, form, 0), "Facts");
    EXPECT_EQ(kind({"plan"}, form, 2), "Plan");
    EXPECT_EQ(kind({"apply"}, form, 0), "Applied");
    EXPECT_EQ(kind({"plan"}, form, 0), "Plan");
    EXPECT_EQ(kind({"verify"}, form, 0), "Findings");
    EXPECT_EQ(kind({"status"}, form, 0), "Status");
    EXPECT_EQ(kind({"repair"}, form, 0), "Repair");
    root.put("var/lib/slipway/failing.json", "no JSON");
    EXPECT_EQ(result({"status"}, form, 1)["damaged"].size(), 1U);
    EXPECT_EQ(result({"repair", "--dry-run"}, form, 2)["files"].size(), 1U);
    EXPECT_EQ(result({"repair"}, form, 0)["changed"], true);
    EXPECT_EQ(kind({"graph"}, form, 0, false), "Graph");
    const Json doctor = result({"doctor"}, form, 0);
    EXPECT_EQ(doctor["kind"], "Diagnosis");
    EXPECT_EQ(kind({"gc", "--dry-run"}, form, 0), "Garbage");
    EXPECT_EQ(kind({"gc"}, form, 0), "Garbage");
    EXPECT_EQ(kind({"rollback"}, form, 1), "Error");
    const std::string conf = "/etc/modprobe.d/slipway-nvidia.conf";
    root.put(conf.substr(1), "# by hand\n");
    EXPECT_EQ(result({"plan"}, form, 0)["edits"].size(), 1U);
    EXPECT_EQ(result({"plan", "--replace-edits=" + conf}, form, 2)["options"]["replace_edits"], Json({conf}));
    EXPECT_EQ(result({"status"}, form, 0)["components"]["driver"]["edits"], Json({conf}));
    EXPECT_EQ(kind({"accept", conf, "--dry-run"}, form, 2), "Plan");
    EXPECT_EQ(kind({"accept", conf}, form, 0), "Applied");
    EXPECT_EQ(result({"status"}, form, 0)["components"]["driver"]["accepted"], Json({conf}));
    root.driver("version: latest, modules: open, load: [nvidia], source: {repository: " + testing::kPackage +
                ", trust: unsigned}");
    EXPECT_EQ(kind({"apply"}, form, 0), "Applied");
    EXPECT_EQ(kind({"rollback"}, form, 0), "Applied");
    EXPECT_EQ(kind({"remove", "--all"}, form, 0), "Applied");
    EXPECT_EQ(kind({"log"}, form, 0, false), "Log");
  }
}

TEST_F(OutputSchema, MatchesTheOutputOfPluginAndPackageCommands) {
  for (const std::string form : {"json", "jsonl"}) {
    const std::string folder = root.folder().at("made-" + form).string();
    EXPECT_EQ(kind({"explain"}, form, 0, false), "Components");
    EXPECT_EQ(kind({"explain", "driver"}, form, 0, false), "Explanation");
    const Json source = result({"explain", "driver.source"}, form, 0, false);
    EXPECT_EQ(source["schema"]["type"], "artifact-source");
    EXPECT_EQ(kind({"explain", "drver"}, form, 64, false), "Error");
    EXPECT_EQ(kind({"plugin", "list"}, form, 0, false), "Plugins");
    EXPECT_EQ(kind({"plugin", "info", root.plugins + "/driver.so"}, form, 0, false), "Plugin");
    EXPECT_EQ(kind({"plugin", "new", "acme", "--to", folder}, form, 0, false), "NewPlugin");
    EXPECT_EQ(kind({"pkg", "inspect", testing::kPackage}, form, 0, false), "Package");
    EXPECT_EQ(kind({"pkg", "pull", testing::kPackage, "--to", folder + "-layout"}, form, 0, false), "Package");
    EXPECT_EQ(kind({"bugreport", "--to", folder + ".tar"}, form, 0), "BugReport");
    EXPECT_EQ(kind({"version"}, form, 0, false), "Version");
  }
}

// Before the fix, some tools accepted -o json and printed text, others printed JSON without apiVersion and kind.
TEST_F(OutputSchema, MatchesTheOutputOfTools) {
  const std::string folder = root.folder().at("cdi").string();
  const std::string spec = "cdiVersion: 0.5.0\nkind: a.b/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n";
  for (const char* name : {"cdi/a.yaml", "cdi/b.yaml"}) root.folder().file(name, spec);
  root.folder().file("cdi/broken.yaml", "kind: [");
  EXPECT_EQ(tool_kind({"gfd", "labels", "--sim", "t4x4"}), "NodeLabels");
  EXPECT_EQ(tool_kind({"deviceplugin", "resources", "--sim", "t4x4"}), "DevicePluginResources");
  EXPECT_EQ(tool_kind({"mig", "show", "--sim", "a100-80x2,mig=3g.40gb/1g.10gb"}), "MigGpus");
  EXPECT_EQ(tool_kind({"toolkit", "cdi", "list", "--spec-dir", folder}), "CdiDevices");
  // Not below the temporary folder: that may be in /dev/shm, and a simulated machine has its own /dev.
  EXPECT_EQ(tool_kind({"cdi", "list", "--spec-dir", SLIPWAY_SOURCES "/tests/fuzz/corpus/cdi_spec", "--sim", "t4x4"}),
            "CdiDevices");
  EXPECT_EQ(tool_kind({"cdi", "validate", folder + "/a.yaml", folder + "/broken.yaml"}, 1), "CdiValidation");
  EXPECT_EQ(tool_kind({"gfd", "labels", "--config-file", "/nowhere"}, 1), "Error");
  for (const char* sim : {"--sim", ""}) {
    const auto on = [&sim](std::vector<std::string> words) {
      if (*sim != 0) words.insert(words.end(), {sim, "t4x4"});
      return words;
    };
    EXPECT_EQ(tool_kind(on({"cdi", "generate"}), 64), "Error");
    EXPECT_THAT(error_text, HasSubstr("--format json"));
    EXPECT_EQ(tool_kind(on({"cdi", "transform", "root"}), 64), "Error");
    EXPECT_EQ(tool_kind(on({"driver", "build"}), 64), "Error");
    EXPECT_EQ(tool_kind(on({"gfd", "paint"}), 64), "Error");
  }
  EXPECT_EQ(root.bare({"toolkit", "runtime", "configure", "-o", "json"}).code, 64);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"gfd", "labels"},
                                                {"gfd", "devices"},
                                                {"deviceplugin", "resources"},
                                                {"deviceplugin", "status"},
                                                {"mig", "show"},
                                                {"cdi", "list"}}) {
    auto more = words;
    more.insert(more.end(), {"-o", "jsonl"});
    const Ran ran = root.bare(more);
    EXPECT_EQ(ran.code, 64) << words.front() << " " << words.back();
    EXPECT_THAT(ran.err, ContainsRegex("json.*, not 'jsonl'"));
  }
}

TEST_F(OutputSchema, MatchesEarlyErrors) {
  for (const std::string form : {"json", "jsonl"}) {
    EXPECT_EQ(kind({"aply"}, form, 64, false), "Error");
    EXPECT_EQ(kind({"plan", "--bogus"}, form, 64, false), "Error");
    EXPECT_EQ(kind({"plugin", "lst"}, form, 64, false), "Error");
    root.spec("    drver: {}\n");
    const Json unknown = result({"plan"}, form, 1);
    EXPECT_EQ(unknown["kind"], "Error");
    EXPECT_EQ(unknown["code"], "invalid");
    EXPECT_THAT(error_text, HasSubstr("did you mean 'driver'?")) << "people read it on standard error";
    root.driver("version: \"535.261.04\", source: {repository: " + testing::kPackage + ", trust: unsigned}");
    const Json plan = result({"plan"}, form, 1);
    EXPECT_EQ(plan["kind"], "Plan");
    const Json apply = result({"apply"}, form, 1);
    EXPECT_EQ(apply["components"][0]["state"], "failed");
    EXPECT_THAT(error_text, HasSubstr("has no driver 535.261.04"));
  }
}

TEST_F(OutputSchema, HasOneEventPerLineAndTheResultLast) {
  EXPECT_EQ(kind({"apply"}, "jsonl", 0), "Applied");
  std::map<std::string, int> types;
  for (const Json& event : events) {
    EXPECT_EQ(event["apiVersion"], "slipway.dev/v1");
    EXPECT_EQ(event["kind"], "Event");
    ++types[event["type"]];
  }
  EXPECT_GT(types["step"], 0);
  EXPECT_GT(types["progress"], 0);
  EXPECT_THAT(error_text, IsEmpty()) << "nothing was to be warned of";
}

TEST_F(OutputSchema, PrintsOneDocumentAndMessagesOnStandardError) {
  const Json applied = result({"apply"}, "json", 0);
  EXPECT_EQ(applied["kind"], "Applied");
  EXPECT_THAT(error_text, HasSubstr("driver: "));
  EXPECT_THAT(error_text, Not(HasSubstr("{\"")));
  const Ran text = root.run({"verify"});
  EXPECT_THAT(text.out, HasSubstr("Verified."));
}

TEST_F(OutputSchema, RepeatsWarningsForPeopleOnStandardError) {
  root.folder().file("plugins/broken.so", "no plugin");
  root.plugins += ":" + root.folder().at("plugins").string();
  EXPECT_EQ(kind({"status"}, "jsonl", 0), "Status");
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front()["type"], "warning");
  EXPECT_THAT(error_text, HasSubstr("warning: plugin left out"));
  EXPECT_THAT(error_text, Not(HasSubstr("{\"")));
}

TEST_F(OutputSchema, CountsTheAppliesOfTheLogAfterThem) {
  root.live = true;
  ASSERT_NE(root.run({"apply"}).code, 64);
  const Json log = result({"log"}, "jsonl", 0, false);
  EXPECT_EQ(log["kind"], "Log");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(log["count"], 1);
  EXPECT_EQ(events.front()["kind"], "LogEntry");
}

}  // namespace
}  // namespace slipway
