// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe/aside_folders.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <unistd.h>

#include "deviceplugin/service/mps/pipe/emptying.hpp"
#include "deviceplugin/service/mps/pipe/pipe_folder.hpp"
#include "deviceplugin/service/mps/system/command.hpp"
#include "deviceplugin/service/mps/system/systemd.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kLookAsideEvery{5};
constexpr std::chrono::seconds kEmptyEvery{60};
constexpr int kMostStartsAtOnce = 16;
// The time that one process has to empty a folder.
constexpr std::chrono::seconds kLasting = kEmptyingLimit + kEmptyingStopLimit + kLookAsideEvery;

/// Lists "nvidia.com/gpu" and "nvidia.com/.gpu.aside-0", without names that pods create in the shared memory.
std::vector<std::string> names_below(const Host& host, const std::string& mps_root) {
  std::vector<std::string> all;
  const auto domains = host.list(mps_root).value_or({});
  for (const std::string& domain : domains) {
    if (domain == "shm") continue;
    const auto names = host.list(mps_root + "/" + domain).value_or({});
    for (const std::string& name : names) all.push_back(domain + "/" + name);
  }
  return all;
}

bool is_aside_path(const std::string& path) { return is_aside(path.substr(path.rfind('/') + 1)); }

}  // namespace

/// Uses the path that the service was started with: in a portable folder the running program is the loader.
std::string emptying_program() {
  const std::string own = program_invocation_name;
  return own.substr(0, own.rfind('/') + 1) + "deviceplugin-empty";
}

std::vector<std::string> resources_below(const Host& host, const std::string& mps_root) {
  std::vector<std::string> resources = names_below(host, mps_root);
  std::erase_if(resources, is_aside_path);
  return resources;
}

AsideFolders::~AsideFolders() {
  for (const auto& [path, folder] : folders_) {
    if (folder.child == 0) continue;
    ::kill(folder.child, SIGKILL);
    (void)child_ended(folder.child, {});  // a call in the kernel may block it
  }
}

void AsideFolders::tick(const std::string& mps_root, Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + kLookAsideEvery;
  const std::vector<std::string> present = found(mps_root);
  forget_gone(present);
  int starts = 0;
  bool starting = true;
  for (const std::string& path : present) {
    Folder& folder = folders_.try_emplace(path, Folder{.since = now, .next_try = now}).first->second;
    if (removed(path, folder)) {
      folders_.erase(path);
      continue;
    }
    if (folder.child > 0 && child_ended(folder.child, {})) folder.child = 0;
    if (folder.child > 0 || now < folder.next_try || !starting || starts == kMostStartsAtOnce) continue;
    ++starts;
    starting = start_emptying(path, folder, now);
  }
  report_lasting(now);
}

std::vector<std::string> AsideFolders::found(const std::string& mps_root) const {
  const std::string root = host_.root_folder() == "/" ? "" : host_.root_folder();
  std::vector<std::string> folders;
  const auto names = names_below(host_, mps_root);
  for (const std::string& name : names)
    if (is_aside_path(name)) folders.push_back(root + mps_root + "/" + name);
  return folders;
}

/// Forgets folders that are gone: mpsRoot has changed, or an administrator removed them.
void AsideFolders::forget_gone(const std::vector<std::string>& present) {
  std::erase_if(folders_, [&](auto& each) {
    return std::ranges::find(present, each.first) == present.end() &&
           (each.second.child == 0 || child_ended(each.second.child, {}));
  });
}

/// A process that is blocked while it removes a name holds the folder's lock, and a removal of the folder would then
/// wait while it holds the parent's lock. Once the mark is set no process works in the folder.
bool AsideFolders::removed(const std::string& path, const Folder& folder) {
  if (!emptied_aside(path) || ::rmdir(path.c_str()) != 0) return false;
  if (folder.child > 0) (void)child_ended(folder.child, std::chrono::seconds(1));  // setting the mark is its last step
  if (folder.told) log_("info", "removed " + path + ", which pods had left");
  return true;
}

bool AsideFolders::start_emptying(const std::string& path, Folder& folder, Clock::time_point now) {
  folder.next_try = now + kEmptyEvery;
  const Status started = start(path, folder);
  const std::string problem = started.ok() ? "" : started.error().what;
  if (problem != problem_ && !started.ok()) log_("warning", problem);
  problem_ = problem;
  return started.ok();
}

Status AsideFolders::start(const std::string& path, Folder& folder) {
  if (host_.live() && systemd_runs()) {
    const Status started = start_unit(emptying_unit(program_, path));
    // "Unit … was already loaded": the earlier one is still running. report_lasting() reports it if it lasts.
    if (!started && started.error().what.find("already") == std::string::npos) return started;
    return {};
  }
  SLIPWAY_TRY(pid, start_command({program_, path}, {}, kDevNull));
  folder.child = pid;
  return {};
}

void AsideFolders::report_lasting(Clock::time_point now) {
  for (auto& [path, folder] : folders_) {
    if (folder.told || now - folder.since <= kLasting) continue;
    folder.told = true;
    log_("warning", path +
                        " cannot be removed, because pods write to it or use it: it is removed after the pods that "
                        "used MPS before the "
                        "last start of its daemon have ended, or at a reboot");
  }
}

}  // namespace slipway::deviceplugin
