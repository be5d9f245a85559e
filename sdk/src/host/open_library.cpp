// SPDX-License-Identifier: Apache-2.0
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
    SLIPWAY_CHECK(check_only_ours(machine, absolute));
    // Resolved here: the loader finds what is beside a library by the name that it was given.
    if (const auto resolved = std::filesystem::canonical(path, problem); !problem) real = resolved.string();
  }
  if (void* const handle = ::dlopen(real.c_str(), flags)) return handle;
  const char* const reason = ::dlerror();
  return Error{.code = ErrorCode::invalid,
               .what = path + " cannot be loaded: " + (reason == nullptr ? "the loader gave no reason" : reason),
               .where = path};
}

}  // namespace slipway
