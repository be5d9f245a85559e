// SPDX-License-Identifier: Apache-2.0
#include "validator/container/check.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kStartLimit{60};
constexpr std::chrono::seconds kRemovalLimit{10};
constexpr const char* kKind = "nvidia.com/gpu";

/// A folder with the container's root.
class Scratch {
 public:
  Scratch(const Host& host, std::string path) : host_(host), path_(std::move(path)) {}
  /// Not past other file systems: nothing that is mounted there by mistake is to be emptied.
  ~Scratch() { (void)host_.run({"rm", "-rf", "--one-file-system", path_}, kRemovalLimit); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Status fill(const std::string& root, const std::string& probe) {
    namespace fs = std::filesystem;
    const fs::path folder = (host_.root_folder() == "/" ? "" : host_.root_folder()) + root;
    std::error_code problem;
    fs::create_directories(folder, problem);
    for (const char* name : {"dev", "etc", "proc", "sys", "tmp", "usr"})
      if (!problem) fs::create_directories(folder / name, problem);
    if (!problem) fs::copy_file(probe, folder / "probe", fs::copy_options::overwrite_existing, problem);
    return problem ? Status(system_error("make", path_, problem.value())) : Status();
  }

 private:
  const Host& host_;
  std::string path_;
};

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
  if (!done || done->exit_status != 0)
    for (const Words& removal : engine.when_stuck) (void)host.run(removal, kRemovalLimit);
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
  const std::string process = std::to_string(::getpid());
  // Not in /run, from where many machines let nothing start.
  const std::string folder = "/var/lib/slipway/container-check-" + process;
  const Wanted wanted{.device = device_of(specs),
                      .folder = folder + "/root",
                      .archive = folder + "/root.tar",
                      .name = "slipway-check-" + process};
  const Offer offer = choose_engine(host, wanted);
  if (!offer.engine)
    return not_tried(kContainerCheck,
                     "no container was started: " +
                         (offer.why_not.empty() ? "podman, Docker and containerd are not here" : offer.why_not));
  Scratch scratch(host, folder);
  if (const Status made = scratch.fill(wanted.folder, probe); !made)
    return not_tried(kContainerCheck, made.error().what);
  const Engine& engine = *offer.engine;
  const std::string problem = prepare(host, engine);
  const Finding finding = problem.empty() ? judge(engine, start(host, engine))
                                          : not_tried(kContainerCheck, "no container was started: " + problem);
  for (const Words& removal : engine.afterwards) (void)host.run(removal, kRemovalLimit);
  return finding;
}

}  // namespace slipway::validator
