// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/aside_folders.hpp"

#include <cerrno>

#include <unistd.h>

#include "deviceplugin/service/mps/emptying.hpp"
#include "deviceplugin/service/mps/pipe_folder.hpp"
#include "deviceplugin/service/mps/systemd.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kLookAsideEvery{5};
constexpr std::chrono::seconds kEmptyEvery{60};
constexpr std::size_t kStepsAtOnce = 100'000;  // of all folders, where the service itself takes them

/// Beside the service's program, by the name that this was started with: in a portable folder the program that runs is
/// the loader's.
std::string emptying_program() {
  const std::string own = program_invocation_name;
  return own.substr(0, own.rfind('/') + 1) + "deviceplugin-empty";
}

void empty_a_part(const std::vector<std::string>& folders) {
  for (const std::string& path : folders)
    if (const Fd folder = open_folder(path); folder) (void)empty_folder(folder, kStepsAtOnce / folders.size());
}

std::string in_words(const std::vector<std::string>& paths) {
  return paths.front() + (paths.size() == 1 ? "" : " and " + std::to_string(paths.size() - 1) + " more");
}

}  // namespace

std::vector<std::string> resources_below(const Host& host, const std::string& mps_root) {
  std::vector<std::string> resources;
  const auto domains = host.list(mps_root).value_or({});
  for (const std::string& domain : domains) {
    if (domain == "shm") continue;
    const auto names = host.list(mps_root + "/" + domain).value_or({});
    for (const std::string& name : names) resources.push_back(domain + "/" + name);
  }
  return resources;
}

void AsideFolders::tick(const std::string& mps_root) {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLookAsideEvery;
  std::vector<std::string> left = found(mps_root);
  remove_empty(left);
  const bool fresh = tell_fresh(left);
  if (left.empty() || (!fresh && now < next_emptying_)) return;
  next_emptying_ = now + kEmptyEvery;
  if (host_.live() && systemd_runs()) return start_emptying(left);
  empty_a_part(left);
  remove_empty(left);
}

std::vector<std::string> AsideFolders::found(const std::string& mps_root) const {
  const std::string root = host_.root_folder() == "/" ? "" : host_.root_folder();
  std::vector<std::string> folders;
  for (const std::string& resource : resources_below(host_, mps_root)) {
    const std::string folder = mps_root + "/" + resource;
    const auto names = host_.list(folder).value_or({});
    for (const std::string& name : names)
      if (name.starts_with(std::string("pipe") + kAside)) folders.push_back(root + folder + "/" + name);
  }
  return folders;
}

void AsideFolders::remove_empty(std::vector<std::string>& folders) {
  std::vector<std::string> removed;
  std::erase_if(folders, [&](const std::string& path) {
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return false;
    if (told_.erase(path) > 0) removed.push_back(path);
    return true;
  });
  if (!removed.empty()) log_("info", "removed " + in_words(removed) + ", which pods had left");
}

bool AsideFolders::tell_fresh(const std::vector<std::string>& folders) {
  std::vector<std::string> fresh;
  for (const std::string& path : folders)
    if (told_.insert(path).second) fresh.push_back(path);
  if (!fresh.empty())
    log_("warning",
         "pods left what the device plugin cannot remove, so it was moved aside, and is removed from there: " +
             in_words(fresh) + " (look for pods that write to that folder)");
  return !fresh.empty();
}

void AsideFolders::start_emptying(const std::vector<std::string>& folders) {
  const Status started = start_unit(emptying_unit(emptying_program(), folders));
  // That of the last time goes on where a pod goes on filling its folder: "Unit … was already loaded".
  const bool works = started.ok() || started.error().what.find("already") != std::string::npos;
  const std::string problem = works ? "" : started.error().what;
  if (problem != problem_ && !works) log_("warning", problem);
  problem_ = problem;
}

}  // namespace slipway::deviceplugin
