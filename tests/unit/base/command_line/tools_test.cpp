// SPDX-License-Identifier: Apache-2.0
#include "base/command_line/tools.hpp"

#include <gmock/gmock.h>
#include <slipway/abi.h>

#include <slipway/component.hpp>
#include <slipway/plugin.hpp>
#include <slipway/testing/fake_host.hpp>

#include "base/command_line/read_words.hpp"
#include "tests/unit/base/command_line/run_tool.hpp"

namespace slipway::command_line {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What a tool prints.
class Printed final : public ToolIo {
 public:
  void print(std::string_view text) override { out += text; }
  void log(std::string_view) override {}
  void progress(std::string_view, std::uint64_t, std::uint64_t) override {}
  Result<Json> core(std::string_view, const Json&) override { return Json(); }
  std::string out;
};

ToolTable acme_tools() {
  return ToolTable({{"paint",
                     "paints",
                     {.options = {{.name = "colour",
                                   .value = "NAME",
                                   .help = "of the paint",
                                   .letter = 'c',
                                   .variables = {"COLOUR"},
                                   .aliases = {"color"},
                                   .repeats = true},
                                  {.name = "wall", .value = "north|south", .required = true}},
                      .least_arguments = 1,
                      .most_arguments = kAnyNumber,
                      .examples = {"slipway acme paint --wall north"},
                      .last_counts = true,
                      .empty_variables = true},
                     [](const CommandWords& words, const Host&, ToolIo& io) -> Result<int> {
                       io.print(words.text("colour"));
                       return 3;
                     }},
                    {"watch", "watches", {}, {}}});
}

class Acme final : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host&) const override { return Facts(); }
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan(); }
  const Commands* commands() const override {
    static const ToolTable tools = acme_tools();
    return &tools;
  }
};

std::vector<ToolInfo> tools_of(const char* text) {
  auto tools = tools_from_json("acme", Json::parse(text));
  EXPECT_TRUE(tools) << to_text(tools.error());
  return tools.value_or(std::vector<ToolInfo>{});
}

std::string defect(const Json& reply) {
  const auto tools = tools_from_json("acme", reply);
  if (tools) return "taken";
  EXPECT_EQ(tools.error().code, ErrorCode::plugin_defect);
  return tools.error().what;
}

Json with_line(const Json& line) { return Json::array({{{"name", "paint"}, {"line", line}}}); }
Json with_option(const Json& option) { return with_line({{"options", {option}}}); }

TEST(ToolTable, RunsAToolWithItsOutput) {
  const slipway::testing::FakeHost host;
  const ToolTable tools = acme_tools();
  Printed io;
  EXPECT_EQ(testing::run_tool(tools, "paint", {"a", "--wall=north", "-cred"}, host, io).value_or(-1), 3);
  EXPECT_EQ(io.out, "red");
  EXPECT_EQ(tools.run("saw", {}, host, io).error().code, ErrorCode::usage);
  const Error not_started = tools.run("watch", {}, host, io).error();
  EXPECT_EQ(not_started.code, ErrorCode::unsupported);
  EXPECT_THAT(not_started.what, HasSubstr("the program of the tool 'watch' was not started"));
}

TEST(PluginTools, GetDefaultsForMissingTexts) {
  const auto tools = tools_of(R"([{"name": "paint", "purpose": "paints"},
                                  {"name": "saw", "purpose": "saws", "line": {"call": "saw", "usage": "TREE", "about": "Saws.",
                                   "most_arguments": null, "options": [{"name": "deep", "letter": "d"}]}}])");
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_THAT(tool_text(tools[0]), StartsWith("Usage: slipway acme paint [options]\n\npaints\n"));
  EXPECT_THAT(tool_text(tools[0]), HasSubstr("--sim PROFILE")) << "what slipway itself takes for a tool";
  EXPECT_THAT(tool_text(tools[1]), StartsWith("Usage: saw TREE\n\nSaws.\n"));
  EXPECT_EQ(tools[1].line.most_arguments, kAnyNumber);
  EXPECT_EQ(tools[1].line.options.at(0).letter, 'd');
  EXPECT_THAT(tools_text("acme", tools), HasSubstr("  paint  paints\n  saw    saws\n"));
  EXPECT_EQ(find_tool("acme", tools, "pant").error().next, "did you mean 'paint'?");
  EXPECT_EQ(find_tool("acme", tools, "x").error().next, "its tools are paint, saw");
}

TEST(PluginTools, OfAnInvalidFormAreADefect) {
  EXPECT_THAT(defect({{"name", "paint"}}), HasSubstr("component acme: its tools are not a list"));
  EXPECT_THAT(defect(Json::array({Json()})), HasSubstr("a tool is not an object"));
  EXPECT_THAT(defect(Json::array({Json::object()})), HasSubstr("'' is not the name of a tool"));
  EXPECT_THAT(defect(Json::array({{{"name", 1}}})), HasSubstr("`name` of a tool is not a plain text"));
  for (const char* name : {"--help", "Paint", "a b", "$(reboot)", "a\n"})
    EXPECT_NE(defect(Json::array({{{"name", name}}})), "taken") << name;
  EXPECT_THAT(defect(Json::array({{{"name", "a"}}, {{"name", "a"}}})), HasSubstr("two of its tools have the name 'a'"));
  EXPECT_THAT(defect(Json(std::vector<Json>(201, Json::object()))), HasSubstr("at most 200"));
  EXPECT_EQ(defect(Json::array()), "taken");
}

TEST(PluginTools, WithAnInvalidLineAreADefect) {
  EXPECT_THAT(defect(with_line(Json::array())), HasSubstr("the line of the tool paint is not an object"));
  EXPECT_THAT(defect(with_line({{"about", {1}}})), HasSubstr("`about` of the line of the tool paint is not a plain"));
  EXPECT_THAT(defect(with_line({{"about", std::string(70000, 'x')}})), HasSubstr("at most 65536 bytes"));
  EXPECT_THAT(defect(with_line({{"notes", "\x1b[2J"}})), HasSubstr("not a plain text"));
  EXPECT_THAT(defect(with_line({{"examples", "one"}})),
              HasSubstr("`examples` of the line of the tool paint is not a list"));
  EXPECT_THAT(defect(with_line({{"last_counts", 1}})), HasSubstr("not true or false"));
  for (const Json& count : {Json(-1), Json(1.5), Json("1"), Json(std::uint64_t{1} << 40U)})
    EXPECT_THAT(defect(with_line({{"most_arguments", count}})), HasSubstr("not a number of words")) << count.dump();
  EXPECT_THAT(defect(with_line({{"least_arguments", 2U}, {"most_arguments", 1U}})),
              HasSubstr("more words than it allows"));
  EXPECT_THAT(defect(with_line({{"options", Json(std::vector<Json>(501, Json::object()))}})), HasSubstr("at most 500"));
  EXPECT_EQ(defect(with_line({{"of_a_later_slipway", true}})), "taken");
}

TEST(PluginTools, WithAmbiguousOptionsAreADefect) {
  EXPECT_THAT(defect(with_option("--wall")), HasSubstr("an option of the tool paint is not an object"));
  EXPECT_THAT(defect(with_option({{"name", nullptr}})), HasSubstr("`name` of an option of the tool paint"));
  EXPECT_THAT(defect(with_option({{"name", ""}})), HasSubstr("the tool paint: its options cannot be told apart"));
  EXPECT_THAT(defect(with_option({{"name", "wall"}, {"letter", "wx"}})), HasSubstr("more than one letter"));
  EXPECT_THAT(defect(with_option({{"name", "wall"}, {"letter", ","}})), HasSubstr("',' is not a name"));
  EXPECT_THAT(defect(with_option({{"name", "wall"}, {"aliases", {"wall"}}})),
              HasSubstr("two options have the name 'wall'"));
  EXPECT_THAT(defect(with_option({{"name", "wall"}, {"aliases", "room"}})), HasSubstr("is not a list"));
  EXPECT_THAT(defect(with_option({{"name", "wall"}, {"repeats", "yes"}})), HasSubstr("not true or false"));
  EXPECT_EQ(defect(with_option({{"name", "wall"}, {"letter", ""}, {"variables", {"WALL"}}})), "taken");
}

TEST(PluginTools, WithTooManyTextsOrTerminalControlsAreADefect) {
  const auto of_help = [](const std::string& help) {
    return tools_from_json("acme", Json::array({{{"name", "paint"},
                                                 {"purpose", "paints"},
                                                 {"line", {{"options", {{{"name", "colour"}, {"help", help}}}}}}}}));
  };
  EXPECT_TRUE(of_help("of the paint"));
  EXPECT_FALSE(
      of_help("\xc2\x9b"
              "31m red"));
  EXPECT_FALSE(of_help("\xe2\x80\xae der"));
  Json many = Json::array();
  for (int i = 0; i < 100; ++i)
    many.push_back(
        {{"name", "t" + std::to_string(i)}, {"purpose", std::string(20'000, 'x')}, {"line", Json::object()}});
  EXPECT_FALSE(tools_from_json("acme", many));
}

TEST(PluginTools, CannotHaveSlipwaysOwnOptions) {
  for (const char* option : {R"({"name": "sim"})", R"({"name": "vast", "letter": "v"})", R"({"name": "h"})"}) {
    const auto tools = tools_from_json("acme", with_option(Json::parse(option)));
    ASSERT_TRUE(tools) << "a tool that is a program may have it";
    const auto line = with_options(tools->at(0), options_for_tools());
    ASSERT_FALSE(line) << option;
    EXPECT_EQ(line.error().code, ErrorCode::plugin_defect);
    EXPECT_THAT(line.error().what, HasSubstr("the tool paint has an option of slipway's own"));
  }
}

/// Calls a plugin as a worker does.
Json ask(const slipway_plugin& plugin, const char* op, const Json& request) {
  const std::string text = canonical(request);
  std::string answer;
  const slipway_reply reply{&answer, [](void* context, const char* json, std::size_t length) {
                              static_cast<std::string*>(context)->assign(json, length);
                            }};
  EXPECT_EQ(plugin.call(plugin.context, op, text.data(), text.size(), &reply), SLIPWAY_OK) << answer;
  return Json::parse(answer);
}

}  // namespace
}  // namespace slipway::command_line

SLIPWAY_PLUGIN(slipway::component<slipway::command_line::Acme>("acme"))

namespace slipway::command_line {
namespace {

TEST(PluginTools, CrossTheBoundaryAndGetTheirWords) {
  std::string printed;
  const slipway_services services{
      sizeof(slipway_services), &printed,
      [](void* context, const char*, const char* json, std::size_t length, const slipway_reply* reply) {
        *static_cast<std::string*>(context) += Json::parse(json, json + length).value("text", "");
        reply->write(reply->context, "null", 4);
        return int{SLIPWAY_OK};
      }};
  slipway_plugin plugin{sizeof(slipway_plugin), nullptr, nullptr};
  ASSERT_EQ(slipway_plugin_open(&services, &plugin), SLIPWAY_OK);
  const auto tools = tools_from_json("acme", ask(plugin, "tools", {{"component", "acme"}}));
  ASSERT_TRUE(tools) << to_text(tools.error());
  const CommandTable& line = tools->at(0).line;
  EXPECT_TRUE(line.last_counts && line.empty_variables);
  EXPECT_EQ(line.most_arguments, kAnyNumber);
  EXPECT_THAT(line.examples, ElementsAre("slipway acme paint --wall north"));
  const CommandOption& colour = line.options.at(0);
  EXPECT_TRUE(colour.repeats && !colour.required && line.options.at(1).required);
  EXPECT_EQ(colour.value + colour.help + colour.letter, "NAMEof the paintc");
  EXPECT_THAT(colour.variables, ElementsAre("COLOUR"));
  EXPECT_THAT(colour.aliases, ElementsAre("color"));
  const auto words = read_words(line, {"east", "--wall", "south", "--color=blue"});
  ASSERT_TRUE(words) << to_text(words.error());
  Json request = tool_request("paint", *words);
  request["component"] = "acme";
  EXPECT_EQ(request["options"], Json({{"colour", {"blue"}}, {"wall", {"south"}}}));
  EXPECT_EQ(request["arguments"], Json({"east"}));
  EXPECT_EQ(ask(plugin, "tool", request)["exit"], 3);
  EXPECT_EQ(printed, "blue");
}

}  // namespace
}  // namespace slipway::command_line
