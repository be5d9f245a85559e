// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kStartLimit{60};
constexpr std::chrono::seconds kShortLimit{10};
constexpr const char* kPodman = "/usr/bin/podman";
constexpr const char* kCtr = "/usr/bin/ctr";
constexpr const char* kSocket = "/run/containerd/containerd.sock";
constexpr const char* kNamespace = "slipway";  // of containerd's
constexpr const char* kKind = "nvidia.com/gpu";
struct Version {
  unsigned major = 0;
  unsigned minor = 0;
};
// The first that know CDI, containerd's client among them.
constexpr Version kFirstContainerd{1, 7};
constexpr Version kFirstPodman{4, 1};

/// A folder of this process for the container's root: not in /run, from where many machines let nothing start.
class Scratch {
 public:
  explicit Scratch(const Host& host)
      : host_(host), path_("/var/lib/slipway/container-check-" + std::to_string(::getpid())) {}
  /// Not past other file systems: nothing that is mounted there by mistake is to be emptied.
  ~Scratch() { (void)host_.run({"rm", "-rf", "--one-file-system", path_}, kShortLimit); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }

  Status fill(const std::string& probe) {
    namespace fs = std::filesystem;
    const fs::path folder = (host_.root_folder() == "/" ? "" : host_.root_folder()) + path_;
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

using Words = std::vector<std::string>;

/// What starts the container: the engine's name, and its words up to the folder.
struct Engine {
  std::string name;
  Words words;
  Words behind;                   ///< the folder, and before the program
  std::vector<Words> when_stuck;  ///< remove the container when its start did not end well
  std::vector<Words> afterwards;
};

/// "ctr github.com/containerd/containerd 1.7.24~ds1", "podman version 4.3.1"
bool is_at_least(const std::string& version, Version least) {
  const auto at = version.rfind(' ');
  const auto numbers = split(version.substr(at == std::string::npos ? 0 : at + 1), '.');
  if (numbers.size() < 2) return false;
  const auto number = [](const std::string& text) -> unsigned {
    const std::string digits = text.substr(text.find_first_of("0123456789") == 0 ? 0 : text.size());
    return static_cast<unsigned>(std::strtoul(digits.c_str(), nullptr, 10));
  };
  const unsigned major = number(numbers[0].starts_with('v') ? numbers[0].substr(1) : numbers[0]);
  return major > least.major || (major == least.major && number(numbers[1]) >= least.minor);
}

bool knows_cdi(const Host& host, const char* program, Version least) {
  const auto version = host.run({program, "--version"}, kShortLimit);
  return version && version->exit_status == 0 && is_at_least(std::string(trimmed(version->output)), least);
}

std::optional<Engine> engine_of(const Host& host) {
  const std::string name = "slipway-check-" + std::to_string(::getpid());
  if (host.exists(kPodman) && knows_cdi(host, kPodman, kFirstPodman))
    return Engine{"podman",
                  {kPodman, "run", "--rm", "--name", name, "--network=none", "--security-opt", "label=disable"},
                  {},
                  {{kPodman, "rm", "--force", "--time", "0", name}},
                  {}};
  if (!host.exists(kCtr) || !host.exists(kSocket)) return std::nullopt;
  if (!knows_cdi(host, kCtr, kFirstContainerd)) return std::nullopt;
  // Whoever kills ctr leaves the container running. There is no snapshot: its root is the folder.
  return Engine{"containerd",
                {kCtr, "--namespace", kNamespace, "run", "--rm"},
                {name},
                {{kCtr, "--namespace", kNamespace, "tasks", "delete", "--force", name},
                 {kCtr, "--namespace", kNamespace, "containers", "delete", name}},
                {{kCtr, "namespaces", "remove", kNamespace}}};
}

/// Engines that are here and are not asked, as most start nothing without an image; empty: there is none.
std::string other_engines(const Host& host) {
  std::vector<std::string> names;
  if (host.exists("/usr/bin/dockerd")) names.emplace_back("Docker");
  for (const EngineSocket& each : kEngineSockets)
    if (std::string_view(each.path) != kSocket && host.exists(each.path)) names.emplace_back(each.name);
  return joined(names);
}

Finding no_engine(const Host& host) {
  const std::string others = other_engines(host);
  return not_tried(
      kContainerCheck,
      "no container was started: neither podman 4.1 nor a running containerd 1.7 with ctr is there" +
          (others.empty() ? ", nor another engine" : "; none is started with " + others + ", which is there"));
}

/// It waits for what the engine does. What it leaves behind where that is not removed is no matter of the GPUs.
Result<ProcessOutput> start(const Host& host, const Engine& engine, const std::vector<std::string>& words) {
  auto done = host.run(words, kStartLimit);
  if (!done || done->exit_status != 0)
    for (const Words& removal : engine.when_stuck) (void)host.run(removal, kShortLimit);
  for (const Words& removal : engine.afterwards) (void)host.run(removal, kShortLimit);
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

/// The last line that says something, of printable letters.
std::string last_line(const ProcessOutput& done) {
  std::string last;
  const std::string all = done.errors + "\n" + done.output;
  for (const std::string_view line : lines_of<std::string_view>(all))
    if (!trimmed(line).empty()) last = trimmed(line).substr(0, 300);
  for (char& letter : last)
    if (letter < ' ' || letter > '~') letter = '?';
  return last;
}

}  // namespace

Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe) {
  if (!host.live()) return not_tried(kContainerCheck, "this root is not running, so no container can be started");
  const std::string device = device_of(specs);
  if (device.empty()) return not_tried(kContainerCheck, "no CDI spec has a GPU that a container could be given");
  const auto engine = engine_of(host);
  if (!engine) return no_engine(host);
  Scratch scratch(host);
  if (const Status made = scratch.fill(probe); !made) return not_tried(kContainerCheck, made.error().what);
  std::vector<std::string> words = engine->words;
  words.insert(words.end(), {"--device", device, "--rootfs", scratch.path()});
  words.insert(words.end(), engine->behind.begin(), engine->behind.end());
  words.emplace_back("/probe");
  const auto done = start(host, *engine, words);
  if (!done)
    return fails(kContainerCheck,
                 fmt::format("{} did not start a container with {}: {}", engine->name, device, done.error().what),
                 "look at the engine's log, such as by `journalctl -u containerd`");
  if (done->exit_status == 0)
    return passes(kContainerCheck,
                  fmt::format("{} started a container with {}: {}", engine->name, device, last_line(*done)));
  return fails(kContainerCheck,
               fmt::format("a container that {} started with {} ended with {}: {}", engine->name, device,
                           done->exit_status, last_line(*done)),
               "run `slipway doctor cdi runtime`; the same by hand, with an image of yours: " +
                   (engine->name == "podman" ? "podman run --rm --device " + device + " IMAGE ls /dev"
                                             : "ctr run --rm --device " + device + " IMAGE NAME ls /dev"));
}

}  // namespace slipway::validator
