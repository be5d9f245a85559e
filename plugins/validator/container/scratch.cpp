// SPDX-License-Identifier: Apache-2.0
#include "validator/container/scratch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/write/lock_file.hpp"
#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRemoveFolderLimit{10000};
constexpr milliseconds kLockPause{20};
constexpr std::size_t kDigits = 16;
constexpr mode_t kFolderMode = 0700;  // a user who could open it could lock it
constexpr const char* kState = "/var/lib/slipway";
constexpr const char* kLock = "container-checks.lock";
constexpr std::string_view kPrefix = "container-check-";
constexpr std::array kRemovers{"/usr/bin/rm", "/bin/rm"};

/// Reads "container-check-docker-0123456789abcdef". Empty: the name has another form.
std::optional<Place> place_named(std::string_view name) {
  const auto dash = name.rfind('-');
  if (!name.starts_with(kPrefix) || dash < kPrefix.size()) return std::nullopt;
  const std::string_view number = name.substr(dash + 1);
  if (number.size() != kDigits || number.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return std::nullopt;
  return Place{std::string(name.substr(kPrefix.size(), dash - kPrefix.size())), std::string(number)};
}

/// Held for a short time while folders are created or searched.
Result<base::LockFile> lock_all(const Runner& runner, const RootDir& root) {
  while (true) {
    auto taken = base::LockFile::take(root, kState, kLock);
    if (taken || taken.error().code != ErrorCode::locked || runner.left().count() == 0) return taken;
    std::this_thread::sleep_for(kLockPause);
  }
}

Result<Fd> lock_folder(const RootDir& root, const std::string& folder) {
  SLIPWAY_TRY(opened, root.open_at(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0)
    return system_error("lock", folder, errno == EWOULDBLOCK ? EBUSY : errno);
  return std::move(opened);
}

std::vector<Place> places(const Host& host) {
  std::vector<Place> found;
  for (const std::string& name : host.list(kState).value_or(std::vector<std::string>()))
    if (auto place = place_named(name)) found.push_back(*std::move(place));
  return found;
}

}  // namespace

std::string Place::folder() const { return std::string(kState) + "/" + std::string(kPrefix) + engine + "-" + number; }

std::string random_number() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random() & 0xffffffffU, random() & 0xffffffffU);
}

Result<Scratch> Scratch::make(const Runner& runner, Place place) {
  if (find_program(runner.host(), kRemovers).path.empty())
    return Error{
        ErrorCode::not_found, "rm, which removes a container's folder, is missing, or root may not run it", {}, {}, {}};
  SLIPWAY_TRY(root, RootDir::open(runner.host().root_folder()));
  const auto lock = lock_all(runner, root);
  if (!lock) return lock.error();
  const std::string folder = place.folder();
  SLIPWAY_TRY(above, root.parent_of(folder));
  if (::mkdirat(above.first.get(), above.second.c_str(), kFolderMode) != 0) {
    Error error = system_error("make", folder, errno);
    if (errno == EEXIST) error.code = ErrorCode::conflict;
    return error;
  }
  auto in_use = lock_folder(root, folder);
  if (in_use) return Scratch(std::move(place), *std::move(in_use));
  (void)::unlinkat(above.first.get(), above.second.c_str(), AT_REMOVEDIR);
  return in_use.error();
}

std::vector<Scratch> Scratch::take_abandoned(const Runner& runner, std::size_t most) {
  std::vector<Scratch> taken;
  if (places(runner.host()).empty()) return taken;  // the usual case: nothing is written
  const auto root = RootDir::open(runner.host().root_folder());
  const auto lock = root ? lock_all(runner, *root) : Result<base::LockFile>(root.error());
  if (!lock) return taken;
  std::vector<Place> found = places(runner.host());
  std::shuffle(found.begin(), found.end(), std::random_device());
  for (Place& place : found) {
    if (taken.size() == most) break;
    if (auto unused = lock_folder(*root, place.folder())) taken.push_back({std::move(place), *std::move(unused)});
  }
  return taken;
}

Status Scratch::fill(const Host& host, const std::string& probe) const {
  namespace fs = std::filesystem;
  const std::string root = (host.root_folder() == "/" ? "" : host.root_folder()) + place_.root();
  std::error_code problem;
  for (const char* name : {"dev", "etc", "proc", "sys", "tmp", "usr"})
    if (!problem) fs::create_directories(root + "/" + name, problem);
  if (!problem) fs::copy_file(probe, root + "/probe", fs::copy_options::overwrite_existing, problem);
  return problem ? Status(system_error("make", place_.folder(), problem.value())) : Status();
}

void Scratch::remove(const Runner& runner) const {
  const std::string rm = find_program(runner.host(), kRemovers).path;
  if (!rm.empty()) (void)runner.run({rm, "-rf", "--one-file-system", place_.folder()}, kRemoveFolderLimit);
}

}  // namespace slipway::validator
