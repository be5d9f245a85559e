// SPDX-License-Identifier: Apache-2.0
#include "sandbox/build.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <thread>

#include <fcntl.h>

#include <slipway/root_dir.hpp>

#include "base/digest/digest.hpp"
#include "base/write/tree.hpp"
#include "core/host/files.hpp"
#include "sandbox/build_room.hpp"
#include "sandbox/module_signature.hpp"
#include "sandbox/tool.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::size_t kSearchedBytes = 64 << 20;
constexpr std::size_t kShownLines = 15;

std::vector<std::string> words(const Json& value) {
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<std::string> command_of(const Json& build) {
  const std::string jobs = std::to_string(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::string> argv = words(build.value("argv", Json()));
  for (std::string& word : argv)
    for (std::size_t at = word.find("{jobs}"); at != std::string::npos; at = word.find("{jobs}", at))
      word.replace(at, std::string_view("{jobs}").size(), jobs);
  return argv;
}

/// Passes a text that arrives in pieces on line by line, up to the length that a log's reader uses.
class Lines {
 public:
  explicit Lines(const std::function<void(const std::string&)>& take) : take_(take) {}

  void add(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line_ += text.substr(0, std::min(end, kLogLineBytes - line_.size()));
      if (end == std::string_view::npos) return;
      take_(line_);
      line_.clear();
      text.remove_prefix(end + 1);
    }
  }

 private:
  const std::function<void(const std::string&)>& take_;
  std::string line_;
};

/// Called before compiling, which takes minutes.
Status check_keys(const Json& build) {
  for (const Json& file : build.value("collect", Json::array()))
    if (const std::string key = file.value("sign_key", ""); !key.empty())
      SLIPWAY_CHECK(ModuleSigner::open(key, file.value("sign_cert", "")));
  return {};
}

Error failed(const BuildRequest& request, int status) {
  const std::string log = read_regular(request.log, kSearchedBytes).value_or("");
  const auto problem = find_problem(log, std::string(kBuildFolder) + "/");
  const std::string name = request.build.value("name", "the source");
  Error error{ErrorCode::build_failed, name + " does not compile: ", request.log, {}, {}};
  if (problem) error.code = problem->code;
  error.what += problem ? problem->line
                        : "`" + words(request.build.value("argv", Json())).front() + "` ended with status " +
                              std::to_string(status);
  error.details.emplace_back("first", problem ? problem->context : last_lines(log, kShownLines));
  error.details.emplace_back("log", request.log);
  if (error.code == ErrorCode::no_space)
    error.next = "free some space, then run the same command again";
  else if (error.code == ErrorCode::io)
    error.next = "give the machine more memory, then run the same command again";
  else
    error.next =
        "use a version of the source that supports this kernel, a package that is compiled for it, or another kernel";
  return error;
}

Status compile(const BuildRequest& request, const BuildRoom& room) {
  const Fd log(::open(request.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!log) return system_error("write", request.log, errno);
  Sandbox sandbox = room.sandbox();
  sandbox.argv = command_of(request.build);
  sandbox.needs = words(request.build.value("needs", Json()));
  const std::string working = sandbox.directory + "/";
  std::uint64_t files = 0;
  const std::function<void(const std::string&)> take = [&](const std::string& line) {
    if (request.on_line) request.on_line(line);
    if (!request.on_file) return;
    if (const std::string file = compiled_file(line, working); !file.empty()) request.on_file(file, files++);
  };
  Lines lines(take);
  Status logged;
  sandbox.on_output = [&](std::string_view text) {
    if (logged) logged = base::write_all(log.get(), text, request.log);
    lines.add(text);
  };
  auto end = run_in_sandbox(sandbox);
  if (!end && end.error().code == ErrorCode::not_found)
    return build_needs(request.build, sandbox.argv.front(), request.root);
  if (!end) {
    Error error = end.error();
    error.what = request.build.value("name", "a build") + ": " + error.what;
    error.details.emplace_back("log", request.log);
    return error;
  }
  if (!end->no_user_namespace.empty() && logged)
    logged = base::write_all(log.get(), "slipway: compiled without a user namespace: " + end->no_user_namespace + "\n",
                             request.log);
  if (!end->missing.empty()) return build_needs(request.build, end->missing, request.root);
  if (end->exit_status != 0) return failed(request, end->exit_status);
  return logged;
}

}  // namespace

std::string build_key(const Json& build) { return base::digest_of(canonical(build)); }

Status run_build(const BuildRequest& request) {
  if (words(request.build.value("argv", Json())).empty())
    return Error{ErrorCode::invalid,
                 "the build " + request.build.value("name", "") + " has no command to run",
                 {},
                 "this is a defect of the component that planned it; report it to its authors",
                 {}};
  SLIPWAY_CHECK(check_keys(request.build));
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(request.log).parent_path(), code);
  SLIPWAY_TRY(room, BuildRoom::open(request));
  SLIPWAY_CHECK(compile(request, room));
  const Status collected = collect_results(request, room);
  if (!collected) (void)base::remove_tree(request.into).ok();
  return collected;
}

}  // namespace slipway::sandbox
