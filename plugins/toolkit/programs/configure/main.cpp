// SPDX-License-Identifier: Apache-2.0
// slipway-runtime-configure [OPTIONS]: `slipway runtime configure`, a program of its own and a static one, because its
// start would otherwise take most of its time.
#include <algorithm>
#include <cstdio>

#include <slipway/local_host.hpp>
#include <slipway/root_dir.hpp>

#include "base/command_line/read_words.hpp"
#include "base/log/lines.hpp"
#include "base/write/standard_output.hpp"
#include "toolkit/programs/configure/changes.hpp"

namespace slipway::toolkit {
namespace {

constexpr int kDone = 0;
constexpr int kError = 1;
constexpr int kUsage = 64;

/// Prints for users: the caller's words and lines of files may have control characters.
void put(FILE* to, const std::string& text) {
  const std::string shown = base::printable(text, true);
  if (to == stdout)
    base::write_standard_output(shown);
  else
    std::fwrite(shown.data(), 1, shown.size(), to);
}

void report_changes(FILE* to, const std::vector<FileChange>& changes) {
  bool any = false;
  for (const FileChange& change : changes) {
    if (!change.lines.empty()) put(to, change.path + "\n");
    for (const std::string& line : change.lines) put(to, "  " + line + "\n");
    any = any || !change.lines.empty();
  }
  if (!any) put(to, "nothing to change\n");
}

/// Prints the units that have to be restarted.
void print_restarts(const Plan& plan) {
  for (const Action& action : plan.actions()) {
    const Json triggers = action.value("triggers");
    if (!triggers.is_array()) continue;
    for (const Json& trigger : triggers)
      if (const std::string text = trigger; text.starts_with("restart:"))
        put(stdout, "it takes effect once the engine is restarted: systemctl restart " + text.substr(8) + "\n");
  }
}

Status show(const std::vector<FileChange>& changes) {
  report_changes(stderr, changes);
  for (const FileChange& change : changes) base::write_standard_output(change.content);
  return {};
}

Status configure(const ConfigureArguments& arguments) {
  for (const std::string& note : arguments.notes) put(stderr, "note: " + note + "\n");
  SLIPWAY_TRY(host, open_host({.root = arguments.root, .live = arguments.root == "/"}));
  SLIPWAY_TRY(plan, plan_configuration(arguments, *host));
  for (const std::string& note : plan.notes()) put(stderr, "note: " + note + "\n");
  SLIPWAY_TRY(changes, changes_of(plan, *host));
  if (arguments.dry_run) return show(changes);
  SLIPWAY_TRY(root, RootDir::open(arguments.root));
  SLIPWAY_CHECK(write_changes(changes, root));
  report_changes(stdout, changes);
  if (std::ranges::any_of(changes, [](const FileChange& change) { return !change.lines.empty(); }))
    print_restarts(plan);
  return {};
}

int fail(const Error& error) {
  put(stderr, to_text(error));
  return error.code == ErrorCode::usage ? kUsage : kError;
}

int run(const std::vector<std::string>& words) {
  const CommandTable line = configure_line();
  const auto read = command_line::read_words(line, words);
  if (!read) return fail(read.error());
  if (read->help) {
    put(stdout, help_text(line));
  } else {
    const auto arguments = configure_arguments(*read);
    if (!arguments) return fail(arguments.error());
    if (const Status done = configure(*arguments); !done) return fail(done.error());
  }
  const Status written = base::standard_output_status();
  return written ? kDone : fail(written.error());
}

}  // namespace
}  // namespace slipway::toolkit

int main(int count, char** words) {
  slipway::base::begin_program();
  return slipway::toolkit::run({words + (count > 0 ? 1 : 0), words + count});
}
