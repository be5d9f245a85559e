// SPDX-License-Identifier: Apache-2.0
#include "validator/container/check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "validator/container/engine.hpp"
#include "validator/container/removal.hpp"

namespace slipway::validator {
namespace {

using std::chrono::seconds;

constexpr seconds kVerify{120};   // kVerifyLimit of core/engine/plugin_calls.hpp
constexpr seconds kLateEnds{15};  // for the last program of each part
constexpr seconds kAllElse{3};    // for the checks after this one, and the answer
constexpr seconds kLeastAsking{5};
constexpr seconds kAbandoned{8};  // of the time for asking
constexpr const char* kKind = "nvidia.com/gpu";

/// Returns the last non-empty line, reduced to printable characters. Docker's client ends its output with a hint at its
/// help.
std::string last_line(const ProcessOutput& done) {
  constexpr std::size_t kLongest = 300;
  std::string last;
  const std::string all = done.errors + "\n" + done.output;
  for (const std::string_view line : lines_of<std::string_view>(all))
    if (!trimmed(line).empty() && line.find("docker run --help") == std::string_view::npos) last = trimmed(line);
  if (last.size() > kLongest) {  // behind a word, if there is one
    const std::size_t end = last.rfind(' ', kLongest);
    last = last.substr(0, end == std::string::npos ? kLongest : end) + " ...";
  }
  for (char& letter : last)
    if (letter < ' ' || letter > '~') letter = '?';
  return last;
}

/// Runs the commands before the start. @return  the error; empty: none
std::string prepare(const Runner& runner, const Engine& engine) {
  for (const Words& words : engine.before) {
    const auto done = runner.run(words, runner.left());
    if (done && done->exit_status == 0) continue;
    return fmt::format("`{}`: {}", joined(words, " "), done ? last_line(*done) : done.error().what);
  }
  return {};
}

/// Returns the device of all GPUs, else the first one.
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

bool ended_well(const Result<ProcessOutput>& done) { return done && done->exit_status == 0; }

Finding judge(const Engine& engine, const Result<ProcessOutput>& done) {
  if (!done)
    return fails(kContainerCheck,
                 fmt::format("{} did not start a container with {}: {}", engine.name, engine.given, done.error().what),
                 engine.unit.empty() ? "try it by hand, with an image of yours: " + engine.by_hand
                                     : "look at the engine's log: `journalctl -u " + engine.unit + "`");
  if (ended_well(done))
    return passes(kContainerCheck,
                  fmt::format("{} started a container with {}: {}", engine.name, engine.given, last_line(*done)));
  return fails(kContainerCheck,
               fmt::format("a container that {} started with {} ended with {}: {}", engine.name, engine.given,
                           done->exit_status, last_line(*done)),
               "run `slipway doctor cdi runtime`; to try the same by hand, with an image of yours: " + engine.by_hand);
}

/// Remains that cannot be removed do not affect the result for the GPUs.
Finding try_engine(const Runner& asking, const Engine& engine, const Scratch& scratch, const CheckTerms& terms) {
  const Host& host = asking.host();
  const std::string problem = prepare(asking, engine);
  if (!problem.empty()) {
    remove_check({host, terms.removal}, scratch, engine.removals, false);
    return not_tried(kContainerCheck, "no container was started: " + problem);
  }
  const auto done = host.run(engine.start, terms.start);
  remove_check({host, terms.removal}, scratch, engine.removals, !ended_well(done));
  return judge(engine, done);
}

}  // namespace

std::optional<CheckTerms> terms_after(Runner::Span gone) {
  CheckTerms terms;
  terms.asking =
      std::min<Runner::Span>(terms.asking, kVerify - kLateEnds - kAllElse - terms.start - terms.removal - gone);
  if (terms.asking < kLeastAsking) return std::nullopt;
  return terms;
}

Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe,
                        const CheckTerms& terms) {
  if (!host.live()) return not_tried(kContainerCheck, "this root is not running, so no container can be started");
  const Runner asking(host, terms.asking);
  remove_abandoned(asking.within(kAbandoned));
  const Offer offer = choose_engine(asking, {device_of(specs), terms.number});
  if (!offer.engine)
    return not_tried(kContainerCheck,
                     "no container was started: " +
                         (offer.why_not.empty() ? "podman, Docker and containerd are not installed" : offer.why_not));
  const auto scratch = Scratch::make(asking, offer.engine->place);
  if (!scratch) return not_tried(kContainerCheck, "no container was started: " + scratch.error().what);
  if (const Status filled = scratch->fill(host, probe); !filled) {
    scratch->remove({host, terms.removal});
    return not_tried(kContainerCheck, filled.error().what);
  }
  Finding finding = try_engine(asking, *offer.engine, *scratch, terms);
  if (!offer.why_not.empty()) finding.text += "; passed over before: " + offer.why_not;
  return finding;
}

}  // namespace slipway::validator
