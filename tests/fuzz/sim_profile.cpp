// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/sim_profile.cpp - profiles and models of simulated machines, which users write themselves.
#include <cstdint>

#include "sim/model/model.hpp"
#include "sim/model/profile.hpp"
#include "sim/state/mig_rules.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;

/// For any model, filling a GPU with instances must end.
void fill(const sim::Model& model) {
  sim::Gpu gpu{};
  gpu.model = model;
  for (unsigned i = 0; i < model.mig.profile_count; ++i) {
    fuzz::demand(sim::remaining(gpu, i) <= sim::kMaxInstances, "a GPU has room for a few instances");
    int code = 0;
    sim::create_instance(gpu, i, -1, false, &code);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  const auto profile = sim::read_sim_profile(file.path(), {});
  fuzz::demand_presentable(profile);
  const auto model = sim::read_sim_model(file.path());
  fuzz::demand_presentable(model);
  if (model) fill(*model);
  return 0;
}
