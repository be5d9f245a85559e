// SPDX-License-Identifier: Apache-2.0
#include "validator/container/scratch.hpp"

#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>

#include <slipway/root_dir.hpp>

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kRemoveFolderLimit{10};
constexpr const char* kState = "/var/lib/slipway";
constexpr std::string_view kPrefix = "container-check-";

/// The folder locked; nothing: it is not there, or in use.
Fd lock_folder(const Host& host, const std::string& folder) {
  const auto root = RootDir::open(host.root_folder());
  auto opened = root ? root->open_at(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) : Result<Fd>(root.error());
  if (!opened || ::flock(opened->get(), LOCK_EX | LOCK_NB) != 0) return {};
  return *std::move(opened);
}

}  // namespace

std::string scratch_folder(const std::string& number) {
  return std::string(kState) + "/" + std::string(kPrefix) + number;
}

Scratch::~Scratch() { (void)host_.run({"rm", "-rf", "--one-file-system", folder_}, kRemoveFolderLimit); }

Status Scratch::fill(const std::string& root, const std::string& probe) {
  namespace fs = std::filesystem;
  const std::string above = host_.root_folder() == "/" ? "" : host_.root_folder();
  std::error_code problem;
  fs::create_directories(above + folder_, problem);
  lock_ = lock_folder(host_, folder_);
  for (const char* name : {"dev", "etc", "proc", "sys", "tmp", "usr"})
    if (!problem) fs::create_directories(above + root + "/" + name, problem);
  if (!problem) fs::copy_file(probe, above + root + "/probe", fs::copy_options::overwrite_existing, problem);
  return problem ? Status(system_error("make", folder_, problem.value())) : Status();
}

std::vector<std::string> abandoned_checks(const Host& host) {
  std::vector<std::string> numbers;
  for (const std::string& name : host.list(kState).value_or(std::vector<std::string>())) {
    const std::string number = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : "";
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (lock_folder(host, scratch_folder(number)).get() >= 0) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace slipway::validator
