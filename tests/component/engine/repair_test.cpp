// SPDX-License-Identifier: Apache-2.0
// Each file of a root's state, damaged in each way: readable files are used, and `slipway repair` restores the rest.
#include <set>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kState = "var/lib/slipway/";
constexpr const char* kFirst = "    probe: {files: {/etc/probe.conf: \"one\\n\"}}\n";
constexpr const char* kSpec =
    "    probe: {files: {/etc/probe.conf: \"ours\\n\", /etc/ld.so.conf.d/new.conf: \"/opt\\n\"}, trigger: ldconfig}\n"
    "    bystander: {file: /etc/bystander}\n";

struct Case {
  std::string file;
  bool stops_status = true;              ///< it exits with 1 and names the file
  bool stops_apply = true;               ///< plan and apply are refused
  bool stops_removal = false;            ///< of another component too
  bool stops_removal_of_all = false;     ///< before the repair
  std::set<std::string> leftovers = {};  ///< after the repair, an apply, and a removal of all
  std::set<std::string> lost = {};       ///< files that are missing then
};

class Repair : public ::testing::TestWithParam<Case> {
 protected:
  Repair() {
    host.put("etc/probe.conf", "the user's\n");
    untouched = host.tree();
    host.spec(kFirst);
    EXPECT_EQ(host.slipway({"apply"}).code, 0);
    host.spec(kSpec);
    const Ran applied = host.slipway({"apply"});
    EXPECT_EQ(applied.code, 0) << applied.out << applied.err;
  }
  /// Returns the state's file, whose name is known once it exists.
  std::string file() const {
    const std::string name = GetParam().file;
    return kState + (name == "originals"
                         ? "originals/" + fs::directory_iterator(host.path(kState + name))->path().filename().string()
                         : name);
  }
  std::map<std::string, std::string> ways() const {
    const std::string whole = fs::exists(host.path(file())) ? host.text(file()) : R"({"probe": {"state": "failed"}})";
    std::map<std::string, std::string> ways{{"truncated", whole.substr(0, whole.size() / 2)},
                                            {"empty", ""},
                                            {"zeroed", std::string(std::max<std::size_t>(whole.size(), 64), '\0')},
                                            {"no JSON", "{ this is not JSON"},
                                            {"another shape", R"({"files": [1], "component": 5})"},
                                            {"a list", "[[]]"}};
    if (whole[0] == '2' || whole[0] == '3') ways.erase("truncated");  // "3 0.1.0": the number is the content
    return ways;
  }
  void save() const { copy("root", "saved"); }
  void bring_back() const { copy("saved", "root"); }
  void repair_and_continue(const std::string& damaged) const;

  ScratchHost host;
  std::map<std::string, std::string> untouched;

 private:
  void copy(const std::string& from, const std::string& to) const {
    fs::remove_all(host.folder().at(to));
    const std::string command =
        "cp -a '" + host.folder().at(from).string() + "' '" + host.folder().at(to).string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
};

std::string shown(const Ran& ran) { return ran.out + ran.err; }

void Repair::repair_and_continue(const std::string& damaged) const {
  const Ran repaired = host.slipway({"repair"});
  EXPECT_EQ(repaired.code, 0) << shown(repaired);
  EXPECT_THAT(repaired.out, HasSubstr("/" + damaged));
  EXPECT_EQ(host.slipway({"repair", "--dry-run"}).code, 0) << "it is whole again";
  EXPECT_EQ(host.slipway({"status"}).code, 0);
  const Ran applied = host.slipway({"apply"});
  EXPECT_EQ(applied.code, 0) << shown(applied);
  for (const std::string command : {"plan", "verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 0) << command << shown(ran);
  }
}

// Before the fix, only removing the link by hand helped.
TEST(RepairOfALink, ThatDanglesInPlaceOfARecordIsSetAside) {
  for (const std::string file : {"components/bystander.json", "generations/1.json"}) {
    const ScratchHost host;
    host.spec("    bystander: {}\n");
    ASSERT_EQ(host.slipway({"apply"}).code, 0);
    const fs::path path = host.path("var/lib/slipway/" + file);
    fs::remove(path);
    fs::create_symlink("/nowhere/at/all", path);
    const Ran status = host.slipway({"status"});
    EXPECT_EQ(status.code, 1) << file << shown(status);
    EXPECT_THAT(shown(status), HasSubstr("/" + file));
    const Ran repaired = host.slipway({"repair"});
    EXPECT_EQ(repaired.code, 0) << file << shown(repaired);
    EXPECT_FALSE(fs::is_symlink(path)) << file;
    EXPECT_EQ(host.slipway({"status"}).code, 0) << file;
    EXPECT_EQ(host.slipway({"apply"}).code, 0) << file;
  }
}

TEST_P(Repair, EndsWithAnIntactStateForAnyDamage) {
  const Case& test = GetParam();
  const std::string damaged = file();
  save();
  for (const auto& [way, content] : ways()) {
    SCOPED_TRACE(damaged + ": " + way);
    bring_back();
    host.put(damaged, content);
    const auto before = host.tree();
    const auto names_it = [&](const Ran& ran) {
      EXPECT_THAT(shown(ran), HasSubstr("/" + damaged));
      EXPECT_THAT(shown(ran), HasSubstr("slipway repair --root "));
    };
    const Ran status = host.slipway({"status"});
    EXPECT_EQ(status.code, test.stops_status ? 1 : 0) << shown(status);
    if (test.stops_status) names_it(status);
    EXPECT_TRUE(test.stops_removal || status.out.find("  bystander     applied") != std::string::npos) << status.out;
    for (const std::string command : {"verify", "doctor"}) {
      const Ran ran = host.slipway({command});
      EXPECT_EQ(ran.code, 1) << shown(ran);
      EXPECT_THAT(ran.out, HasSubstr("fail  slipway.state"));
      names_it(ran);
    }
    for (const std::string command : {"plan", "apply"}) {
      const Ran ran = host.slipway({command});
      EXPECT_EQ(ran.code, test.stops_apply ? 1 : 0) << command << shown(ran);
      if (test.stops_apply) names_it(ran);
    }
    const Ran dry = host.slipway({"repair", "--dry-run"});
    EXPECT_EQ(dry.code, 2) << shown(dry);
    EXPECT_THAT(dry.out, HasSubstr("/" + damaged));
    if (test.stops_removal_of_all) {
      const Ran all = host.slipway({"remove", "--all"});
      EXPECT_EQ(all.code, 1) << all.out;
      names_it(all);
    }
    EXPECT_EQ(host.tree(), before) << "nothing of this changes anything";

    const Ran removed = host.slipway({"remove", "bystander"});
    EXPECT_EQ(removed.code, test.stops_removal ? 1 : 0) << shown(removed);
    EXPECT_EQ(fs::exists(host.path("etc/bystander")), test.stops_removal);
    EXPECT_EQ(host.text(damaged) == content, test.file != "format") << "the others stay for the repair";
    host.put(damaged, content);
    repair_and_continue(damaged);

    const Ran all = host.slipway({"remove", "--all"});
    EXPECT_EQ(all.code, 0) << shown(all);
    const auto after = host.tree();
    for (const auto& [path, picture] : after)
      EXPECT_TRUE(untouched.contains(path) || test.leftovers.contains(path)) << path << " is left";
    for (const auto& [path, picture] : untouched) {
      EXPECT_EQ(after.contains(path), !test.lost.contains(path)) << path;
      EXPECT_TRUE(!after.contains(path) || after.at(path) == picture) << path;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, Repair,
    ::testing::Values(Case{.file = "format"}, Case{.file = "origin.json", .leftovers = {"var", "var/lib"}},
                      Case{.file = "components/probe.json",
                           .stops_removal_of_all = true,
                           .leftovers = {"etc/ld.so.conf.d"},
                           .lost = {"etc/probe.conf"}},
                      Case{.file = "components/bystander.json", .stops_removal = true, .stops_removal_of_all = true},
                      Case{.file = "generations/1.json", .stops_apply = false}, Case{.file = "generations/2.json"},
                      Case{.file = "generations/current"},
                      Case{.file = "products.json", .stops_removal_of_all = true, .leftovers = {"etc/ld.so.cache"}},
                      Case{.file = "failing.json"}, Case{.file = "unproven.json"},
                      Case{.file = "originals",
                           .stops_status = false,
                           .stops_apply = false,
                           .stops_removal_of_all = true,
                           .lost = {"etc/probe.conf"}}),
    [](const auto& tested) {
      std::string name = tested.param.file;
      std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return name;
    });

/// A root with one component, and its state.
class RepairOf : public ::testing::Test {
 protected:
  RepairOf() {
    host.put("etc/engine.toml", "[a]\nset = \"theirs\"\n");
    host.spec(
        "    probe: {files: {/etc/probe.conf: x}, units: {probe.service: "
        "\"[Service]\\n[Install]\\nWantedBy=a.target\\n\"}, "
        "merges: {/etc/engine.toml: '{\"a\": {\"new\": 2}}'}}\n");
    const Ran applied = host.slipway({"apply"});
    EXPECT_EQ(applied.code, 0) << shown(applied);
  }
  void expect_refusals(const std::string& file) const {
    for (const std::string command : {"status", "plan", "apply", "verify", "doctor"}) {
      const Ran ran = host.slipway({command});
      EXPECT_EQ(ran.code, 1) << command << shown(ran);
      EXPECT_THAT(shown(ran), HasSubstr(file)) << command;
      EXPECT_THAT(shown(ran), HasSubstr("slipway repair --root ")) << command;
    }
  }
  void expect_whole() const {
    for (const std::string command : {"verify", "doctor"}) EXPECT_EQ(host.slipway({command}).code, 0) << command;
  }
  void repair() const {
    const Ran repaired = host.slipway({"repair", "--yes"});
    EXPECT_EQ(repaired.code, 0) << shown(repaired);
    EXPECT_EQ(host.slipway({"status"}).code, 0);
  }
  ScratchHost host;
  const std::string record = kState + "components/probe.json";
};

// Before the fix, a digest that slipway itself had written was looked up among the originals.
TEST_F(RepairOf, AnIntactStateChangesNothing) {
  const auto before = host.tree();
  expect_whole();
  const Ran ran = host.slipway({"repair", "--dry-run"});
  EXPECT_EQ(ran.code, 0) << shown(ran);
  EXPECT_EQ(host.slipway({"repair"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

TEST_F(RepairOf, AnOriginalOfAMergedFileKeepsTheUndoOfItsKeys) {
  for (const auto& entry : fs::directory_iterator(host.path(kState + "originals")))
    std::ofstream(entry.path()) << "damaged";
  repair();
  expect_whole();
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.text("etc/engine.toml"), "[a]\nset = \"theirs\"\n");
}

TEST_F(RepairOf, AComponentLetsTheNextApplyTakeOverMatchingThings) {
  host.put(record, "");
  repair();
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 2) << shown(plan);
  EXPECT_THAT(plan.out, HasSubstr("its record was lost: whatever matches the plan is taken over"));
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.slipway({"plan"}).code, 0);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  for (const char* gone : {"etc/probe.conf", "etc/systemd/system/probe.service",
                           "etc/systemd/system/a.target.wants/probe.service", "var/lib/slipway"})
    EXPECT_FALSE(fs::exists(fs::symlink_status(host.path(gone)))) << gone;
  EXPECT_THAT(host.text("etc/engine.toml"), HasSubstr("new = 2")) << "it may have been there";
}

TEST_F(RepairOf, AComponentThatIsRemovedBeforeAnApplyLeavesItsFiles) {
  host.put(record, "");
  repair();
  const Ran removed = host.slipway({"remove", "probe"});
  EXPECT_EQ(removed.code, 0) << shown(removed);
  EXPECT_THAT(removed.out, HasSubstr("what it created before stays"));
  EXPECT_TRUE(fs::exists(host.path("etc/probe.conf")));
}

TEST_F(RepairOf, RecordsThatAreNotFilesDoesNotOpenThem) {
  fs::remove(host.path(record));
  ASSERT_EQ(::mkfifo(host.path(record).c_str(), 0600), 0);
  expect_refusals("/" + record);
  repair();
  EXPECT_TRUE(fs::is_fifo(host.path(kState + "damaged/components-probe.json.1")));
  fs::remove(host.path(record));
  host.put(record + "/inside", "x");
  expect_refusals("/" + record);
  repair();
  EXPECT_EQ(host.text(kState + "damaged/components-probe.json.2/inside"), "x");
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
}

TEST_F(RepairOf, AnInvalidNumberUsesTheNewestGeneration) {
  host.spec("    probe: {files: {/etc/probe.conf: y}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  fs::remove(host.path(kState + "generations/2.json"));  // as after a kill of a repair
  expect_refusals("/" + kState + "generations/current");
  repair();
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("Generation 1 is active"));
}

// Before the fix, SQLite removed the log beside an empty file, so `slipway status` destroyed what an apply had to undo.
TEST_F(RepairOf, AJournalKeepsItAside) {
  const std::string journal = kState + "journal.sqlite";
  for (const std::string& content : {std::string(4096, '\0'), std::string("no database"), std::string()}) {
    host.put(journal, content);
    host.put(journal + "-wal", "what is to be undone");
    const auto before = host.tree();
    expect_refusals("/" + journal);
    EXPECT_EQ(host.slipway({"remove", "probe"}).code, 1);
    EXPECT_EQ(host.slipway({"repair", "--dry-run"}).code, 2);
    auto after = host.tree();
    for (const std::string& file : {journal, journal + "-wal"})  // only the owner may access them
      EXPECT_EQ(after[file].substr(7), before.at(file).substr(7)) << content;
    repair();
    EXPECT_FALSE(fs::exists(host.path(journal)));
    EXPECT_EQ(host.slipway({"plan"}).code, 0);
  }
  EXPECT_EQ(host.text(kState + "damaged/journal.sqlite.3-wal"), "what is to be undone");
}

// Before the fix, an invalid log was taken for the log of an apply without intentions.
TEST_F(RepairOf, AnInvalidLogOfTheJournalIsDamageToo) {
  const std::string journal = kState + "journal.sqlite";
  for (const std::string& content : {std::string("{\"no\": \"log\"}"), std::string(100'000, '\0')}) {
    host.put(journal, std::string(4096, 'x'));
    host.put(journal + "-wal", content);
    expect_refusals("/" + journal);
    repair();
    EXPECT_FALSE(fs::exists(host.path(journal + "-wal")));
  }
}

TEST_F(RepairOf, AStateOfALaterSlipwayIsRefused) {
  host.put(kState + "format", "99 9.9.9\n");
  const auto before = host.tree();
  const Ran ran = host.slipway({"repair"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("install slipway 9.9.9"));
  EXPECT_EQ(host.tree(), before);
}

}  // namespace
}  // namespace slipway
