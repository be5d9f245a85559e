// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/jobs.hpp - the jobs of a batch system on each GPU, from a folder that its prologue writes: a file
// for each GPU, by its index ("0"), or for each GPU instance ("0.3"), with the id of a job on each line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::dcgm {

/// Job ids by the file's name: "0", "0.3".
using Jobs = std::map<std::string, std::vector<std::string>, std::less<>>;

inline constexpr std::size_t kMostJobFiles = 1024;
inline constexpr std::size_t kMostJobFileBytes = 64 << 10;
inline constexpr std::size_t kMostJobs = 64;     ///< ids of one file; further ones are ignored
inline constexpr std::size_t kLongestJob = 256;  ///< bytes of an id; longer ones are ignored

/// Reads the ids of all jobs. Ignores files with names of another form and everything that is not a regular file; a
/// file that cannot be read only loses its own jobs. Unprintable bytes of an id are dropped. Errors: the folder cannot
/// be read, or holds more than kMostJobFiles names.
Result<Jobs> read_jobs(const RootDir& root, const std::string& folder);

/// Returns the ids in a file's text, without empty lines.
std::vector<std::string> jobs_in(std::string_view text);

}  // namespace slipway::dcgm
