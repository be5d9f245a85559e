// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "core/action/store.hpp"
#include "core/cli/command.hpp"
#include "core/engine/root_lock.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kGenerationsKept = 5;

}  // namespace

Result<int> run_gc(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(lock, RootLock::take(session->host_config().root));
  StateDir& state = session->state();
  SLIPWAY_CHECK(state.check_format());
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(numbers, state.generations());
  std::size_t forgotten = 0;
  for (std::size_t i = 0; i + kGenerationsKept < numbers.size(); ++i) {
    if (current && numbers[i] == current->number) continue;
    SLIPWAY_CHECK(state.forget_generation(numbers[i]));
    ++forgotten;
  }
  SLIPWAY_TRY(owned, state.ownerships());
  for (const auto& [name, ownership] : owned)
    for (const Owned& item : ownership.items) {
      if (item.action.value("kind", "") != "unpack") continue;
      SLIPWAY_CHECK(drop_unused_layers(session->root(), item.action.value("target", "")));
    }
  SLIPWAY_CHECK(state.tidy());
  SLIPWAY_CHECK(state.leave());
  print("Forgot " + std::to_string(forgotten) + " generations; layers that nobody uses are gone.\n");
  (void)lock;
  return kExitDone;
}

}  // namespace slipway::core
