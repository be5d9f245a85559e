// SPDX-License-Identifier: Apache-2.0
#include "sim/view/tree.hpp"

#include <cerrno>
#include <fstream>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace slipway::sim {

namespace fs = std::filesystem;

void TreeWriter::directory(const fs::path& path) {
  std::error_code code;
  fs::create_directories(folder_ / path, code);
  if (code) fail("make the folder", path, code.value());
}

void TreeWriter::file(const fs::path& path, const std::string& content) {
  directory(path.parent_path());
  std::ofstream out(folder_ / path, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  if (!out) fail("write", path, errno);
}

void TreeWriter::link(const fs::path& path, const fs::path& target) {
  directory(path.parent_path());
  std::error_code code;
  fs::remove(folder_ / path, code);
  fs::create_symlink(target, folder_ / path, code);
  if (code) fail("make the link", path, code.value());
}

void TreeWriter::device(const fs::path& path, unsigned major, unsigned minor) {
  constexpr mode_t kMode = 0666;
  directory(path.parent_path());
  const fs::path place = folder_ / path;
  std::error_code ignored;
  fs::remove(place, ignored);
  if (mknod(place.c_str(), S_IFCHR | kMode, makedev(major, minor)) != 0) return file(path, "");
  if (chmod(place.c_str(), kMode) != 0) fail("set the mode of", path, errno);
}

void TreeWriter::fail(std::string_view doing, const fs::path& path, int number) {
  if (!error_) error_ = system_error(doing, (folder_ / path).string(), number);
}

}  // namespace slipway::sim
