// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/jobs.hpp"

#include <algorithm>
#include <memory>

#include <dirent.h>
#include <fcntl.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

bool is_number(std::string_view text) {
  constexpr std::size_t kDigits = 4;
  return !text.empty() && text.size() <= kDigits &&
         std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

bool names_a_gpu(std::string_view name) {
  const std::size_t dot = name.find('.');
  return is_number(name.substr(0, dot)) && (dot == std::string_view::npos || is_number(name.substr(dot + 1)));
}

Result<std::vector<std::string>> names_in(const RootDir& root, const std::string& folder) {
  SLIPWAY_TRY(fd, root.open_at(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(fd.get()), ::closedir);
  if (!list) return system_error("read", folder, errno);
  (void)fd.release();  // the list closes it
  std::vector<std::string> names;
  std::size_t seen = 0;
  for (const dirent* entry = ::readdir(list.get()); entry != nullptr; entry = ::readdir(list.get())) {
    if (++seen > kMostJobFiles + 2)
      return Error{
          .code = ErrorCode::invalid,
          .what = "there are more than " + std::to_string(kMostJobFiles) + " names in " + folder,
          .where = folder,
          .next = "keep only one file for each GPU there: the epilogue of each job must remove the job's file"};
    if (names_a_gpu(entry->d_name)) names.emplace_back(entry->d_name);
  }
  return names;
}

}  // namespace

std::vector<std::string> jobs_in(std::string_view text) {
  std::vector<std::string> jobs;
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    std::string job(line);
    std::erase_if(job, [](char letter) { return letter < ' ' || letter > '~'; });
    const bool counts = !job.empty() && job.size() <= kLongestJob && std::ranges::find(jobs, job) == jobs.end();
    if (counts && jobs.size() < kMostJobs) jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<Jobs> read_jobs(const RootDir& root, const std::string& folder) {
  SLIPWAY_TRY(names, names_in(root, folder));
  Jobs jobs;
  for (const std::string& name : names) {
    const auto text = read_regular(root, folder + "/" + name, kMostJobFileBytes, O_NOFOLLOW);
    if (!text) continue;
    if (auto found = jobs_in(*text); !found.empty()) jobs.emplace(name, std::move(found));
  }
  return jobs;
}

}  // namespace slipway::dcgm
