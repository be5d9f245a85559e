// SPDX-License-Identifier: Apache-2.0
#include "base/command_line/read_words.hpp"

#include <map>

#include <gmock/gmock.h>

namespace slipway::command_line {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CommandTable table() {
  return {.call = "slipway acme paint",
          .usage = "[options] WALL…",
          .about = "Paints walls.",
          .options = {{"output", "FILE", "where it is written", 'o'},
                      {"form", "text|json", "the form"},
                      {.name = "dry-run", .help = "paints nothing", .letter = 'n', .variables = {"DRY", "DRY_RUN"}},
                      {.name = "verbose", .help = "says more", .letter = 'v'},
                      {.name = "colour",
                       .value = "NAME",
                       .help = "of the paint",
                       .variables = {"COLOURS"},
                       .aliases = {"color"},
                       .repeats = true},
                      {"w", "WIDTH", "of the brush"},
                      {.name = "primer", .value = "[=KIND]", .help = "", .repeats = true},
                      {.name = "old", .value = "WORD"}},
          .most_arguments = 2,
          .examples = {"slipway acme paint north", "slipway acme paint --colour red south"}};
}

Result<CommandWords> read(const std::vector<std::string>& words, const std::map<std::string, std::string>& set = {},
                          const CommandTable& line = table()) {
  return read_words(line, words, [&](const std::string& name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string refusal(const std::vector<std::string>& words, const std::map<std::string, std::string>& set = {}) {
  const auto result = read(words, set);
  if (result) return "taken";
  EXPECT_EQ(result.error().code, ErrorCode::usage);
  return result.error().what + " | " + result.error().where + " | " + result.error().next;
}

TEST(CommandLine, IsReadInAllSpellings) {
  const auto words = read({"a", "--output=x=y", "--form", "json", "-vn", "-w", "3", "--color", "red", "--", "--b"});
  ASSERT_TRUE(words) << to_text(words.error());
  EXPECT_EQ(words->text("output"), "x=y");
  EXPECT_EQ(words->text("form"), "json");
  EXPECT_TRUE(words->flag("verbose") && words->flag("dry-run"));
  EXPECT_EQ(words->text("w"), "3");
  EXPECT_EQ(words->text("colour"), "red");
  EXPECT_THAT(words->arguments, ElementsAre("a", "--b"));
  EXPECT_EQ(read({"-ofile"})->text("output"), "file");
  EXPECT_EQ(read({"-vo", "file"})->text("output"), "file");
  EXPECT_EQ(read({"--output", ""})->text("output", "other"), "");
  EXPECT_EQ(read({"--output", "-"})->text("output"), "-");
}

TEST(CommandLine, MayHaveOptionalValuesAfterAnEqualsSign) {
  EXPECT_THAT(read({"--primer", "north"})->texts("primer"), ElementsAre(""));
  EXPECT_THAT(read({"--primer", "north"})->arguments, ElementsAre("north"));
  EXPECT_THAT(read({"--primer=oil", "--primer"})->texts("primer"), ElementsAre("oil", ""));
  EXPECT_THAT(read({"--primer="}).error().what, HasSubstr("--primer= has no value after the ="));
  EXPECT_THAT(help_text({.call = "acme", .options = {{.name = "primer", .value = "[=KIND]", .help = "first"}}}),
              HasSubstr("--primer[=KIND] "));
}

TEST(CommandLine, UsesTheCallersDefaults) {
  const auto words = read({});
  ASSERT_TRUE(words);
  EXPECT_FALSE(words->given("output"));
  EXPECT_EQ(words->text("output", "here"), "here");
  EXPECT_TRUE(words->flag("dry-run", true));
  EXPECT_THAT(words->list("colour"), IsEmpty());
}

TEST(CommandLine, AcceptsGosWordsForTrueAndFalse) {
  EXPECT_TRUE(read({"--dry-run=T"})->flag("dry-run"));
  EXPECT_FALSE(read({"--dry-run=0"})->flag("dry-run", true));
  EXPECT_THAT(refusal({"--dry-run=maybe"}), HasSubstr("--dry-run takes only true or false, not 'maybe'"));
  EXPECT_THAT(refusal({"--dry-run="}), HasSubstr("true or false"));
}

TEST(CommandLine, TakesVariablesOfTheEnvironmentForOptionsThatAreNotGiven) {
  EXPECT_TRUE(read({}, {{"DRY_RUN", "true"}})->flag("dry-run"));
  EXPECT_FALSE(read({}, {{"DRY", "false"}, {"DRY_RUN", "true"}})->flag("dry-run"));
  EXPECT_FALSE(read({"--dry-run=false"}, {{"DRY_RUN", "true"}})->flag("dry-run"));
  EXPECT_THAT(read({}, {{"COLOURS", "red,green"}})->list("colour"), ElementsAre("red", "green"));
  EXPECT_THAT(read({"--colour", "blue"}, {{"COLOURS", "red"}})->list("colour"), ElementsAre("blue"));
  EXPECT_THAT(refusal({}, {{"DRY", "perhaps"}}), HasSubstr("not 'perhaps' | environment variable DRY"));
}

TEST(CommandLine, UsesAnEmptyVariableOnlyIfTheTableSaysSo) {
  const std::map<std::string, std::string> set{{"DRY", ""}, {"DRY_RUN", "true"}};
  EXPECT_TRUE(read({}, set)->flag("dry-run"));
  CommandTable line = table();
  line.empty_variables = true;
  EXPECT_FALSE(read({}, set, line)->flag("dry-run", true));
}

TEST(CommandLine, ThatIsInvalidIsRefusedWithASuggestion) {
  EXPECT_EQ(refusal({"--outptu", "x"}), "unknown option '--outptu' | command line | did you mean --output?");
  EXPECT_EQ(refusal({"--bogus"}),
            "unknown option '--bogus' | command line | `slipway acme paint --help` lists its options");
  EXPECT_THAT(refusal({"-x"}), HasSubstr("unknown option '-x'"));
  EXPECT_THAT(refusal({"-vx"}), HasSubstr("unknown option '-x'"));
  EXPECT_THAT(refusal({"--o", "x"}), HasSubstr("unknown option '--o'"));
  EXPECT_THAT(refusal({"--w", "3"}), HasSubstr("unknown option '--w'"));
  EXPECT_THAT(refusal({"--output"}), HasSubstr("--output needs a value"));
  EXPECT_THAT(refusal({"--output", "--form", "text"}), HasSubstr("--output needs a value"));
  EXPECT_THAT(refusal({"-w"}), HasSubstr("-w needs a value"));
  EXPECT_THAT(refusal({"--form", "xml"}), HasSubstr("--form takes text or json, not 'xml'"));
  EXPECT_THAT(refusal({"--form", "jsn"}), HasSubstr("did you mean 'json'?"));
  EXPECT_THAT(refusal({"-vv"}), HasSubstr("--verbose is given more than once"));
  EXPECT_THAT(refusal({"--form=text", "--form=json"}), HasSubstr("--form is given more than once"));
  EXPECT_THAT(refusal({"a", "b", "c"}), HasSubstr("`slipway acme paint` takes no further word 'c'"));
}

TEST(CommandLine, UsesTheLastOfARepeatedOptionIfTheTableSaysSo) {
  CommandTable line = table();
  line.last_counts = true;
  const auto words = read({"--form=text", "--form=json", "--colour=a,b", "--colour", "c"}, {}, line);
  ASSERT_TRUE(words);
  EXPECT_EQ(words->text("form"), "json");
  EXPECT_THAT(words->list("colour"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words->texts("colour"), ElementsAre("a,b", "c"));
}

TEST(CommandLine, ReportsTheAllowedNumberOfWords) {
  CommandTable line = table();
  line.most_arguments = 0;
  EXPECT_THAT(read({"extra"}, {}, line).error().what, HasSubstr("takes no word 'extra'"));
  EXPECT_EQ(read({"output"}, {}, line).error().next, "did you mean --output?");
  line.least_arguments = line.most_arguments = 1;
  EXPECT_THAT(read({}, {}, line).error().what, HasSubstr("slipway acme paint [options] WALL…"));
}

TEST(CommandLine, ReportsAMissingOption) {
  CommandTable line = table();
  line.options.push_back({.name = "into", .value = "DIR", .help = "where to", .required = true});
  EXPECT_THAT(read({"a"}, {}, line).error().what, HasSubstr("--into is missing: slipway acme paint [options] WALL…"));
  EXPECT_TRUE(read({"a", "--into", "b"}, {}, line));
  EXPECT_TRUE(read({"--help"}, {}, line));
}

TEST(CommandLine, NeverUsesTheNextWordAsAnOptionalValue) {
  CommandTable line = table();
  line.options.push_back({.name = "wait", .value = "[=DURATION]", .help = "for others", .letter = 'W'});
  const auto alone = read({"--wait", "10m"}, {}, line);
  ASSERT_TRUE(alone) << to_text(alone.error());
  EXPECT_TRUE(alone->given("wait"));
  EXPECT_EQ(alone->text("wait", "otherwise"), "");
  EXPECT_THAT(alone->arguments, ElementsAre("10m"));
  EXPECT_EQ(read({"--wait=10m"}, {}, line)->text("wait"), "10m");
  EXPECT_EQ(read({"-W10m"}, {}, line)->text("wait"), "10m");
  EXPECT_THAT(read({"-W", "10m"}, {}, line)->arguments, ElementsAre("10m"));
  EXPECT_FALSE(read({"north"}, {}, line)->given("wait"));
  EXPECT_THAT(read({"--wait="}, {}, line).error().what, HasSubstr("--wait= has no value after"));
  EXPECT_THAT(read({"--wait", "--wait=1s"}, {}, line).error().what, HasSubstr("more than once"));
  EXPECT_THAT(help_text(line), HasSubstr("  -W, --wait[=DURATION]  for others\n"));
}

// Boost uses the next word as an optional value.
TEST(CommandLine, KeepsTheWordAfterAFlagAsAnArgument) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--verbose", "north", "south"},
                                                {"-v", "north", "south"},
                                                {"north", "--verbose", "south"},
                                                {"-nv", "north", "south"},
                                                {"--verbose=true", "--", "north", "south"}}) {
    const auto found = read(words);
    ASSERT_TRUE(found) << to_text(found.error());
    EXPECT_TRUE(found->flag("verbose"));
    EXPECT_THAT(found->arguments, ElementsAre("north", "south"));
  }
}

TEST(CommandLine, HandlesDashesAndDoubleDashes) {
  EXPECT_EQ(read({"--output="})->text("output", "other"), "");
  EXPECT_THAT(read({"-", ""})->arguments, ElementsAre("-", ""));
  EXPECT_EQ(read({"--output=--form"})->text("output"), "--form");
  EXPECT_EQ(read({"-o", "--bogus"})->text("output"), "--bogus");
  EXPECT_EQ(read({"-w", "-5"})->text("w"), "-5");
  EXPECT_THAT(refusal({"--=x"}), HasSubstr("unknown option '--'"));
  EXPECT_THAT(refusal({"---verbose"}), HasSubstr("unknown option '---verbose'"));
  EXPECT_THAT(refusal({"---v"}), HasSubstr("unknown option '---v'"));
  EXPECT_THAT(refusal({"-o", "-v"}), HasSubstr("-o needs a value"));
  EXPECT_THAT(refusal({"-v=false"}), HasSubstr("unknown option '-='"));
  EXPECT_THAT(refusal({"--verb"}), HasSubstr("unknown option '--verb'")) << "nothing is guessed";
  EXPECT_THAT(refusal({"--VERBOSE"}), HasSubstr("unknown option '--VERBOSE'"));
  EXPECT_THAT(refusal({"--color", "red", "--colour"}), HasSubstr("--colour needs a value"));
}

TEST(CommandLine, CountsBothSpellingsOfAnOption) {
  EXPECT_THAT(refusal({"--output", "a", "-o", "b"}), HasSubstr("-o is given more than once"));
  EXPECT_THAT(read({"--color", "red", "--colour=blue"})->texts("colour"), ElementsAre("red", "blue"));
  EXPECT_EQ(read({"-o", "a"}, {})->text("output"), "a");
}

TEST(CommandLine, RefusesATableWithAmbiguousOptions) {
  const auto refused = [](std::vector<CommandOption> options) {
    const auto result = read({"--wall"}, {}, {.call = "acme", .options = std::move(options)});
    return result ? "taken" : std::string(to_string(result.error().code)) + ": " + result.error().what;
  };
  EXPECT_THAT(refused({{"wall"}, {"wall"}}),
              HasSubstr("plugin_defect: its options cannot be told apart: two options have the name 'wall'"));
  EXPECT_THAT(refused({{"wall"}, {.name = "room", .aliases = {"wall"}}}),
              HasSubstr("two options have the name 'wall'"));
  EXPECT_THAT(refused({{.name = "wall", .letter = 'w'}, {"w"}}), HasSubstr("two options have the name 'w'"));
  EXPECT_THAT(refused({{.name = "wall", .letter = '-'}}), HasSubstr("'-' is not a name"));
  for (const char* name : {"", "-wall", "wall,w", "wall*", "wa ll", "wa=ll", "wa\nll", "w\xc3\xa4ll"})
    EXPECT_THAT(refused({{name}}), HasSubstr("is not a name")) << name;
  EXPECT_THAT(refused({{std::string(101, 'x')}}), HasSubstr("is not a name"));
  EXPECT_THAT(refused({{.name = "wall", .aliases = {"w"}}}), HasSubstr("'w' is too short for an alias"));
  EXPECT_EQ(refused({{.name = "wall"}}), "taken");
}

TEST(CommandLine, FindsSomeOptionsBeforeTheTableIsKnown) {
  const std::vector<CommandOption> known{{"sim", "PROFILE"}, {.name = "verbose", .letter = 'v'}, {"root", "DIR"}};
  const auto found =
      find_options(known, {"paint", "--sim", "h100x8", "--bogus", "-v", "--colour=red", "-xyz", "north"});
  EXPECT_EQ(found.text("sim"), "h100x8");
  EXPECT_TRUE(found.flag("verbose"));
  EXPECT_THAT(found.arguments, ElementsAre("paint", "north"));
  EXPECT_EQ(find_options(known, {"paint", "--sim=a", "--sim", "b", "--", "--sim", "c"}).text("sim"), "b");
  EXPECT_FALSE(find_options(known, {"paint", "--sim"}).given("sim")) << "read_words() is to report it";
}

TEST(CommandLine, RequestsHelpBesideAnyOtherWords) {
  EXPECT_TRUE(read({"--bogus", "--help"})->help);
  EXPECT_TRUE(read({"-h"})->help);
  EXPECT_FALSE(read({"--", "--help"})->help);
  EXPECT_THAT(read({"--", "--help"})->arguments, ElementsAre("--help"));
}

TEST(CommandHelp, IsMadeOfTheTable) {
  EXPECT_EQ(help_text(table()),
            "Usage: slipway acme paint [options] WALL…\n\nPaints walls.\n\n"
            "Examples:\n  slipway acme paint north\n  slipway acme paint --colour red south\n\n"
            "Options:\n"
            "  -o, --output FILE  where it is written\n"
            "  --form text|json   the form\n"
            "  -n, --dry-run      paints nothing\n"
            "  -v, --verbose      says more\n"
            "  --colour NAME      of the paint; may be repeated\n"
            "  -w WIDTH           of the brush\n");
}

TEST(CommandHelp, BreaksLinesAtBlanks) {
  const std::string text = options_text({{"a-name-that-is-longer-than-the-column", "WORD", "short"},
                                         {"b", "N", std::string(60, 'x') + " " + std::string(60, 'y')}});
  EXPECT_THAT(text, HasSubstr("  --a-name-that-is-longer-than-the-column WORD\n" + std::string(38, ' ') + "short\n"));
  EXPECT_THAT(text, HasSubstr(std::string(60, 'x') + "\n" + std::string(38, ' ') + std::string(60, 'y') + "\n"));
}

// Before the fix, a value with an ellipsis was two columns out of line.
TEST(CommandHelp, CountsCharactersAndNotBytes) {
  const std::string text = options_text({{"wall", "WALL…", "first"}, {"walls", "WALLS", "second"}});
  EXPECT_EQ(text, "  --wall WALL…   first\n  --walls WALLS  second\n");
}

TEST(CommandLine, OfTooManyWordsIsRefused) {
  const std::vector<std::string> many(5000, "a");
  const auto read = read_words({.call = "slipway x", .most_arguments = kAnyNumber}, many);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::usage);
}

// Before the fix, a refused option was kept without a value, and reading it threw an exception.
TEST(CommandLine, OptionsAreFoundBesideOneWithAWrongValue) {
  const std::vector<CommandOption> options{{.name = "log-format", .value = "text|json"}, {.name = "verbose"}};
  for (const char* word : {"--log-format=xml", "--verbose=maybe", "--log-format="}) {
    const CommandWords found = find_options(options, {"show", word});
    EXPECT_FALSE(found.flag("verbose")) << word;
    EXPECT_NE(found.text("log-format"), "json") << word;
  }
}

TEST(CommandLine, RefusesTablesWithVariablesOfTheLinkerOrOfSlipway) {
  for (const char* name : {"", "=", "A=B", "LD_PRELOAD", "SLIPWAY_LOG"})
    EXPECT_FALSE(check_options({{.name = "flag", .variables = {name}}})) << name;
  EXPECT_TRUE(check_options({{.name = "flag", .variables = {"MIG_STRATEGY"}}}));
}

}  // namespace
}  // namespace slipway::command_line
