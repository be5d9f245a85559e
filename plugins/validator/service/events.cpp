// SPDX-License-Identifier: Apache-2.0
#include "validator/service/events.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "nvidia/health/rules.hpp"

namespace slipway::validator {
namespace {

constexpr std::size_t kManyOfAFolder = 4;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// In other folders programs write to files all the time.
bool is_system_folder(const std::string& folder) { return folder.starts_with("/usr/") || folder.starts_with("/lib"); }

}  // namespace

std::vector<std::string> by_folder(const std::vector<std::string>& paths) {
  std::map<std::string, std::set<std::string>> of_folder;
  for (const std::string& path : paths) of_folder[folder_of(path)].insert(path);
  std::vector<std::string> all;
  std::set<std::string> taken;
  for (const std::string& path : paths) {
    const std::string folder = folder_of(path);
    const bool whole = is_system_folder(folder) && of_folder[folder].size() >= kManyOfAFolder;
    const std::string& watched = whole ? folder : path;
    if (taken.insert(watched).second) all.push_back(watched);
  }
  return all;
}

Events::Events(const RootDir& root, bool has_kernel_log) : log_(root, has_kernel_log) {
  auto opened = FileWatch::open(root);
  if (opened)
    files_ = std::move(*opened);
  else
    watch_problem_ = opened.error().what;
  (void)log_.read();  // skips the lines that are there already
}

bool Events::watch(std::vector<std::string> paths) {
  if (!files_) return false;
  paths.insert(paths.begin(), "/dev/kmsg");  // it cannot be polled if it is a plain file
  paths = by_folder(paths);
  if (paths.size() > FileWatch::kMostPaths) paths.resize(FileWatch::kMostPaths);
  if (paths == paths_) return false;
  const Status watched = files_->watch(paths);
  watch_problem_ = watched ? files_->problem() : watched.error().what;
  if (watched) paths_ = std::move(paths);
  return watched.ok();
}

News Events::take() {
  News news;
  news.files = files_ && files_->take();
  const auto& rules = nvidia::health::default_rules();
  for (const nvidia::Xid& xid : log_.read())  // XIDs of crashing programs do not concern the driver
    news.driver_changed = news.driver_changed || rules.counts(xid.number);
  news.driver_logged = log_.take_driver_lines();
  return news;
}

std::vector<int> Events::descriptors() const {
  std::vector<int> all;
  if (files_) all.push_back(files_->fd());
  if (log_.fd() >= 0) all.push_back(log_.fd());
  return all;
}

std::vector<std::string> Events::problems() const {
  std::vector<std::string> all;
  if (!watch_problem_.empty()) all.push_back("changed files are noticed late: " + watch_problem_);
  if (!log_.problem().empty()) all.push_back("a lost GPU is noticed late, after up to a minute: " + log_.problem());
  return all;
}

}  // namespace slipway::validator
