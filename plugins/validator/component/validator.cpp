// SPDX-License-Identifier: Apache-2.0
#include "validator/component/validator.hpp"

#include <chrono>

#include "nvidia/gpu.hpp"
#include "validator/container/check.hpp"
#include "validator/cuda_check.hpp"
#include "validator/device_plugin_check.hpp"
#include "validator/driver_check.hpp"
#include "validator/settings.hpp"
#include "validator/toolkit_check.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kCallLimit{20};  // the first call initializes GPUs, which takes seconds each

Finding try_cuda(const Host& host, const DriverCheck& driver, const Finding& driver_finding) {
  if (!host.live()) return not_tried(kCudaCheck, "this root is not running, so nothing can compute");
  if (!passed(driver_finding)) return not_tried(kCudaCheck, "CUDA was not tried: " + driver_finding.text);
  return check_cuda(look_around(host, driver), {});
}

/// @param begun  start of the verify, whose checks share its time
Finding try_container(const Host& host, ToolkitCheck& toolkit, const Finding& toolkit_finding,
                      std::chrono::steady_clock::time_point begun) {
  const bool no_gpu = host.has_kernel_view() && nvidia::count_gpus(host) == 0;
  if (no_gpu && toolkit.specs().empty())  // devices in specs are tested all the same
    return Finding{Verdict::not_applicable, kContainerCheck, "no NVIDIA GPU on the PCI bus", {}};
  if (host.booting()) return not_tried(kContainerCheck, "container engines may start once this boot is verified");
  if (!passed(toolkit_finding)) return not_tried(kContainerCheck, "no container was started: " + toolkit_finding.text);
  const auto probe = program_beside_plugin(kContainerProbe);
  if (!probe) return not_tried(kContainerCheck, probe.error().what);
  const auto gone = std::chrono::duration_cast<Runner::Span>(std::chrono::steady_clock::now() - begun);
  const auto terms = terms_after(gone);
  if (terms) return check_container(host, toolkit.specs(), *probe, *terms);
  return not_tried(kContainerCheck, "no container was started: the earlier checks took " +
                                        std::to_string(gone.count() / 1000) + " s, and too little time was left");
}

}  // namespace

Result<Facts> Validator::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  Facts facts;
  const auto settings = read_settings(spec, host);  // plan() reads no file
  if (settings)
    facts.set("warnings", settings->warnings);
  else
    facts.set("problem", to_json(settings.error()));
  return facts;
}

// The only part is the service with its unit, which the core adds.
Result<Plan> Validator::plan(const Spec&, const Facts& facts, const Inputs&) const {
  if (facts.has("problem")) return error_from_json(facts.value("problem"));
  Plan plan;
  for (const std::string& warning : facts.texts("warnings")) plan.note(warning);
  return plan;
}

Result<Findings> Validator::verify(const Spec& spec, const Host& host) const {
  const auto begun = std::chrono::steady_clock::now();
  SLIPWAY_TRY(settings, read_settings(spec, host));
  Findings findings;
  DriverCheck driver(host, settings.driver_root,
                     [](const auto& library) { return look_at_driver(library, kCallLimit); });
  if (settings.wants("driver") || settings.wants("cuda")) {
    const Finding found = driver.run();
    if (settings.wants("driver")) findings.add(found);
    if (settings.wants("cuda")) findings.add(try_cuda(host, driver, found));
  }
  if (settings.wants("toolkit")) {
    ToolkitCheck toolkit(host);
    findings.add(toolkit.run());
    findings.add(try_container(host, toolkit, findings.list().back(), begun));
  }
  if (settings.wants("plugin"))
    findings.add(host.booting() ? not_tried(kPluginCheck, "kubelet may start once this boot is verified")
                                : check_device_plugin(host, settings.kubelet));
  for (const std::string& companion : settings.companions) findings.add(check_companion(host, companion));
  return findings;
}

}  // namespace slipway::validator
