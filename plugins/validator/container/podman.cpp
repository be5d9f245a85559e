// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/podman.cpp - podman starts a folder directly, and supports CDI from 4.1 on.
#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

constexpr const char* kPodmanProgram = "/usr/bin/podman";
constexpr EngineVersion kFirstPodmanWithCdi{4, 1};

Removals removals_by_podman(const std::string& program, const Place& place) {
  return {.container = {{program, "rm", "--force", "--time", "0", place.name()}}};
}

}  // namespace

Offer ask_podman(const Runner& runner, const Wanted& wanted) {
  const auto [program, why_not] = find_program(runner.host(), std::span(&kPodmanProgram, 1));
  if (program.empty()) return {{}, why_not};
  const ProgramVersion version = version_of_program(runner, {program});
  if (!version.why_not.empty()) return {{}, version.why_not};
  if (version.numbers < kFirstPodmanWithCdi)
    return {{}, "podman " + version.text + " does not support CDI, as 4.1 and newer do"};
  Engine engine{.name = "podman", .given = wanted.device, .place = {kPodman, wanted.number}};
  engine.start = {
      program,         "run",      "--rm",        "--name",   engine.place.name(), "--network=none", "--security-opt",
      "label=disable", "--device", wanted.device, "--rootfs", engine.place.root(), "/probe"};
  engine.removals = removals_by_podman(program, engine.place);
  engine.by_hand = "podman run --rm --device " + wanted.device + " IMAGE ls /dev";
  return {std::move(engine), {}};
}

std::optional<Removals> removals_of_podman(const Host& host, const Place& place) {
  const std::string program = find_program(host, std::span(&kPodmanProgram, 1)).path;
  if (program.empty()) return std::nullopt;
  return removals_by_podman(program, place);
}

}  // namespace slipway::validator
