// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>

#include "base/write/new_file.hpp"
#include "sim/view/driver.hpp"

namespace slipway::sim {
namespace {

constexpr std::string_view kLibrary = "libnvidia-ml.so.";
constexpr std::array kDriverRoots{"/usr/lib/slipway/store/driver/current/userspace", ""};
constexpr std::array kFolders{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                              "/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/lib/aarch64-linux-gnu/nvidia/current",
                              "/usr/lib64"};

/// The newest CUDA that drivers of a branch support, 1000 * major + 10 * minor (CUDA Toolkit release notes, table 3).
constexpr std::array<std::pair<unsigned, unsigned>, 13> kCudaOfBranch{{{470, 11040},
                                                                       {510, 11060},
                                                                       {515, 11070},
                                                                       {520, 11080},
                                                                       {525, 12000},
                                                                       {530, 12010},
                                                                       {535, 12020},
                                                                       {545, 12030},
                                                                       {550, 12040},
                                                                       {555, 12050},
                                                                       {560, 12060},
                                                                       {565, 12070},
                                                                       {570, 12080}}};

/// True for "535.261.03", not for "1" or "535.261.03.old".
bool is_version(std::string_view text) {
  return text.size() > 4 && text.find('.') == 3 &&
         std::ranges::all_of(text, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

/// Records the version that was set last: a machine with another one was changed by a user.
constexpr const char* kFollowed = "/follows-driver";

std::string first_line(const std::string& file) {
  const std::string text = read_regular(file, 4096, O_NOFOLLOW).value_or("");
  return text.substr(0, text.find('\n'));
}

void give_driver(sim::Machine& machine, const std::string& version) {
  sim::set_text(machine.driver_version, version);
  std::from_chars(version.data(), version.data() + version.size(), machine.driver_branch);
  for (const auto& [branch, cuda] : kCudaOfBranch)
    if (branch == machine.driver_branch) machine.cuda_version = cuda;
}

}  // namespace

std::string installed_driver_version(const Host& host) {
  for (const char* root : kDriverRoots)
    for (const char* folder : kFolders) {
      const auto names = host.list(std::string(root) + folder).value_or(std::vector<std::string>{});
      for (const std::string& name : names)
        if (name.starts_with(kLibrary) && is_version(std::string_view(name).substr(kLibrary.size())))
          return name.substr(kLibrary.size());
    }
  return {};
}

Status follow_installed_driver(const std::string& folder, const std::string& profile_version,
                               const std::string& version) {
  const std::string path = folder + "/machine";
  const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return errno == ENOENT ? Status{} : Status(system_error("open", path, errno));
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return system_error("lock", path, errno);
  SLIPWAY_TRY(machine, read_sim_machine(folder));
  const std::string has = machine->driver_version;
  if (has == version || (has != profile_version && has != first_line(folder + kFollowed))) return {};
  give_driver(*machine, version);
  // Writes only the header: programs with the machine mapped see it at once, and may be writing the rest.
  constexpr std::size_t kFrom = offsetof(sim::Machine, driver_version);
  constexpr std::size_t kTo = offsetof(sim::Machine, cuda_version) + sizeof machine->cuda_version;
  const auto* const bytes = reinterpret_cast<const char*>(machine.get());
  if (::pwrite(file.get(), bytes + kFrom, kTo - kFrom, kFrom) != static_cast<ssize_t>(kTo - kFrom))
    return system_error("write", path, errno);
  SLIPWAY_TRY(own, RootDir::open(folder));  // a link of that name cannot lead elsewhere
  return base::replace_file(own, kFollowed, version + "\n");
}

}  // namespace slipway::sim
