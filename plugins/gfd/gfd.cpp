// SPDX-License-Identifier: Apache-2.0
#include "gfd/gfd.hpp"

#include <fmt/format.h>

#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "gfd/labels/labels.hpp"
#include "gfd/probe.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/machine/causes.hpp"

namespace slipway::gfd {
namespace {

/// Returns the file's text without the label that only has the service's start time.
std::string without_timestamp(const std::string& lines) {
  std::string kept;
  for (const std::string_view line : lines_with_ends(lines))
    if (!line.starts_with("nvidia.com/gfd.timestamp=")) kept += line;
  return kept;
}

/// Same as sd_booted(3); without systemd only users start the service.
bool has_systemd(const Host& host) { return host.exists("/run/systemd/system"); }

/// True when the service runs or has crashed: on a normal exit it removes its socket.
bool has_run(const Host& host) { return host.exists(std::string(kControlFolder) + "/gfd.sock"); }

std::string remedy_for(const Host& host) {
  const std::string print = "; `slipway gfd labels` prints the labels that the file should have";
  if (has_systemd(host)) return "look at `systemctl status slipway-gfd.service`" + print;
  return (has_run(host) ? "look at the service's output" : "start the service: `slipway service gfd`") + print;
}

/// Returns the likely cause of the first GPU that the driver should show but that does not answer.
std::string lost_gpu_of(const Snapshot& snapshot, const Host& host) {
  if (snapshot.unreachable.empty()) return {};
  std::vector<std::string> answering;
  for (const Gpu& gpu : snapshot.gpus) answering.push_back(gpu.address);
  return nvidia::silent_gpu_cause(host, answering);
}

}  // namespace

Result<Facts> Gfd::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  Facts facts;
  // Reports a mistake in the config at plan time, before the service starts. The config may be a file, which plan()
  // does not read.
  const auto config = config_of(spec, host);
  if (!config) {
    facts.set("problem", to_json(config.error()));
    return facts;
  }
  facts.set("gpu.count", nvidia::count_gpus(host));
  facts.set("output", config->output);
  std::vector<std::string> warnings = config->warnings;
  const auto contradictions = contradictions_of(spec, host).value_or({});
  warnings.insert(warnings.end(), contradictions.begin(), contradictions.end());
  facts.set("warnings", warnings);
  return facts;
}

Result<Plan> Gfd::plan(const Spec&, const Facts& facts, const Inputs&) const {
  if (facts.has("problem")) return error_from_json(facts.value("problem"));
  Plan plan;  // the service does the work, and the core creates its unit
  for (const std::string& warning : facts.texts("warnings")) plan.note(warning);
  if (const std::string output = facts.text("output"); !output.empty())
    plan.add(action::service_file(output)).because("the node's labels");
  return plan;
}

Result<Findings> Gfd::verify(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(config, config_of(spec, host));
  Findings findings;
  const auto seen = Probe(host, config, Probe::Use::command).look(config.sharing);
  if (!seen) {
    findings.fail("gfd.labels", "the GPUs cannot be queried: " + seen.error().what, seen.error().next,
                  nvidia::nvml_cause(seen.error().what));
    return findings;
  }
  if (seen->no_driver) {
    findings.not_exercised("gfd.labels", seen->no_driver->what);
    return findings;
  }
  for (const Error& gpu : seen->sources.snapshot.unreachable)
    findings.warning("gfd.gpus", "the labels leave out a GPU that does not answer: " + gpu.what,
                     gpu.next.empty() ? "reset the GPU, or reboot" : gpu.next);
  config.timestamp = false;
  SLIPWAY_TRY(labels, make_labels(seen->sources, config));
  drop_invalid(labels);
  const auto file = host.read(config.output);
  if (file && without_timestamp(*file) == to_lines(labels))
    findings.pass("gfd.labels", fmt::format("{} labels are in {}", labels.size(), config.output));
  else if (!host.live())  // an image, possibly with a simulated machine
    findings.not_exercised("gfd.labels",
                           "this root is not running: slipway-gfd.service writes " + config.output + " at first boot");
  else if (!file && !has_systemd(host) && !has_run(host))
    findings.add({Finding::Status::not_exercised, "gfd.labels",
                  "the service does not run, and " + config.output + " is missing", "start it: `slipway service gfd`"});
  else
    findings.fail("gfd.labels",
                  config.output + (file ? " does not have the labels of the present GPUs" : " is missing"),
                  remedy_for(host));
  const std::string lost = lost_gpu_of(seen->sources.snapshot, host);
  return nvidia::with_cause(nvidia::with_cause(findings, "gfd.gpus", lost), "gfd.labels",
                            lost.empty() ? "" : lost + "/labels");
}

}  // namespace slipway::gfd
