// SPDX-License-Identifier: Apache-2.0
#include "cli/history/history.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>

namespace fs = std::filesystem;

namespace slipway::core {
namespace {

constexpr std::size_t kLongestFile = std::size_t{256} << 20U;

/// All of the line or, as far as that can be had, none of it.
Status write_line(int file, const std::string& path, const std::string& line) {
  const off_t before = ::lseek(file, 0, SEEK_END);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t put = ::write(file, line.data() + done, line.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int why = errno;
      if (before >= 0) (void)!::ftruncate(file, before);
      return system_error("write", path, why);
    }
    done += static_cast<std::size_t>(put);
  }
  return {};
}

bool ends_a_line(int file) {
  char last = '\n';
  const off_t end = ::lseek(file, 0, SEEK_END);
  return end <= 0 || ::pread(file, &last, 1, end - 1) != 1 || last == '\n';
}

}  // namespace

std::string History::file(int age) const {
  return folder_ + "/history.jsonl" + (age == 0 ? "" : "." + std::to_string(age));
}

Status History::make_room() const {
  struct stat info {};
  if (::lstat(file(0).c_str(), &info) != 0 || static_cast<std::size_t>(info.st_size) < limits_.file_bytes) return {};
  for (int age = limits_.files - 1; age > 0; --age)
    if (::rename(file(age - 1).c_str(), file(age).c_str()) != 0 && errno != ENOENT)
      return system_error("rename", file(age - 1), errno);
  return {};
}

Status History::append(const Json& event) const {
  std::error_code failed;
  fs::create_directories(fs::path(folder_).parent_path(), failed);  // containers may have no /var/log
  if (failed) return system_error("make the folder above", folder_, failed.value());
  if (::mkdir(folder_.c_str(), 0750) != 0 && errno != EEXIST) return system_error("make", folder_, errno);
  // The lock is on the folder, as the files change their names.
  const Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return system_error("open", folder_, errno);
  if (::flock(folder.get(), LOCK_EX) != 0) return system_error("lock", folder_, errno);
  SLIPWAY_CHECK(make_room());
  const Fd newest(::open(file(0).c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!newest) return system_error("open", file(0), errno);
  return write_line(newest.get(), file(0), (ends_a_line(newest.get()) ? "" : "\n") + canonical(event) + "\n");
}

Result<std::vector<Json>> History::read() const {
  const Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder && errno == ENOENT) return std::vector<Json>{};
  if (!folder) return system_error("read", folder_, errno);
  if (::flock(folder.get(), LOCK_SH) != 0) return system_error("lock", folder_, errno);
  std::vector<Json> events;
  for (int age = limits_.files - 1; age >= 0; --age) {
    const auto text = read_regular(file(age), kLongestFile, O_NOFOLLOW);
    if (!text && text.error().code == ErrorCode::not_found) continue;
    if (!text) return text.error();
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
      if (Json event = parse_foreign(line); event.is_object()) events.push_back(std::move(event));
  }
  return events;
}

}  // namespace slipway::core
