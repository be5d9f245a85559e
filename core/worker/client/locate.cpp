// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <slipway/trusted_owner.hpp>

#include "core/worker/client/spawn.hpp"

namespace slipway::core {
namespace {

constexpr const char* kWorker = "slipway-worker";

std::vector<std::string> places(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::string> all;
  if (!own.empty())
    for (const char* folder : {".", "../libexec/slipway", "../bin"})
      all.push_back((own / folder / name).lexically_normal().string());
  all.push_back(std::string(SLIPWAY_LIBEXEC_DIR) + "/" + name);
  return all;
}

Status check(const std::string& path, const struct stat& status) {
  const bool is_untrusted = (status.st_mode & 0022U) != 0 || !is_trusted_owner(status.st_uid);
  if (geteuid() != 0 || !is_untrusted) return {};
  return Error{.code = ErrorCode::denied,
               .what = path + " can be changed by users other than root, so it is not run as root",
               .where = path,
               .next = "chown root " + path + " && chmod go-w " + path};
}

Result<std::string> first_of(const std::vector<std::string>& paths, const std::string& name) {
  Error error{.code = ErrorCode::not_found,
              .what = "the program " + name + " is missing, although it is a part of slipway",
              .next = "install slipway completely, or build the target " + name};
  if (access("/proc/self/exe", F_OK) != 0) {
    error.what += "; without /proc only one folder can be searched";
    error.next = "mount it, in a chroot for example with `mount -t proc proc /proc`; else " + error.next;
  }
  for (const std::string& path : paths) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0) {
      SLIPWAY_CHECK(check(path, status));
      return path;
    }
    error.details.emplace_back("looked", path);
  }
  return error;
}

}  // namespace

Result<std::string> own_program(const std::string& name) { return first_of(places(name), name); }

Result<std::string> worker_program(bool trust_environment) {
  const char* named = std::getenv("SLIPWAY_WORKER");
  if (named == nullptr || (!trust_environment && geteuid() == 0)) return own_program(kWorker);
  SLIPWAY_TRY(path, path_of_variable("SLIPWAY_WORKER", named));
  return first_of({path}, kWorker);
}

}  // namespace slipway::core
