// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/deb.cpp - a Debian package that a driver package is made of: read, and unpacked below a scratch folder.
#include "driver/build/deb.hpp"

#include <cstdint>

#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;

void check_info(const std::string& file) {
  const auto info = driver::read_deb_info(file);
  fuzz::demand_presentable(info);
  if (!info) return;
  fuzz::demand(!info->package.empty() && !info->version.empty(), "a package has a name and a version");
  for (const auto& [name, version] : info->exactly)
    fuzz::demand(!name.empty() && !version.empty(), "an exact dependency has a name and a version");
  fuzz::demand(info->upstream_version().size() <= info->version.size(), "an upstream version is a part of it");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fs = std::filesystem;
  static const fuzz::Scratch scratch;
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  check_info(file.path());
  const fs::path into = scratch.folder() / "package";
  std::vector<std::string> left_out;
  const auto unpacked = driver::unpack_deb(
      file.path(), into.string(),
      [](const std::string& path) { return path.starts_with("usr/share/doc/") ? std::string() : path; }, &left_out);
  if (!unpacked) fuzz::demand_presentable(unpacked.error());
  for (const std::string& path : left_out) fuzz::demand(path.starts_with("usr/share/doc/"), "only that was left out");
  if (fs::exists(into)) fuzz::demand_plain(into);
  fs::remove_all(into);
  fuzz::demand(fs::is_empty(scratch.folder()), "nothing appears beside the package's folder");
  return 0;
}
