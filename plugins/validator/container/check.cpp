// SPDX-License-Identifier: Apache-2.0
#include "validator/container/check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "validator/container/engine.hpp"
#include "validator/container/scratch.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kStartLimit{60};
constexpr std::chrono::seconds kRemovalLimit{10};
constexpr const char* kKind = "nvidia.com/gpu";

Wanted wanted_of(const std::string& number, const std::string& device) {
  const std::string folder = scratch_folder(number);
  return {
      .device = device, .folder = folder + "/root", .archive = folder + "/root.tar", .name = "slipway-check-" + number};
}

void run_all(const Host& host, const std::vector<Words>& removals) {
  for (const Words& removal : removals) (void)host.run(removal, kRemovalLimit);
}

/// Of a check that was killed; its engine is the one that would be asked now.
void remove_abandoned(const Host& host, const std::string& device) {
  for (const std::string& number : abandoned_checks(host)) {
    const Scratch folder(host, scratch_folder(number));
    const Offer offer = choose_engine(host, wanted_of(number, device));
    if (!offer.engine) continue;
    run_all(host, offer.engine->when_stuck);
    run_all(host, offer.engine->afterwards);
  }
}

/// The last line that says something, of printable letters. Docker's client ends what it says with a hint at its help.
std::string last_line(const ProcessOutput& done) {
  std::string last;
  const std::string all = done.errors + "\n" + done.output;
  for (const std::string_view line : lines_of<std::string_view>(all))
    if (!trimmed(line).empty() && line.find("docker run --help") == std::string_view::npos)
      last = trimmed(line).substr(0, 300);
  for (char& letter : last)
    if (letter < ' ' || letter > '~') letter = '?';
  return last;
}

/// Runs what comes before the start. @return  what went wrong; empty: nothing
std::string prepare(const Host& host, const Engine& engine) {
  for (const Words& words : engine.before) {
    const auto done = host.run(words, kStartLimit);
    if (done && done->exit_status == 0) continue;
    return fmt::format("`{}`: {}", joined(words, " "), done ? last_line(*done) : done.error().what);
  }
  return {};
}

/// Waits for what the engine does. What it leaves behind where that is not removed is no matter of the GPUs.
Result<ProcessOutput> start(const Host& host, const Engine& engine) {
  auto done = host.run(engine.start, kStartLimit);
  if (!done || done->exit_status != 0) run_all(host, engine.when_stuck);
  return done;
}

/// The device of all GPUs, else the first one.
std::string device_of(const std::vector<CdiSpec>& specs) {
  std::string device;
  for (const CdiSpec& spec : specs) {
    if (spec.kind != kKind || spec.devices.empty() || !spec.problem.empty()) continue;
    const bool has_all = std::ranges::find(spec.devices, "all") != spec.devices.end();
    if (has_all) return std::string(kKind) + "=all";
    if (device.empty()) device = std::string(kKind) + "=" + spec.devices.front();
  }
  return device;
}

Finding judge(const Engine& engine, const Result<ProcessOutput>& done) {
  if (!done)
    return fails(kContainerCheck,
                 fmt::format("{} did not start a container with {}: {}", engine.name, engine.given, done.error().what),
                 engine.unit.empty() ? "by hand, with an image of yours: " + engine.by_hand
                                     : "look at the engine's log: `journalctl -u " + engine.unit + "`");
  if (done->exit_status == 0)
    return passes(kContainerCheck,
                  fmt::format("{} started a container with {}: {}", engine.name, engine.given, last_line(*done)));
  return fails(kContainerCheck,
               fmt::format("a container that {} started with {} ended with {}: {}", engine.name, engine.given,
                           done->exit_status, last_line(*done)),
               "run `slipway doctor cdi runtime`; the same by hand, with an image of yours: " + engine.by_hand);
}

}  // namespace

Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe) {
  if (!host.live()) return not_tried(kContainerCheck, "this root is not running, so no container can be started");
  const std::string number = std::to_string(::getpid());
  const Wanted wanted = wanted_of(number, device_of(specs));
  remove_abandoned(host, wanted.device);
  const Offer offer = choose_engine(host, wanted);
  if (!offer.engine)
    return not_tried(kContainerCheck,
                     "no container was started: " +
                         (offer.why_not.empty() ? "podman, Docker and containerd are not here" : offer.why_not));
  Scratch scratch(host, scratch_folder(number));
  if (const Status made = scratch.fill(wanted.folder, probe); !made)
    return not_tried(kContainerCheck, made.error().what);
  const Engine& engine = *offer.engine;
  const std::string problem = prepare(host, engine);
  const Finding finding = problem.empty() ? judge(engine, start(host, engine))
                                          : not_tried(kContainerCheck, "no container was started: " + problem);
  run_all(host, engine.afterwards);
  return finding;
}

}  // namespace slipway::validator
