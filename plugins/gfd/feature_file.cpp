// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gfd/service.hpp"

namespace slipway::gfd {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kMode = 0644;

bool holds(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream existing;
  existing << in.rdbuf();
  return in.good() && existing.str() == text;
}

Status write_all(int file, const std::string& text, const std::string& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return system_error("write", path, errno);
    done += static_cast<std::size_t>(wrote);
  }
  if (fchmod(file, kMode) != 0 || fsync(file) != 0) return system_error("write", path, errno);
  return {};
}

void sync_folder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  (void)fsync(file);
  close(file);
}

/// Writes a new file in `folder` and gives it the name `path`. @return EXDEV: they lie on two file systems
Result<int> write_and_rename(const fs::path& folder, const std::string& path, const std::string& text) {
  std::string temporary = (folder / ("." + fs::path(path).filename().string() + ".XXXXXX")).string();
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return system_error("make a file in", folder.string(), errno);
  const Status written = write_all(file, text, temporary);
  close(file);
  const bool renamed = written.ok() && rename(temporary.c_str(), path.c_str()) == 0;
  const int number = errno;
  if (!renamed) unlink(temporary.c_str());
  if (!written) return written.error();
  if (renamed) return 0;
  if (number == EXDEV) return EXDEV;
  return system_error("replace", path, number);
}

}  // namespace

Result<bool> replace_file(const std::string& path, const std::string& text) {
  if (holds(path, text)) return false;
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return system_error("make the folder", folder.string(), code.value());
  // features.d may be a mount of its own in a container: then a hidden file in it must do, which readers pass over.
  auto done = write_and_rename(folder.parent_path(), path, text);
  if (!done || *done == EXDEV) done = write_and_rename(folder, path, text);
  if (!done) return done.error();
  sync_folder(folder);
  return true;
}

}  // namespace slipway::gfd
