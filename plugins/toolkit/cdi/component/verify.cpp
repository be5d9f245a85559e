// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/verify.cpp - checks the specs that engines read: present, valid, up to date, and
// without contradiction.
#include <set>

#include <slipway/text.hpp>

#include "nvidia/cdi/folders.hpp"
#include "nvidia/cdi/text.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/machine/causes.hpp"
#include "toolkit/cdi/component/component.hpp"
#include "toolkit/cdi/component/facts.hpp"
#include "toolkit/runtime/cdi_folders/cdi_folders.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kApply = "run `slipway apply`";
constexpr const char* kLoad = "load the driver (`modprobe nvidia`), or install one";

void verify_specs(const CdiFacts& facts, const Host& host, Findings& findings) {
  bool current = true;
  for (const auto& [path, wanted] : facts.specs) {
    const auto text = host.read(path, nvidia::cdi::kMaxSpecBytes);
    const auto spec = text ? nvidia::cdi::parse_and_validate(*text, path) : Result<nvidia::cdi::Spec>(text.error());
    if (!spec) {
      findings.fail("cdi.specs", spec.error().what + " (" + path + ")", kApply);
      return;
    }
    current = current && *spec == wanted;
  }
  const std::size_t count = facts.specs.size();
  findings.pass("cdi.specs",
                std::to_string(count) + (count == 1 ? " spec exists and is valid" : " specs exist and are valid"));
  findings.expect("cdi.current", current, "the specs describe the present GPUs, driver and nodes",
                  "the GPUs, the driver or the nodes have changed since the specs were written", kApply);
}

/// Returns the first missing host path of some edits; empty: none is missing.
std::string missing_path(const nvidia::cdi::Edits& edits, const Host& host) {
  for (const auto& node : edits.device_nodes)
    if (const std::string path = node.host_path.empty() ? node.path : node.host_path; !host.info(path)) return path;
  for (const auto& mount : edits.mounts)
    if (!host.exists(mount.host_path)) return mount.host_path;
  return {};
}

void verify_paths(const CdiFacts& facts, const Host& host, Findings& findings) {
  for (const auto& [path, spec] : facts.specs) {
    for (const std::string& program : missing_hook_programs(spec, host))
      return findings.fail("cdi.paths", missing_hook_text(program) + " (" + path + ")",
                           "install slipway-cdi-hook there, or set hooks: none");
    std::string missing = missing_path(spec.edits, host);
    for (const auto& device : spec.devices)
      if (missing.empty()) missing = missing_path(device.edits, host);
    if (missing.empty()) continue;
    findings.fail("cdi.paths", path + " names " + missing + ", which is missing: no container with a GPU can start",
                  kApply);
    return;
  }
  findings.pass("cdi.paths", "everything that the specs name exists");
}

void verify_links(const CdiFacts& facts, const Host& host, Findings& findings) {
  const Json nodes = linked_nodes(facts.specs);
  for (const Json& node : nodes) {
    const std::string link =
        "/dev/char/" + std::to_string(node.value("major", 0)) + ":" + std::to_string(node.value("minor", 0));
    if (host.read_link(link)) continue;
    findings.fail("cdi.links", link + " is missing: a reload of systemd takes the GPU away from running containers",
                  kApply);
    return;
  }
  findings.pass("cdi.links", "every node has its link in /dev/char");
}

void verify_conflicts(const Host& host, Findings& findings) {
  using namespace nvidia::cdi;
  const SpecFolders folders = read_spec_folders(host, default_spec_folders());
  if (folders.conflicts.empty())
    findings.pass("cdi.conflicts", "no two specs of the same priority define the same device");
  else
    findings.fail("cdi.conflicts", to_text(folders.conflicts.front()) + ", so engines refuse these devices",
                  remedy_for(folders.conflicts.front()));
}

void verify_engines(const std::string& folder, const Host& host, Findings& findings) {
  const auto engines = read_engine_folders(host);
  bool all = true;
  for (const EngineFolders& engine : engines) {
    if (engine.has(folder)) continue;
    findings.fail("cdi.engines", to_text(engine, folder), remedy_for(engine, folder));
    all = false;
  }
  if (all && !engines.empty()) findings.pass("cdi.engines", "the engines here look for specs in " + folder);
}

/// The other GPUs can be used; an apply leaves their specs as they are, and only warns.
void add_lost(const CdiFacts& facts, Findings& findings) {
  for (const LostNote& lost : facts.lost) findings.fail("cdi.lost", lost.text, lost.remedy);
}

/// A device that the specs lack because of a lost GPU has that GPU as cause; an error of NVML has the driver.
Findings with_causes(const Findings& findings) {
  std::string lost;
  Findings all;
  for (Finding finding : findings.list()) {
    if (finding.name == "cdi.lost") finding.cause = nvidia::lost_gpu_cause(nvidia::gpu_address_in(finding.text));
    if (lost.empty() && finding.name == "cdi.lost") lost = finding.cause;
    if (finding.name == "cdi.specs" && finding.status == Finding::Status::fail)
      finding.cause = nvidia::nvml_cause(finding.text);
    all.add(std::move(finding));
  }
  return nvidia::with_cause(all, "cdi.current", lost.empty() ? "" : lost + "/specs");
}

/// The driver of a live machine is not loaded yet.
void add_later(const CdiFacts& facts, const Host& host, Findings& findings) {
  if (!facts.later.empty() && host.live()) findings.add({Finding::Status::warning, "cdi.specs", facts.later, kLoad});
}

}  // namespace

Result<Findings> Cdi::diagnose(const Spec& spec, const Host& host) const {
  Findings findings;
  if (nvidia::facts_without_gpu(host)) return findings;
  const CdiSettings settings = read_cdi_settings(spec);
  const CdiFacts facts = read_cdi_facts(settings, host);
  for (const EngineFolders& engine : read_engine_folders(host))
    if (!engine.has(settings.folder))
      findings.fail("cdi.engines", to_text(engine, settings.folder), remedy_for(engine, settings.folder));
  add_lost(facts, findings);
  add_later(facts, host, findings);
  return with_causes(findings);
}

Result<Findings> Cdi::verify(const Spec& spec, const Host& host) const {
  Findings findings;
  if (const auto without = nvidia::facts_without_gpu(host); without && !without->applicable()) {
    findings.not_applicable("cdi.specs", without->why_not());
    return findings;
  }
  const CdiSettings settings = read_cdi_settings(spec);
  const CdiFacts facts = read_cdi_facts(settings, host);
  verify_engines(settings.folder, host, findings);
  if (!facts.later.empty()) {
    add_later(facts, host, findings);
    if (!host.live()) findings.not_applicable("cdi.specs", facts.later);
    return findings;
  }
  if (facts.problem) {
    findings.fail("cdi.specs", facts.problem->what, facts.problem->next.empty() ? kApply : facts.problem->next);
    return with_causes(findings);
  }
  verify_specs(facts, host, findings);
  add_lost(facts, findings);
  if (host.live())
    verify_paths(facts, host, findings);
  else
    findings.not_exercised("cdi.paths", "the machine is simulated");
  verify_conflicts(host, findings);
  if (settings.char_links && host.live()) verify_links(facts, host, findings);
  return with_causes(findings);
}

}  // namespace slipway::toolkit
