// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace slipway::detail {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{5000};  // between SIGTERM and SIGKILL
constexpr std::array kFolders{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

Error ran_too_long(const std::string& name, milliseconds limit, ProcessOutput seen) {
  Error error{.code = ErrorCode::timed_out,
              .what = name + " did not end within " + std::to_string(limit.count()) + " ms and was stopped"};
  if (!seen.output.empty()) error.details.emplace_back("output", std::move(seen.output));
  if (!seen.errors.empty()) error.details.emplace_back("errors", std::move(seen.errors));
  return error;
}

}  // namespace

Result<std::string> find_program(const RootDir& root, const std::string& name) {
  if (name.empty()) return Error{.code = ErrorCode::invalid, .what = "no program was named"};
  std::vector<std::string> candidates;
  if (name.find('/') != std::string::npos)
    candidates.push_back(name.starts_with('/') ? name : "/" + name);
  else
    for (const char* folder : kFolders) candidates.push_back(std::string(folder) + "/" + name);
  Error error{.code = ErrorCode::not_found,
              .what = "there is no program '" + name + "' in the root",
              .where = root.folder(),
              .next = "install the package that brings it"};
  for (const std::string& path : candidates) {
    const Result<Fd> fd = root.open_at(path, O_PATH);
    struct stat status {};
    if (!fd || fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if ((status.st_mode & 0111U) != 0) return path;
    error = system_error("run", path, EACCES);
    error.next = "make it executable: chmod a+x " + path;
  }
  return error;
}

Result<ProcessOutput> run_program(const RootDir& root, const std::vector<std::string>& argv, milliseconds limit) {
  SLIPWAY_TRY(path, find_program(root, argv.empty() ? std::string() : argv.front()));
  SLIPWAY_TRY(child, start_child(root, path, argv));
  ChildResult result = await_child(std::move(child), {.limit = limit.count() > 0 ? limit : kForever, .grace = kGrace});
  ProcessOutput seen{exit_status_of(result.status), std::move(result.output), std::move(result.errors),
                     result.truncated};
  if (result.end == ChildResult::End::by_itself) return seen;
  return ran_too_long(argv.front(), limit, std::move(seen));
}

}  // namespace slipway::detail
