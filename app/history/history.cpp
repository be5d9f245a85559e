// SPDX-License-Identifier: Apache-2.0
#include "app/history/history.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"

namespace fs = std::filesystem;

namespace slipway::app {
namespace {

constexpr std::size_t kLongestFile = std::size_t{256} << 20U;

/// Writes the whole line or, as far as possible, nothing.
Status write_line(int file, const std::string& path, const std::string& line) {
  const off_t before = ::lseek(file, 0, SEEK_END);
  Status written = base::write_all(file, line, path);
  if (!written && before >= 0) (void)!::ftruncate(file, before);
  return written;
}

Result<base::LockFile> lock_file(const std::string& folder, std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kBetween{10};
  std::error_code failed;
  const std::string path = fs::canonical(folder, failed).string();
  if (failed) return system_error("find", folder, failed.value());
  if (!fs::is_directory(path, failed)) return system_error("open", folder, ENOTDIR);
  SLIPWAY_TRY(root, RootDir::open("/"));
  const auto end = std::chrono::steady_clock::now() + wait;
  for (;;) {
    auto lock = base::LockFile::take(root, path, "history.lock");
    if (lock || lock.error().code != ErrorCode::locked || std::chrono::steady_clock::now() >= end) return lock;
    std::this_thread::sleep_for(kBetween);
  }
}

/// Returns 0 when the file does not exist.
ino_t inode_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
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
  // The lock is a file that only this user can open: any user who may open a folder can lock it, and could delay an
  // apply.
  const auto lock = lock_file(folder_, limits_.wait);
  if (!lock) return lock.error();
  SLIPWAY_CHECK(make_room());
  const Fd newest(
      ::open(file(0).c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0640));
  if (!newest) return system_error("open", file(0), errno);
  return write_line(newest.get(), file(0), (ends_a_line(newest.get()) ? "" : "\n") + canonical(event) + "\n");
}

// Readers take no lock, since only writers can. Files are renamed oldest first, so if any was renamed meanwhile, the
// newest was too, and all are read again.
Result<std::vector<Json>> History::read() const {
  constexpr int kTries = 10;
  for (int tries = 1;; ++tries) {
    const ino_t before = inode_of(file(0));
    auto events = read_once();
    if (!events || tries == kTries || inode_of(file(0)) == before) return events;
  }
}

Result<std::vector<Json>> History::read_once() const {
  const Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder && errno == ENOENT) return std::vector<Json>{};
  if (!folder) return system_error("read", folder_, errno);
  std::vector<Json> events;
  for (int age = limits_.files - 1; age >= 0; --age) {
    const auto text = read_regular(file(age), kLongestFile, O_NOFOLLOW);
    if (!text && text.error().code == ErrorCode::not_found) continue;
    if (!text) return text.error();
    for (const std::string_view line : lines_of<std::string_view>(*text))
      if (Json event = parse_foreign(line); event.is_object()) events.push_back(std::move(event));
  }
  return events;
}

}  // namespace slipway::app
