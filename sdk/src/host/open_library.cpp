// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>

#include <slipway/trusted_owner.hpp>

namespace slipway {

Result<void*> open_library(const std::string& path, int flags) {
  std::string real = path;
  if (path.find('/') != std::string::npos) {
    std::error_code problem;
    const std::string absolute = std::filesystem::absolute(path, problem).string();
    SLIPWAY_TRY(machine, RootDir::open("/"));
    SLIPWAY_TRY(is_there, exists_and_is_trusted(machine, absolute));
    // A missing file in a folder like /tmp, or one without a name, as behind /proc/self/fd, could be any user's later.
    if (!is_there)
      return Error{
          .code = ErrorCode::invalid, .what = path + " cannot be loaded: " + std::strerror(ENOENT), .where = path};
    // Resolved here: the loader looks for neighbours of a library by the name that it is given.
    if (const auto resolved = std::filesystem::canonical(path, problem); !problem) real = resolved.string();
  }
  if (void* const handle = ::dlopen(real.c_str(), flags)) return handle;
  const char* const reason = ::dlerror();
  return Error{.code = ErrorCode::invalid,
               .what = path + " cannot be loaded: " + (reason == nullptr ? "the loader gave no reason" : reason),
               .where = path};
}

}  // namespace slipway
