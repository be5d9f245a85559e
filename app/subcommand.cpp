// SPDX-License-Identifier: Apache-2.0
#include "app/subcommand.hpp"

#include <slipway/process/hear.hpp>

#include "core/worker/client/spawn.hpp"

namespace slipway::core {

namespace {

constexpr std::size_t kMostOutputBytes = std::size_t{16} << 20U;

}  // namespace

CommandOutput run_own_program(const std::string& name, std::vector<std::string> words,
                              std::optional<std::chrono::seconds> limit) {
  const auto program = own_program(name);
  if (!program) return {"", "", program.error().what};
  words.insert(words.begin(), *program);
  auto heard = hear_program({.argv = std::move(words), .environment = own_environment()},
                            {.limit = limit.value_or(kForever), .most_bytes = kMostOutputBytes});
  if (!heard) return {"", "", heard.error().what};
  return {std::move(heard->output), std::move(heard->errors),
          heard->end == Heard::End::by_itself ? ending_of(heard->status)
                                              : "stopped after " + std::to_string(limit->count()) + " s"};
}

}  // namespace slipway::core
