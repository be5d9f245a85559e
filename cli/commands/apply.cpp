// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include <unistd.h>

#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "app/edits.hpp"
#include "app/saved_plan.hpp"
#include "app/waiting.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kLargestPlan = std::size_t{64} << 20U;

/// Resolves the path, for a comparison.
std::string real_path(const std::string& path) {
  std::error_code code;
  const std::string real = std::filesystem::weakly_canonical(path, code).string();
  return code ? path : real;
}

/// A plan of slipway 0.1.0 has one kernel, as a string.
std::vector<std::string> saved_kernels(const Json& made_for) {
  const std::string kernel = made_for.value("kernel", "");
  return made_for.value("kernels", kernel.empty() ? std::vector<std::string>{} : std::vector<std::string>{kernel});
}

std::optional<std::vector<std::string>> saved_edits(const Json& made_for) {
  if (!made_for.contains("replace_edits")) return std::nullopt;
  return made_for["replace_edits"].get<std::vector<std::string>>();
}

/// Checks that the command line beside a saved plan matches the options of the plan.
Status check_saved_options(const Options& given, const Json& made_for) {
  const auto is_given = [&](const char* name) { return std::ranges::count(given.given, name) != 0; };
  const auto refuse = [](const std::string& option, const std::string& saved) {
    return Error{ErrorCode::usage,
                 "the saved plan was made " + (saved.empty() ? "without " + option : "for " + option + " " + saved),
                 "command line",
                 "leave " + option + " out, or make another plan with it",
                 {}};
  };
  const std::string root = made_for.value("root", "/");
  if (is_given("root") && real_path(given.session.root) != real_path(root)) return refuse("--root", root);
  const std::string spec = made_for.value("spec", "");
  if (is_given("file") && real_path(given.spec) != real_path(spec)) return refuse("--file", spec);
  const std::vector<std::string> kernels = saved_kernels(made_for);
  if (is_given("kernel") && given.session.kernels != kernels) return refuse("--kernel", listed(kernels, "and"));
  const std::string sim = made_for.value("sim", "");
  if (is_given("sim") && given.session.sim != sim && real_path(given.session.sim) != real_path(sim))
    return refuse("--sim", sim);
  const auto only = made_for.value("only", std::vector<std::string>{});
  if (is_given("only") && given.only != only) return refuse("--only", listed(only, "and"));
  if (is_given("live") && made_for.contains("live") && made_for["live"] != true) return refuse("--live", "");
  if (is_given("image") && !made_for.value("image", false)) return refuse("--image", "");
  if (is_given("update") && !made_for.value("update", false)) return refuse("--update", "");
  const auto edits = saved_edits(made_for);
  if (is_given("replace-edits") && given.replace_edits != edits)
    return refuse("--replace-edits", !edits ? "" : edits->empty() ? "without a path" : listed(*edits, "and"));
  if (is_given("without-slipway") && !made_for.value("without_slipway", false)) return refuse("--without-slipway", "");
  if (is_given("boot")) return refuse("--boot", "");
  return {};
}

/// Reads a plan saved by `slipway plan -o json` and takes its options.
Result<Json> read_saved_plan(const std::string& file, Options& options) try {
  const std::string meant = "name the path of an edit after a =: --replace-edits=" + file;
  const auto text = read_named(file, kLargestPlan);
  if (!text) {
    Error error = text.error();
    if (options.replace_edits) error.next = meant;
    return error;
  }
  const Json plan = parse_foreign(*text);
  if (app::member(plan, "kind") != "Plan" || !app::member(plan, "identity").is_object() ||
      !app::member(plan, "options").is_object())
    return Error{ErrorCode::invalid,
                 "this is not a plan",
                 file,
                 options.replace_edits
                     ? meant
                     : "save a plan with `slipway plan -o json > FILE`; to apply a spec, name the spec with -f",
                 {}};
  const Json& made_for = plan["options"];
  SLIPWAY_CHECK(check_saved_options(options, made_for));
  options.spec = made_for.value("spec", "");
  options.session.root = made_for.value("root", "/");
  options.session.kernels = saved_kernels(made_for);
  options.session.sim = made_for.value("sim", "");
  options.only = made_for.value("only", std::vector<std::string>{});
  if (made_for.value("live", false)) options.session.live = true;
  options.image = made_for.value("image", false);
  if (options.image) options.session.live = false;
  options.without_slipway = made_for.value("without_slipway", false);
  options.update = made_for.value("update", false);
  options.replace_edits = saved_edits(made_for);
  return plan["identity"];
} catch (const Json::exception& problem) {
  return Error{ErrorCode::invalid,
               std::string("this plan has options that this slipway does not know: ") + problem.what(),
               file,
               "save a new plan with `slipway plan -o json > FILE`",
               {}};
}

/// Fails before anything is changed, not after all is done.
Status check_lock_file(const Options& options) {
  if (options.lock.empty() || options.locked) return {};
  const auto folder = std::filesystem::absolute(options.lock).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  Error error = system_error("write", options.lock, errno);
  error.next = "name a file in an existing folder that you may write to";
  return error;
}

}  // namespace

Result<int> run_apply(const Options& given, TerminalUi& ui) {
  Options options = given;
  core::watch_stop_signals();
  SLIPWAY_CHECK(check_lock_file(options));
  if (options.within && !options.boot)
    return Error{
        ErrorCode::usage, "--within has no effect on an apply without --boot", "command line", "leave it out", {}};
  std::optional<Json> saved;
  if (!options.arguments.empty()) {
    SLIPWAY_TRY(identity, read_saved_plan(options.arguments.front(), options));
    saved = identity;
  }
  SLIPWAY_TRY(attempt, open_attempt(options, ui));
  attempt.apply.check = [&saved, also = attempt.apply.check](const core::PlannedRun& run) -> Status {
    SLIPWAY_CHECK(app::check_saved_plan(saved, run));
    return also(run);
  };
  return change_host(*attempt.session, options, attempt.spec, attempt.apply, ui);
}

}  // namespace slipway::cli
