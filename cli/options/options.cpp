// SPDX-License-Identifier: Apache-2.0
#include "cli/options/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <slipway/text.hpp>

#include "app/waiting.hpp"
#include "base/command_line/read_words.hpp"
#include "cli/front/option_table.hpp"
#include "cli/options/command.hpp"

namespace slipway::cli {
namespace {

bool is_release(const std::string& text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '+' || c == '~';
  });
}

/// Parses "90s", "10m", "1h"; nothing when the text is not a duration, or the duration is zero or far too long.
std::optional<std::chrono::seconds> duration_of(const std::string& text) {
  constexpr std::int64_t kMost = 1'000'000'000;  // thirty years
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, problem] = std::from_chars(text.data(), end, count);
  const std::string_view word(unit, static_cast<std::size_t>(end - unit));
  const std::int64_t seconds = word == "s" ? 1 : word == "m" ? 60 : word == "h" ? 3600 : 0;
  if (problem != std::errc() || seconds == 0 || count < 1 || count > kMost / seconds) return std::nullopt;
  return std::chrono::seconds(count * seconds);
}

/// @param name   "wait" or "wait-for-source"
/// @param limit  receives its duration, or kNoLimit
Status read_wait(const CommandWords& read, const std::string& name, const Options& options,
                 std::optional<std::chrono::seconds>& limit) {
  if (!read.given(name)) return {};
  const std::string option = "--" + name;
  const auto wrong = [](const std::string& what, const std::string& next) {
    return Error{ErrorCode::usage, what, "command line", next, {}};
  };
  const std::string text = read.text(name);
  limit = text.empty() ? app::kNoLimit : duration_of(text);
  if (!limit)
    return wrong(option + " takes a duration, not '" + text + "'",
                 "write " + option + "=90s, " + option + "=10m or " + option + "=1h");
  if (options.dry_run) return wrong("--dry-run applies nothing that " + option + " could wait for", "leave one out");
  if (options.arguments.empty()) return {};
  const std::string& word = options.arguments.front();
  if (duration_of(word)) return wrong(option + " needs its duration after `=`", "write " + option + "=" + word);
  return wrong(option + " plans again each time, but a saved plan is only applied as it is",
               "leave " + option + " out, or name the spec with -f instead of the plan");
}

Status check(const Options& options) {
  if (options.condition && !options.boot)
    return Error{ErrorCode::usage, "--condition is only for a service with --boot", "command line", "add --boot", {}};
  if (options.dry_run && options.yes)
    return Error{ErrorCode::usage,
                 "--dry-run and --yes exclude each other: --dry-run asks no questions",
                 "command line",
                 "leave one out",
                 {}};
  if (options.locked && options.update)
    return Error{ErrorCode::usage, "--locked and --update exclude each other", "command line", "leave one out", {}};
  if (options.image && (options.session.live.value_or(false) || !options.session.sim.empty()))
    return Error{ErrorCode::usage,
                 std::string("--image and ") + (options.session.sim.empty() ? "--live" : "--sim") +
                     " exclude each other: an image does not run, and has no devices",
                 "command line",
                 "leave one out",
                 {}};
  const auto& kernels = options.session.kernels;
  for (const std::string& kernel : kernels)
    if (!kernel.empty() && !is_release(kernel))
      return Error{ErrorCode::usage,
                   "--kernel '" + kernel + "' is not a kernel release",
                   "command line",
                   "write it as `uname -r` prints it, for example 6.1.0-50-amd64",
                   {}};
  for (auto kernel = kernels.begin(); kernel != kernels.end(); ++kernel)
    if (std::count(kernels.begin(), kernel, *kernel) != 0)
      return Error{ErrorCode::usage, "--kernel names " + *kernel + " twice", "command line", "leave one out", {}};
  if (options.session.root.empty())
    return Error{ErrorCode::usage, "--root is empty", "command line", "name a folder; --root / is this machine", {}};
  // An unset variable, as in --only "$NAMES", must not select all components or the real machine.
  for (const auto& [name, is_empty] : {std::pair{"only", options.only.empty()}, {"sim", options.session.sim.empty()}})
    if (is_empty && std::ranges::count(options.given, name) != 0)
      return Error{ErrorCode::usage, std::string("--") + name + " is empty", "command line", "leave it out", {}};
  return {};
}

}  // namespace

std::vector<CommandOption> options_of(const Command& command) {
  std::vector<std::string> names = command.options;
  names.insert(names.end(), {"verbose", "help"});
  std::vector<CommandOption> options = command.own_options;
  for (CommandOption& shared : options_named(names))
    if (std::ranges::find(command.own_options, shared.name, &CommandOption::name) == command.own_options.end())
      options.push_back(std::move(shared));
  return options;
}

CommandTable line_of(const Command& command) {
  const std::size_t end_of_name = command.usage.find(command.name) + command.name.size();
  return {.call = "slipway " + command.usage.substr(0, end_of_name),
          .usage = command.usage.substr(std::min(command.usage.size(), end_of_name + 1)),
          .about = command.purpose,
          .options = options_of(command),
          .least_arguments = command.least_arguments,
          .most_arguments = command.most_arguments,
          .examples = command.examples};
}

Result<Options> read_options(const Command& command, const std::vector<std::string>& words) {
  SLIPWAY_TRY(read, command_line::read_words(line_of(command), words));
  Options options;
  options.command = command.name;
  options.help = read.help;
  options.arguments = read.arguments;
  for (const auto& [name, values] : read.values) options.given.push_back(name);
  options.spec = read.text("file");
  options.session.root = read.text("root", "/");
  options.session.kernels = read.texts("kernel");
  std::erase(options.session.kernels, "");
  options.session.sim = read.text("sim");
  options.session.cache = read.text("cache");
  options.only = split_list(read.text("only"));
  options.output = read.text("output", "text");
  options.lock = read.text("lock");
  options.locked = read.flag("locked");
  options.update = read.flag("update");
  options.without_slipway = read.flag("without-slipway");
  if (read.given("replace-edits")) options.replace_edits = read.texts("replace-edits");
  const bool all_edits = options.replace_edits && std::erase(*options.replace_edits, "") != 0;
  if (all_edits && !options.replace_edits->empty())
    return line_of(command).wrong("--replace-edits is given both with a path and without");
  options.yes = read.flag("yes");
  options.boot = read.flag("boot");
  options.after_boot = read.flag("after-boot");
  options.condition = read.flag("condition");
  options.deep = read.flag("deep");
  options.all = read.flag("all");
  options.dry_run = read.flag("dry-run");
  options.schema = read.flag("schema");
  options.verbose = read.flag("verbose");
  options.log_format = read.text("log-format");
  options.destination = read.text("to");
  options.tags = read.texts("tag");
  options.insecure = read.flag("insecure");
  options.trust = read.text("trust");
  options.ca = read.text("ca");
  options.image = read.flag("image");
  if (options.image) options.session.live = false;
  if (read.flag("live")) options.session.live = true;
  SLIPWAY_CHECK(read_wait(read, "wait", options, options.wait));
  SLIPWAY_CHECK(read_wait(read, "wait-for-source", options, options.wait_for_source));
  if (read.given("within")) {
    options.within = duration_of(read.text("within"));
    if (!options.within) return line_of(command).wrong("--within takes a duration: --within=60s");
  }
  SLIPWAY_CHECK(check(options));
  return options;
}

std::string output_of(const std::vector<std::string>& words) {
  std::string form;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if ((words[i] == "-o" || words[i] == "--output") && i + 1 < words.size()) form = words[++i];
    if (words[i].starts_with("--output=")) form = words[i].substr(sizeof("--output=") - 1);
    if (words[i].starts_with("-o") && words[i].size() > 2) form = words[i].substr(2);
  }
  return form == "json" || form == "jsonl" ? form : "text";
}

}  // namespace slipway::cli
