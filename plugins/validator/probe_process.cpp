// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <dlfcn.h>
#include <sys/stat.h>

#include <slipway/process/child_process.hpp>
#include <slipway/trusted_owner.hpp>

#include "validator/cuda_check.hpp"

namespace slipway::validator {
Result<std::string> run_probe(std::vector<std::string> argv, std::vector<std::string> environment,
                              std::chrono::milliseconds limit, const std::stop_token& stop) {
  const std::string program = argv.front();
  SLIPWAY_TRY(result, run_child({.argv = std::move(argv),
                                 .environment = std::move(environment),
                                 .descriptors = {kDevNull, kReadPipe, kDevNull}},
                                {.limit = limit, .stop = [&stop] { return stop.stop_requested(); }}));
  if (result.end == ChildResult::End::stopped)
    return Error{ErrorCode::cancelled, program + " was abandoned because a stop was requested", {}, {}, {}};
  if (result.end != ChildResult::End::by_itself)
    return Error{ErrorCode::timed_out, program + " did not answer in time", {}, {}, {}};
  if (result.status != 0) return Error{ErrorCode::io, program + " ended with " + ending_of(result.status), {}, {}, {}};
  return std::move(result.output);
}

Result<std::string> program_beside_plugin(const std::string& name) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&run_probe), &info) == 0 || info.dli_fname == nullptr)
    return Error{ErrorCode::internal, "the plugin cannot find its own folder", {}, {}, {}};
  std::string path = info.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_error("find", path, errno);
  const bool others = (status.st_mode & 0022U) != 0 || !is_trusted_owner(status.st_uid);
  if (others)
    return Error{ErrorCode::denied,
                 path + " may be changed by other users",
                 path,
                 "chown root " + path + " && chmod go-w " + path,
                 {}};
  return path;
}

}  // namespace slipway::validator
