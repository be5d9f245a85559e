// SPDX-License-Identifier: Apache-2.0
#include "validator/container/removal.hpp"

#include <algorithm>
#include <cctype>

#include <slipway/text.hpp>

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kRemovalLimit{10};
constexpr std::size_t kMostAbandoned = 4;  // in one verify

/// Recognizes "not found" errors: podman and Docker: "no such container: NAME", "No such image: NAME:latest"; ctr: "…:
/// not found".
bool means_no_container(const ProcessOutput& done) {
  std::string text = done.errors + "\n" + done.output;
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text.find("no such container") != std::string::npos || text.find("no such image") != std::string::npos ||
         trimmed(text).ends_with(": not found");
}

/// Runs all of them, even after an error. @return  true: nothing is left
bool run_removals(const Runner& runner, const std::vector<Words>& removals) {
  bool gone = true;
  for (const Words& removal : removals) {
    const auto done = runner.run(removal, kRemovalLimit);
    gone = done && (done->exit_status == 0 || means_no_container(*done)) && gone;
  }
  return gone;
}

}  // namespace

void remove_check(const Runner& runner, const Scratch& scratch, const Removals& removals, bool with_container) {
  const bool container_gone = !with_container || run_removals(runner, removals.container);
  const bool rest_removed = run_removals(runner, removals.afterwards);
  if (!removals.shared.empty()) (void)runner.run(removals.shared, kRemovalLimit);
  if (container_gone && rest_removed) scratch.remove(runner);
}

void remove_abandoned(const Runner& runner) {
  for (const Scratch& scratch : Scratch::take_abandoned(runner, kMostAbandoned))
    if (const auto removals = removals_of(runner.host(), scratch.place()))
      remove_check(runner, scratch, *removals, true);
}

}  // namespace slipway::validator
