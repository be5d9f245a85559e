// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/jobs.hpp - which jobs of a batch system run on which GPUs, out of a folder that its prologue
// writes: a file for each GPU, by its index ("0"), or for each GPU instance ("0.3"), with the id of a job on each line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::dcgm {

/// By the file's name: "0", "0.3".
using Jobs = std::map<std::string, std::vector<std::string>, std::less<>>;

inline constexpr std::size_t kMostJobFiles = 1024;
inline constexpr std::size_t kMostJobFileBytes = 64 << 10;
inline constexpr std::size_t kMostJobs = 64;     ///< of one file; further ones are left out
inline constexpr std::size_t kLongestJob = 256;  ///< bytes of an id; longer ones are left out

/// Names of another form, folders, links and whatever else is not a regular file do not count, and a file that cannot
/// be read takes only its own jobs away. Bytes of an id that cannot be printed are left out. Errors: the folder cannot
/// be read, or holds more than kMostJobFiles names.
Result<Jobs> read_jobs(const RootDir& root, const std::string& folder);

/// The ids in a file's text; empty lines are none.
std::vector<std::string> jobs_in(std::string_view text);

}  // namespace slipway::dcgm
