// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "hook.hpp"
#include "jail.hpp"
#include "ld_conf.hpp"

namespace slipway::hook {
namespace {

constexpr const char* kDefault = "/sbin/ldconfig";

/// Ubuntu's /sbin/ldconfig is a script around ldconfig.real. A leading "@" means the program of the host; this hook
/// always uses that one.
std::string program_of(std::string path) {
  if (path.starts_with('@')) path.erase(0, 1);
  const std::string real = path + ".real";
  return ::access(real.c_str(), X_OK) == 0 ? real : path;
}

Status check_folders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (!folder.starts_with('/') || folder.find_first_of("\n#=") != std::string::npos)
      return Error{ErrorCode::invalid,
                   "'" + folder + "' is not an absolute path of a library folder",
                   "--folder",
                   "correct the hook's arguments in the CDI spec",
                   {}};
  return {};
}

}  // namespace

Status update_ldcache(const Arguments& arguments, const Container& container) {
  const std::vector<std::string> folders = arguments.all("folder");
  if (folders.empty()) return {};
  SLIPWAY_CHECK(check_folders(folders));
  if (is_in_volume(container.root, "/etc")) return {};  // ldconfig would write the cache to a volume
  SLIPWAY_TRY(ldconfig, copy_program(program_of(arguments.last("ldconfig-path", kDefault))));
  Status done =
      run_jailed(container.root, {.program = ldconfig.get(),
                                  .arguments = {"ldconfig", "-f", "/etc/ld.so.conf", "-C", "/etc/ld.so.cache"},
                                  .prepare = [&](const RootDir& root) { return configure_linker(root, folders); }});
  if (done || done.error().code != ErrorCode::read_only) return done;
  Error error = std::move(done).error();
  error.next = "use a CDI spec without hooks (hooks: none), which needs no writable root";
  return error;
}

}  // namespace slipway::hook
