// SPDX-License-Identifier: Apache-2.0
#include "plugin_bytes.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slipway::core {

TempFolder::TempFolder() : path_("/tmp/slipway-loader-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp");
  ::chmod(path_.c_str(), 0755);
}

TempFolder::~TempFolder() { std::filesystem::remove_all(path_); }

std::string plugin_bytes(const std::string& name) {
  std::ifstream file(std::string(TEST_PLUGINS) + "/" + name + ".so", std::ios::binary);
  if (!file) throw std::runtime_error("no plugin " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), 0755);
  return path;
}

Fd memory_file(const std::string& bytes) {
  Fd fd(::memfd_create("plugin", MFD_CLOEXEC));
  if (!fd || ::pwrite(fd.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("memfd");
  return fd;
}

std::size_t note_offset(const std::string& bytes) {
  const std::string mark("slipway\0SLPW", 12);
  const std::size_t at = bytes.find(mark);
  if (at == std::string::npos) throw std::runtime_error("no note");
  return at + 8;
}

}  // namespace slipway::core
