// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/ld_conf.cpp - the configuration of a container's dynamic linker, with what it includes, as the hook reads
// and extends it.
//
// Input: /etc/ld.so.conf, then behind NUL bytes up to seven files of /etc/ld.so.conf.d.
#include "ld_conf.hpp"

#include <algorithm>
#include <cstdint>

#include "tests/fuzz/scratch_tree.hpp"

namespace {

namespace fs = std::filesystem;

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

void fill(const fs::path& root, std::string_view input) {
  fs::remove_all(root);
  fs::create_directories(root / "etc/ld.so.conf.d");
  int number = 0;
  for (const std::string_view part : slipway::fuzz::parts_of(input, 8)) {
    const std::string name = number == 0 ? "etc/ld.so.conf" : "etc/ld.so.conf.d/" + std::to_string(number) + ".conf";
    slipway::fuzz::write_file(root / name, part);
    ++number;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  static const fuzz::Scratch scratch;
  const fs::path path = scratch.folder() / "root";
  fill(path, {reinterpret_cast<const char*>(data), size});
  const auto root = RootDir::open(path.string());
  fuzz::demand(root.ok(), "the root is there");
  const auto before = hook::configured_folders(*root);
  for (const std::string& folder : before) fuzz::demand(folder.starts_with('/'), "a folder is an absolute path");
  const auto configured = hook::configure_linker(*root, {"/opt/of-the-driver"});
  if (!configured) {
    fuzz::demand_presentable(configured.error());
    return 0;
  }
  // The folder is found unless the configuration does not include ld.so.conf.d or exceeds the limits.
  const auto after = hook::configured_folders(*root);
  fuzz::demand(hook::configure_linker(*root, {"/opt/of-the-driver"}).ok(), "it can be told again");
  fuzz::demand(hook::configured_folders(*root) == after || !contains(after, "/opt/of-the-driver"), "twice is as once");
  return 0;
}
