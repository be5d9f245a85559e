// SPDX-License-Identifier: Apache-2.0
#include "app/build_container.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/write/new_file.hpp"

namespace slipway::app {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  return line;
}

/// Returns the maximum set of capabilities for programs started here (proc(5), CapBnd).
std::optional<std::uint64_t> bounding_set(const std::string& machine) {
  std::ifstream status(machine + "/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t set = 0; word == "CapBnd:" && status >> std::hex >> set) return set;
  return std::nullopt;
}

/// In the machine's first user namespace every user id maps to itself (user_namespaces(7)).
bool in_user_namespace(const std::string& machine) {
  std::ifstream map(machine + "/proc/self/uid_map");
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  return (map >> inside >> outside >> count) && (inside != 0 || outside != 0 || count != UINT32_MAX);
}

bool may_load_modules(const std::string& machine) {
  const auto set = bounding_set(machine);
  return !in_user_namespace(machine) && (!set || ((*set >> CAP_SYS_MODULE) & 1U) != 0);
}

constexpr const char* kRunsHere = "/run/slipway/live";

/// Identifies this boot and this folder, by the folder's creation time. A copy of the folder has a later creation time,
/// even in a container of the same machine, and may get the same inode number. Empty when the filesystem has no
/// creation time.
std::string this_run_of(const std::string& machine) {
  struct statx folder {};
  const std::string boot = first_line(machine + "/proc/sys/kernel/random/boot_id");
  if (boot.empty() || ::statx(AT_FDCWD, (machine + "/run/slipway").c_str(), 0, STATX_INO | STATX_BTIME, &folder) != 0 ||
      (folder.stx_mask & STATX_BTIME) == 0)
    return {};
  const std::string place = std::to_string(folder.stx_dev_major) + ":" + std::to_string(folder.stx_dev_minor) + " " +
                            std::to_string(folder.stx_ino);
  return boot + " " + place + " " + std::to_string(folder.stx_btime.tv_sec) + " " +
         std::to_string(folder.stx_btime.tv_nsec) + "\n";
}

bool is_known_to_run(const std::string& machine) {
  constexpr std::size_t kLongest = 200;
  const auto top = RootDir::open(machine);
  if (!top || !check_only_ours(*top, kRunsHere)) return false;
  const auto known = read_regular(*top, kRunsHere, kLongest);
  return known && !known->empty() && *known == this_run_of(machine);
}

}  // namespace

Status mark_container_running(const std::string& machine) {
  SLIPWAY_TRY(top, RootDir::open(machine));
  SLIPWAY_CHECK(base::replace_file(top, kRunsHere, ""));  // creates the folder
  return base::replace_file(top, kRunsHere, this_run_of(machine));
}

std::vector<std::string> signs_of_a_build(const std::string& machine) {
  std::error_code problem;
  if (fs::is_directory(machine + "/run/systemd/system", problem) || is_known_to_run(machine)) return {};
  std::vector<std::string> signs{"systemd does not run here"};
  if (!may_load_modules(machine)) signs.emplace_back("kernel modules may not be loaded from here");
  const std::string release = first_line(machine + "/proc/sys/kernel/osrelease");
  if (!fs::is_directory(machine + "/lib/modules/" + release + "/kernel", problem))
    signs.emplace_back("/lib/modules has no modules of the running kernel" + (release.empty() ? "" : " " + release));
  return signs.size() > 1 ? signs : std::vector<std::string>{};
}

Error asks_for_image_or_live(const std::vector<std::string>& signs) {
  return Error{
      ErrorCode::usage,
      "slipway cannot tell whether / is an image that is being built or a running machine. It looks like a build: " +
          joined(signs),
      "command line",
      "say `--image` in a container build (and `--kernel RELEASE`, unless the image has exactly one kernel), or "
      "`--live` on a running machine",
      {}};
}

}  // namespace slipway::app
