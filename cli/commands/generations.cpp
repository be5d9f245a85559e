// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "cli/render/difference.hpp"

namespace slipway::cli {
namespace {

struct Row {
  int number = 0;
  Result<core::Generation> generation;
};

/// Returns 3 for "generations/3.json".
std::optional<int> number_of_file(const std::string& name) {
  constexpr std::string_view kFolder = "generations/";
  constexpr std::string_view kEnding = ".json";
  if (!name.starts_with(kFolder) || !name.ends_with(kEnding)) return std::nullopt;
  return generation_number(name.substr(kFolder.size(), name.size() - kFolder.size() - kEnding.size()));
}

/// Returns the generation that a rollback would return to, among those that exist.
const core::Generation* one_before(const std::vector<Row>& rows, const core::Generation& generation) {
  const int wanted = generation.before != 0 ? generation.before : generation.number - 1;
  const core::Generation* found = nullptr;
  for (const Row& row : rows)
    if (row.number <= wanted && row.number != generation.number && row.generation) found = &*row.generation;
  return found;
}

Json to_row(const std::vector<Row>& rows, const Row& row) {
  Json value{{"number", row.number}};
  if (!row.generation) {
    value["error"] = row.generation.error().what;
    return value;
  }
  const core::Generation& generation = *row.generation;
  value["components"] = applied_components(generation);
  value["left_out"] = generation.left_out;
  value["spec_file"] = generation.spec_file;
  if (!generation.time.empty()) value["time"] = generation.time;
  if (const core::Generation* before = one_before(rows, generation)) {
    value["before"] = before->number;
    value["difference"] = difference(*before, generation);
  }
  return value;
}

Toned plain(const std::string& text) { return {Tone::plain, text}; }

/// Appends the lines of a generation: its changes, and below them its components.
void append_rows(const Json& row, int in_force, std::vector<TableRow>& rows) {
  const int number = row.value("number", 0);
  const bool counts = number == in_force;
  const Toned mark{counts ? Tone::good : Tone::plain, (counts ? "* " : "  ") + std::to_string(number)};
  if (row.contains("error")) {
    rows.push_back({mark,
                    plain("-"),
                    plain("-"),
                    {Tone::bad, "cannot be read (" + row.value("error", "") + "): `slipway repair` sets it aside"}});
    return;
  }
  const std::string against = row.contains("difference")
                                  ? std::to_string(row.value("before", 0)) + ": " + difference_line(row["difference"])
                              : number == 1 ? "first"
                                            : "the previous one is gone";
  rows.push_back({mark, plain(row.value("time", "-")),
                  plain(std::filesystem::path(row.value("spec_file", "")).filename().string()), plain(against)});
  const auto left_out = row.value("left_out", std::vector<std::string>{});
  rows.push_back({{},
                  {},
                  {},
                  {Tone::faint, "applied: " + joined(row.value("components", std::vector<std::string>{})) +
                                    (left_out.empty() ? "" : "; not applied: " + joined(left_out))}});
}

TableRow headings() {
  TableRow row;
  for (const char* text : {"  NUMBER", "APPLIED", "SPEC", "COMPARED WITH THE PREVIOUS ONE"})
    row.push_back({Tone::heading, text});
  return row;
}

Result<core::Generation> named_generation(const core::StateDir& state, const std::string& text) {
  const auto number = generation_number(text);
  if (!number)
    return Error{
        ErrorCode::usage, "'" + text + "' is not a generation", "command line", "`slipway generations` lists them", {}};
  return state.generation(*number);
}

}  // namespace

std::optional<int> generation_number(const std::string& text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = problem == std::errc{} && end == text.data() + text.size() && number > 0;
  return whole ? std::optional(number) : std::nullopt;
}

Result<int> run_generations(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  core::StateDir& state = session->state();
  SLIPWAY_CHECK(state.go_around_damage());
  SLIPWAY_TRY(numbers, state.generations());
  SLIPWAY_TRY(current, state.current());
  const int in_force = current ? current->number : 0;
  std::vector<Row> rows;
  for (const int number : numbers) rows.push_back({number, state.generation(number)});
  for (const auto& [name, error] : state.left_out())
    if (const auto number = number_of_file(name)) rows.push_back({*number, error});
  std::ranges::sort(rows, {}, &Row::number);
  Json list = Json::array();
  std::vector<TableRow> lines{headings()};
  for (const Row& row : rows) {
    list.push_back(to_row(rows, row));
    append_rows(list.back(), in_force, lines);
  }
  if (options.output != "text")
    print(json_text(envelope("Generations", {{"generation", in_force}, {"generations", list}}), options.output));
  else if (rows.empty())
    print("There is no generation in " + options.session.root + ".\n");
  else
    print_wrapped(Page().table(lines));
  return std::ranges::all_of(rows, [](const Row& row) { return row.generation.ok(); }) ? core::kExitDone
                                                                                       : core::kExitError;
}

Result<int> run_diff(const Options& options, TerminalUi& ui) {
  if (options.arguments.empty())
    return Error{ErrorCode::usage,
                 "which generations?",
                 "command line",
                 "name two (`slipway diff 2 4`), or one to compare with the active one; `slipway generations` lists "
                 "them",
                 {}};
  SLIPWAY_TRY(session, open_session(options, ui));
  const core::StateDir& state = session->state();
  SLIPWAY_CHECK(state.check_format());
  SLIPWAY_TRY(from, named_generation(state, options.arguments.front()));
  SLIPWAY_TRY(current, state.current());
  if (options.arguments.size() < 2 && !current)
    return Error{ErrorCode::not_found, "no generation is active", {}, "name two: `slipway diff 2 4`", {}};
  core::Generation to = current.value_or(core::Generation{});
  if (options.arguments.size() > 1) {
    SLIPWAY_TRY(named, named_generation(state, options.arguments.back()));
    to = std::move(named);
  }
  if (options.arguments.size() < 2 && from.number == to.number && options.output == "text") {
    print_wrapped("Generation " + std::to_string(from.number) +
                  " is the active one: name another to compare it with.\n");
    return core::kExitDone;
  }
  Json value = difference(from, to);
  const bool equal = value["added"].empty() && value["removed"].empty() && value["changed"].empty();
  if (options.output == "text") {
    print_wrapped(equal ? "Generations " + std::to_string(from.number) + " and " + std::to_string(to.number) +
                              " describe the same state.\n"
                        : difference_text(value));
  } else {
    value["from"] = from.number;
    value["to"] = to.number;
    print(json_text(envelope("Difference", std::move(value)), options.output));
  }
  return core::kExitDone;
}

}  // namespace slipway::cli
