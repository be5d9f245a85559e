// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/state.cpp - the state folder of a root that another user filled: records, generations, its format, a lock.
//
// Input: parts between NUL bytes: components/driver.json, generations/1.json, products.json, failing.json,
// generations/current, format, unproven.json.
#include <cstdint>

#include "core/journal/state_dir.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace slipway;
using namespace slipway::core;

constexpr const char* kFiles[] = {"components/driver.json", "generations/1.json",  "products.json",
                                  "failing.json",           "generations/current", "format",
                                  "unproven.json"};

void check_records(const core::StateDir& state) {
  const auto all = state.ownerships();
  fuzz::demand_presentable(all);
  if (!all) return;
  for (const auto& [name, ownership] : *all) {
    const Json value = core::to_json(ownership);
    fuzz::demand(core::to_json(core::ownership_from_json(value)) == value, "a record is read as it is written");
    for (const core::Owned& item : ownership.items) (void)item.key();
  }
}

void check_generations(const core::StateDir& state) {
  fuzz::demand_presentable(state.generations());
  fuzz::demand_presentable(state.current());
  const auto generation = state.generation(1);
  fuzz::demand_presentable(generation);
  if (!generation) return;
  const Json value = core::to_json(*generation);
  fuzz::demand(core::to_json(core::generation_from_json(value)) == value, "a generation is read as it is written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch scratch;
  const fs::path root = scratch.folder() / "root";
  const fs::path folder = root / fs::path(core::kStateDir).relative_path();
  const auto parts = fuzz::parts_of({reinterpret_cast<const char*>(data), size}, std::size(kFiles));
  for (std::size_t i = 0; i < std::size(kFiles); ++i) {
    const fs::path file = folder / kFiles[i];
    fs::create_directories(file.parent_path());
    fs::remove(file);
    if (i < parts.size()) fuzz::write_file(file, parts[i]);
  }
  auto opened = RootDir::open(root.string());
  fuzz::demand(opened.ok(), "the root is there");
  core::RootFs filesystem(std::move(*opened), 0);
  const core::StateDir state(filesystem);
  if (const Status known = state.check_format(); !known) fuzz::demand_presentable(known.error());
  check_records(state);
  check_generations(state);
  fuzz::demand_presentable(state.products());
  fuzz::demand_presentable(state.failing());
  fuzz::demand_presentable(state.unproven());
  return 0;
}
