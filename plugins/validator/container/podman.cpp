// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/podman.cpp - podman starts a folder as it is, and knows CDI from 4.1 on.
#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

constexpr const char* kPodman = "/usr/bin/podman";
constexpr EngineVersion kFirstPodmanWithCdi{4, 1};

}  // namespace

Offer ask_podman(const Host& host, const Wanted& wanted) {
  const auto [program, why_not] = find_program(host, std::span(&kPodman, 1));
  if (program.empty()) return {{}, why_not};
  const std::string version = version_of_program(host, {program});
  if (parse_engine_version(version) < kFirstPodmanWithCdi)
    return {{}, "podman " + version + " knows no CDI, as 4.1 and newer do"};
  Engine engine{.name = "podman", .given = wanted.device};
  engine.start = {program,          "run",           "--rm",     "--name",      wanted.name, "--network=none",
                  "--security-opt", "label=disable", "--device", wanted.device, "--rootfs",  wanted.folder,
                  "/probe"};
  engine.when_stuck = {{program, "rm", "--force", "--time", "0", wanted.name}};
  engine.by_hand = "podman run --rm --device " + wanted.device + " IMAGE ls /dev";
  return {std::move(engine), {}};
}

}  // namespace slipway::validator
