// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/journal.cpp - the SQLite file of an interrupted apply in a root that another user filled, as the next
// apply reads it.
#include "core/journal/journal.hpp"

#include <cstdint>

#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;
using namespace slipway::core;

void check_steps(core::Journal& journal) {
  const auto steps = journal.open_steps();
  fuzz::demand_presentable(steps);
  if (steps)
    for (const core::Step& step : *steps)
      fuzz::demand(!step.action.json().is_discarded() && !step.image.is_discarded(), "a step that is read is JSON");
  fuzz::demand_presentable(journal.unwritten());
  fuzz::demand_presentable(journal.pending());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Scratch scratch;
  const std::string path = (scratch.folder() / "journal.sqlite").string();
  fuzz::write_file(path, {reinterpret_cast<const char*>(data), size});
  {
    const auto journal = core::open_journal(path);
    fuzz::demand_presentable(journal);
    if (journal) {
      check_steps(**journal);
      std::vector<core::Step> steps{
          {0, "driver", Action(Json{{"kind", "file"}}), Json{{"type", "absent"}}, false, false}};
      if (const Status written = (*journal)->intend(steps, {"ldconfig"}); !written)
        fuzz::demand_presentable(written.error());
    }
  }
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) ::unlink((path + ending).c_str());
  fuzz::demand(std::filesystem::is_empty(scratch.folder()), "nothing appears beside the journal's files");
  return 0;
}
