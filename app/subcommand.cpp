// SPDX-License-Identifier: Apache-2.0
#include "app/subcommand.hpp"

#include <slipway/process/child_process.hpp>

#include "core/worker/client/spawn.hpp"

namespace slipway::app {

namespace {

constexpr std::size_t kMostOutputBytes = std::size_t{16} << 20U;

}  // namespace

CommandOutput run_own_program(const std::string& name, std::vector<std::string> words,
                              std::optional<std::chrono::seconds> limit) {
  const auto program = core::own_program(name);
  if (!program) return {"", "", program.error().what};
  words.insert(words.begin(), *program);
  auto result = run_child({.argv = std::move(words), .environment = own_environment()},
                          {.limit = limit.value_or(kForever), .most_bytes = kMostOutputBytes});
  if (!result) return {"", "", result.error().what};
  return {std::move(result->output), std::move(result->errors),
          result->end == ChildResult::End::by_itself ? ending_of(result->status)
                                                     : "stopped after " + std::to_string(limit->count()) + " s"};
}

}  // namespace slipway::app
