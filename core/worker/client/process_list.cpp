// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/process_list.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

/// Empty for a process that has ended meanwhile.
std::string content(const fs::path& path) {
  constexpr std::size_t kLongest = 1U << 20U;
  return read_regular(path.string(), kLongest).value_or("");
}

std::vector<pid_t> children_by_search() {
  std::vector<pid_t> all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (state_of(name).parent == static_cast<unsigned>(getpid())) all.push_back(std::stoi(name));
  }
  return all;
}

}  // namespace

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> all;
  std::error_code error;
  // Exists only with CONFIG_PROC_CHILDREN; else every process has to be checked.
  if (!fs::exists("/proc/thread-self/children", error)) return children_by_search();
  for (const fs::directory_entry& thread : fs::directory_iterator("/proc/self/task", error)) {
    std::istringstream list(content(thread.path() / "children"));
    std::copy(std::istream_iterator<pid_t>(list), {}, std::back_inserter(all));
  }
  return all;
}

ProcessStat state_of(const std::string& process) {
  return parse_process_stat(content("/proc/" + process + "/stat")).value_or(ProcessStat());
}

std::string environment_of(pid_t process, const std::string& variable) {
  const std::string all = '\0' + content("/proc/" + std::to_string(process) + "/environ");
  const std::string name = '\0' + variable + '=';
  const std::size_t found = all.find(name);
  if (found == std::string::npos) return {};
  const std::size_t begin = found + name.size();
  return all.substr(begin, all.find('\0', begin) - begin);
}

int oom_score_of(const std::string& process) {
  int score = 0;
  std::istringstream(content("/proc/" + process + "/oom_score_adj")) >> score;
  return score;
}

std::string cgroup2_path(const std::string& process) {
  for (const std::string& line : lines_of(content("/proc/" + process + "/cgroup")))
    if (line.starts_with("0::")) return line.substr(3);
  return {};
}

}  // namespace slipway::core
