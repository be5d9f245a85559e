// SPDX-License-Identifier: Apache-2.0
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;

TEST(CommandLine, MistakesExitWith64AndSuggestACorrection) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"aply"}), 64, {"aply", "apply"}, before);
  expect_refused(root, root.run({"plan", "--colour"}), 64, {"colour"}, before);
  expect_refused(root, root.run({"plan", "-o", "xml"}), 64, {"xml", "json"}, before);
  expect_refused(root, root.run({"remove"}), 64, {"--all"}, before);
  expect_refused(root, root.slipway({"pkg", "bild"}), 64, {"pkg"}, before);
}

// Before the fix, `verify bogus nonsense` printed "Verified.".
TEST(CommandLine, OptionsAndWordsThatHaveNoEffectAreRefused) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"verify", "--dry-run"}), 64, {"--dry-run", "slipway verify --help"}, before);
  expect_refused(root, root.run({"status", "--deep"}), 64, {"status", "--deep", "--help"}, before);
  expect_refused(root, root.run({"remove", "driver", "--only", "driver"}), 64, {"--only"}, before);
  expect_refused(root, root.run({"remove", "--all", "driver"}), 64, {"--all", "driver"}, before);
  expect_refused(root, root.run({"plan", "--kernel", "../../x"}), 64, {"'../../x'", "uname -r"}, before);
  expect_refused(root, root.run({"plan", "--only", ""}), 64, {"--only", "is empty"}, before);
  expect_refused(root, root.run({"plan"}, ""), 64, {"--sim", "is empty"}, before);
  expect_refused(root, root.bare({"driver", "kernels", "nope"}), 64, {"'nope'"}, before);
  expect_refused(root, root.bare({"driver", "kernels", "-o", "jsonl"}), 64, {"jsonl"}, before);
  expect_refused(root, root.run({"plan", "--yes"}), 64, {"--yes"}, before);
  expect_refused(root, root.run({"status", "now"}), 64, {"'now'"}, before);
  expect_refused(root, root.run({"rollback", "1", "2"}), 64, {"'2'"}, before);
  expect_refused(root, root.run({"status", "-vv"}), 64, {"verbose", "more than once"}, before);
  expect_refused(root, root.run({"status", "-v", "--verbose"}), 64, {"verbose", "more than once"}, before);
  const std::string file = root.folder().at("host.yaml").string();
  expect_refused(root, root.run({"verify", "bogus", "nonsense", "-f", file}), 64, {"bogus"}, before);
  expect_refused(root, root.run({"detect", "--only", "bogus", "-f", file}), 64, {"bogus"}, before);
}

// Before the fix, everything was installed before the lock failed to be written.
TEST(Lock, ThatCannotBeWrittenIsReportedBeforeAnythingIsChanged) {
  const DriverRoot root;
  const auto before = root.tree();
  const std::string lock = root.folder().at("nowhere/slipway.lock").string();
  expect_refused(root, root.run({"apply", "--lock", lock}), 1, {"nowhere/slipway.lock"}, before);
}

/// Returns the words of "  slipway plan -f host.yaml -o json > plan.json" before the redirection.
std::vector<std::string> words_of(const std::string& example) {
  std::istringstream in(example);
  std::vector<std::string> words;
  for (std::string word; in >> word && word != ">" && word != "|";) words.push_back(word);
  return {words.begin() + 1, words.end()};
}

std::vector<std::string> with_help(std::vector<std::string> words) {
  words.emplace_back("--help");
  return words;
}

TEST(CommandLine, HelpOfACommandHasTwoExamples) {
  const DriverRoot root;
  const std::vector<std::vector<std::string>> calls{{"init"},
                                                    {"explain"},
                                                    {"detect"},
                                                    {"plan"},
                                                    {"apply"},
                                                    {"verify"},
                                                    {"doctor"},
                                                    {"status"},
                                                    {"rollback"},
                                                    {"generations"},
                                                    {"diff"},
                                                    {"remove"},
                                                    {"repair"},
                                                    {"accept"},
                                                    {"graph"},
                                                    {"gc"},
                                                    {"install"},
                                                    {"log"},
                                                    {"bugreport"},
                                                    {"service"},
                                                    {"version"},
                                                    {"help"},
                                                    {"plugin", "list"},
                                                    {"plugin", "info"},
                                                    {"plugin", "new"},
                                                    {"plugin", "check"},
                                                    {"pkg", "build"},
                                                    {"pkg", "push"},
                                                    {"pkg", "pull"},
                                                    {"pkg", "inspect"},
                                                    {"completion", "bash"},
                                                    {"completion", "man"}};
  for (const std::vector<std::string>& call : calls) {
    const std::string help = root.bare(with_help(call)).out;
    const std::string& command = call.back();
    const std::string options = help.substr(std::min(help.find("\nOptions:"), help.size()));
    std::istringstream in(help);
    int examples = 0;
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("  slipway ")) continue;
      ++examples;
      const std::vector<std::string> words = words_of(line);
      EXPECT_EQ(words.at(call.size() - 1), command) << line;
      for (const std::string& word : words) {
        if (word.starts_with('-')) {
          const std::string name = word.substr(0, word.find('='));
          EXPECT_THAT(options, ::testing::ContainsRegex(name + "[[ ,]")) << line;
        }
      }
      EXPECT_EQ(root.bare(with_help(words)).code, 0) << line;
    }
    EXPECT_GE(examples, 2) << command;
  }
}

TEST(CommandLine, HelpOfACommandListsItsOptionsOnly) {
  const DriverRoot root;
  const std::string help = root.slipway({"gc", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("--dry-run"));
  EXPECT_THAT(help, HasSubstr("--root"));
  EXPECT_THAT(help, ::testing::Not(HasSubstr("--deep")));
  EXPECT_THAT(help, ::testing::Not(HasSubstr("--tag")));
}

// Before the fix, `plugin list --to x` and `pkg inspect --trust unsigned` were accepted: all verbs of a command shared
// its options.
TEST(CommandLine, OfAVerbHasTheOptionsOfTheVerb) {
  const DriverRoot root;
  const auto before = root.tree();
  const auto refused = [&](const std::vector<std::string>& words, const std::vector<std::string>& says) {
    expect_refused(root, root.bare(words), 64, says, before);
  };
  refused({"plugin", "list", "extra"}, {"`slipway plugin list` takes no word 'extra'"});
  refused({"plugin", "list", "--to", "x"}, {"--to", "`slipway plugin list --help`"});
  refused({"plugin", "list", "--sim", "nosuch"}, {"--sim"});
  refused({"plugin", "new", "a", "--sim", "x"}, {"--sim"});
  refused({"plugin", "info", "x.so", "--to", "x"}, {"--to"});
  refused({"plugin", "info"}, {"a word is missing: slipway plugin info FILE"});
  refused({"plugin"}, {"list, info, new or check"});
  refused({"pkg", "inspect", "./layout", "--to", "x"}, {"--to"});
  refused({"pkg", "pull", "./layout"}, {"--to is missing: slipway pkg pull SOURCE --to LAYOUT|FILE.tar"});
  refused({"pkg", "push", "./layout", "--to", "other"}, {"a registry, not 'other'"});
  refused({"version", "extra"}, {"'extra'"});
  refused({"help", "plan", "extra"}, {"'extra'"});
  refused({"plugin", "new", "driver"}, {"a component 'driver' already"});
}

TEST(CommandLine, HelpOfACommandEqualsItsOwnHelp) {
  const DriverRoot root;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"plan"},
                                                                                     {"plugin"},
                                                                                     {"plugin", "new"},
                                                                                     {"version"},
                                                                                     {"driver"},
                                                                                     {"driver", "build"},
                                                                                     {"toolkit", "cdi", "list"}}) {
    std::vector<std::string> asked{"help"};
    asked.insert(asked.end(), words.begin(), words.end());
    const Ran help = root.bare(asked);
    EXPECT_EQ(help.code, 0) << help.err;
    EXPECT_THAT(help.out, HasSubstr(words.back()));
    EXPECT_EQ(help.out, root.bare(with_help(words)).out);
  }
  EXPECT_THAT(root.bare({"help", "drver"}).err, HasSubstr("driver"));
}

TEST(CommandLine, ThatIsMistypedGetsTheNearestWordSuggested) {
  const DriverRoot root;
  const auto before = root.tree();
  const std::string spec = root.folder().at("host.yaml").string();
  const std::string other = root.folder().at("root").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistyped{
      {{"gfd", "label"}, "'labels'"},
      {{"driver", "buil"}, "'build'"},
      {{"runtime", "confgure"}, "'configure'"},
      {{"toolkt", "cdi", "list"}, "`slipway toolkit`"},
      {{"toolkit", "cdj", "list"}, "'cdi'"},
      {{"plugin", "lst"}, "`slipway plugin list`"},
      {{"pkg", "inspct", "x"}, "`slipway pkg inspect`"},
      {{"completion", "bsh"}, "`slipway completion bash`"},
      {{"plan", "-o", "jsn"}, "'json'"},
      {{"cdi", "generate", "--mode", "nvm"}, "'nvml'"},
      {{"gfd", "labels", "--mig-strategy", "mied"}, "'mixed'"},
      {{"service", "gdf", "-f", spec}, "'gfd'"},
      {{"install", "--root", other, "--only", "gdf"}, "'gfd'"},
      {{"explain", "drver"}, "'driver'"},
      {{"explain", "driver.sourc"}, "'source'"},
      {{"remove", "drver", "--root", other}, "drver"}};
  for (const auto& [words, near] : mistyped) expect_refused(root, root.bare(words), 64, {near}, before);
  expect_refused(root, root.run({"plan"}, "h100x9"), 1, {"did you mean 'h100x8'?"}, before);
}

TEST(CommandLine, OptionsThatACommandHasNoUseForAreRefused) {
  const DriverRoot root;
  const std::string spec = root.folder().at("host.yaml").string();
  const auto before = root.tree();
  expect_refused(root, root.run({"generations", "--kernel", "6.1.0-1"}), 64, {"--kernel"}, before);
  expect_refused(root, root.run({"gc", "--cache", "/tmp"}), 64, {"--cache"}, before);
  expect_refused(root, root.run({"gc", "--kernel", "6.1.0-1"}), 64, {"--kernel"}, before);
  expect_refused(root, root.run({"rollback", "--lock", "nosuch"}), 64, {"--lock"}, before);
  expect_refused(root, root.run({"doctor", "--lock", "nosuch", "-f", spec}), 1, {"nosuch"}, before);
  expect_refused(root, root.bare({"runtime", "configure", "-v"}), 64, {"-v"}, before);
}

// Before the fix, "--help=true" was accepted, and the plan was made.
TEST(CommandLine, HelpMayBeAFlagWithAValue) {
  const testing::ScratchHost host;
  const Ran help = host.slipway({"plan", "--help=true"});
  EXPECT_EQ(help.code, 0) << help.err;
  EXPECT_EQ(help.out, host.slipway({"plan", "--help"}).out);
}

// Before the fix, errors about a plugin were on standard output, among the plugins.
TEST(CommandLine, UnusablePluginsAreErrorsAndNotListed) {
  DriverRoot root;
  const std::string folder = root.folder().at("plugins").string();
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(root.plugins + "/driver.so", folder + "/driver.so");
  std::ofstream(folder + "/broken.so") << "no plugin";
  root.plugins = folder;
  const Ran ran = root.slipway({"plugin", "list"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, ::testing::StartsWith("driver "));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("broken.so")));
  EXPECT_THAT(ran.err, HasSubstr(folder + "/broken.so"));
}

TEST(Verify, ChecksTheComponentsThatItNames) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_EQ(root.run({"verify", "driver"}).code, 0);
  EXPECT_EQ(root.run({"verify", "driver", "gfd"}).code, 64);
}

// Before the fix, a plan for one root was applied to it although the command line named another.
TEST(SavedPlans, AreRefusedBesideOptionsThatContradictThem) {
  const DriverRoot root;
  const std::string plan = root.folder().at("plan.json").string();
  root.folder().file("plan.json", root.run({"plan", "-o", "json"}).out);
  root.folder().directory("other");
  const auto before = root.tree();
  testing::ScratchHost other;
  const testing::Ran elsewhere = other.slipway({"apply", plan});
  EXPECT_EQ(elsewhere.code, 64) << elsewhere.out << elsewhere.err;
  EXPECT_THAT(elsewhere.err, HasSubstr("--root " + root.path("").parent_path().string()));
  expect_refused(root, root.run({"apply", plan}, "l4x1"), 64, {"--sim", "h100x8"}, before);
  expect_refused(root, root.slipway({"apply", plan, "--kernel", "6.1.0-1"}), 64, {"--kernel"}, before);
  expect_refused(root, root.slipway({"apply", plan, "--only", "driver"}), 64, {"--only"}, before);
  EXPECT_EQ(root.run({"apply", plan}).code, 0) << root.error_text();
}

// Before the fix, `slipway driver --help` said that there is no tool '--help'.
TEST(CommandLine, HelpOfAComponentListsItsTools) {
  const DriverRoot root;
  for (const auto& [component, tool] : {std::pair("driver", "build"), std::pair("gfd", "labels")}) {
    const Ran help = root.bare({component, "--help"});
    EXPECT_EQ(help.code, 0) << help.err;
    EXPECT_THAT(help.out, HasSubstr(std::string("Usage: slipway ") + component + " TOOL"));
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + tool));
    const Ran none = root.bare({component});
    EXPECT_EQ(none.code, 64);
    EXPECT_EQ(none.out, help.out);
    const Ran unknown = root.bare({component, "invent"});
    EXPECT_EQ(unknown.code, 64);
    EXPECT_THAT(unknown.err, HasSubstr(std::string(component) + " has no tool 'invent'"));
  }
}

// Before the fix, `slipway validator --help` printed nothing.
TEST(CommandLine, HelpOfAComponentWithoutToolsNamesTheCommandsAboutIt) {
  const DriverRoot root;
  const Ran help = root.bare({"validator", "--help"});
  EXPECT_EQ(help.code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("validator: tells whether"));
  EXPECT_THAT(help.out, HasSubstr("It has no tools"));
  for (const char* command : {"explain", "verify", "doctor", "service"})
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  slipway ") + command + " validator"));
  EXPECT_EQ(root.bare({"validator"}).code, 64);
  EXPECT_EQ(root.bare({"validator", "paint"}).code, 64);
}

struct ComponentTools {
  std::string component;
  std::vector<std::string> tools;
};

const std::vector<ComponentTools>& all_tools() {
  static const std::vector<ComponentTools> all{
      {"cdi", {"generate", "list", "transform", "validate"}},
      {"dcgm", {"metrics"}},
      {"deviceplugin", {"resources", "status"}},
      {"driver", {"build", "kernels"}},
      {"gfd", {"labels", "devices"}},
      {"mig", {"show", "apply", "assert", "export", "generate-config", "checkpoint", "restore"}},
      {"runtime", {"configure"}}};
  return all;
}

TEST(CommandLine, HelpOfAToolHasExamplesAndItsOptions) {
  const DriverRoot root;
  for (const ComponentTools& each : all_tools()) {
    const Ran list = root.bare({each.component, "--help"});
    EXPECT_EQ(list.code, 0) << list.err;
    for (const std::string& tool : each.tools) {
      EXPECT_THAT(list.out, HasSubstr("\n  " + tool + " "));
      const std::string call = "slipway " + each.component + " " + tool;
      const Ran help = root.bare({each.component, tool, "--help"});
      EXPECT_EQ(help.code, 0) << call << help.err;
      EXPECT_THAT(help.out, ::testing::StartsWith("Usage: " + call));
      EXPECT_THAT(help.out, HasSubstr("\nExamples:\n  " + call));
      EXPECT_THAT(help.out, HasSubstr("\nOptions:\n  -"));
    }
  }
}

TEST(CommandLine, OfAToolIsRefusedWithTheNearestOption) {
  const DriverRoot root;
  for (const ComponentTools& each : all_tools())
    for (const std::string& tool : each.tools) {
      const Ran bogus = root.bare({each.component, tool, "--bogus"});
      EXPECT_EQ(bogus.code, 64) << each.component << " " << tool << bogus.err;
      EXPECT_THAT(bogus.err, HasSubstr("'--bogus'"));
    }
  EXPECT_THAT(root.bare({"gfd", "labels", "--no-timestmap"}).err, HasSubstr("did you mean --no-timestamp?"));
  const auto before = root.tree();
  expect_refused(root, root.bare({"cdi", "generate", "extra"}), 64, {"'extra'"}, before);
  expect_refused(root, root.bare({"toolkit", "cdi", "generate", "extra"}), 64, {"'extra'"}, before);
  expect_refused(root, root.bare({"graph", "--tag", "x", "--all"}), 64, {"--tag"}, before);
  expect_refused(root, root.bare({"plan", "host.yaml"}), 64, {"'host.yaml'"}, before);
}

TEST(CommandLine, AnUnknownProfileListsTheKnownOnes) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"plan"}, "h1000x8"), 1, {"h1000x8", "h100x8", "gb200x4"}, before);
}

// Before the fix, the last one counted for tools that take their own options several times.
TEST(CommandLine, OfAToolNamesOneSimulatedMachine) {
  const DriverRoot root;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cdi", "list", "--sim", "h100x8", "--sim", "l4x1"},
        {"gfd", "labels", "--sim=h100x8", "--sim=h100x8"},
        {"toolkit", "cdi", "list", "--sim", "l4x1", "--root", "a", "--root", "b"},
        {"mig", "show", "--log-format", "text", "--log-format", "json"}}) {
    const Ran ran = root.bare(words);
    EXPECT_EQ(ran.code, 64) << words[0] << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("is given more than once"));
    EXPECT_THAT(ran.err, HasSubstr("--help` lists its options"));
  }
}

// Before the fix, slipway-top, slipway-runtime-configure and others printed them raw.
TEST(CommandLine, WithControlCharactersMovesNoCursor) {
  const DriverRoot root;
  const std::filesystem::path programs = std::filesystem::path(SLIPWAY_PROGRAM).parent_path();
  const std::string word = "a\x1b[31mb";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"slipway", "explain", word},
                                                {"slipway-top", word},
                                                {"slipway-top", "--service", word},
                                                {"slipway-runtime-configure", word},
                                                {"slipway-runtime-configure", "--runtime", word},
                                                {"slipway-cdi-hook", word},
                                                {"slipway-sim", word}}) {
    DriverRoot other;
    other.program = programs / words[0];
    const Ran ran = other.bare({words.begin() + 1, words.end()});
    EXPECT_THAT(ran.err, HasSubstr("a\\x1b[31mb")) << words[0];
    EXPECT_THAT(ran.err + ran.out, ::testing::Not(HasSubstr("\x1b"))) << words[0];
  }
}

TEST(CommandLine, AComponentThatTheSpecDoesNotHaveIsRefused) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"apply", "--only", "drver"}), 64, {"drver", "driver"}, before);
}

TEST(Results, OnStandardOutputAreJsonWithAnApiVersionAndLogsAreElsewhere) {
  const DriverRoot root;
  for (const auto& words : {std::vector<std::string>{"plan", "-o", "json"},
                            {"apply", "-o", "json"},
                            {"verify", "-o", "json"},
                            {"status", "-o", "json"}}) {
    const Ran ran = root.run(words);
    const Json result = Json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(result.is_discarded()) << words[0] << ": " << ran.out;
    EXPECT_EQ(result["apiVersion"], "slipway.dev/v1");
    EXPECT_TRUE(result["kind"].is_string());
  }
}

TEST(Results, OfAFailureAreJsonAsWell) {
  const DriverRoot root;
  root.source("{repository: /nowhere/package, trust: unsigned}");
  const Ran ran = root.run({"apply", "-o", "json"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("/nowhere/package"));
  EXPECT_FALSE(Json::parse(ran.out, nullptr, false).is_discarded()) << ran.out;
}

TEST(Version, IsPrintedWithoutReadingAnyFile) {
  const DriverRoot root;
  const Ran ran = root.slipway({"version"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace slipway
