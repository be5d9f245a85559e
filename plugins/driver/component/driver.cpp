// SPDX-License-Identifier: Apache-2.0
#include "driver/component/driver.hpp"

#include "driver/build/package_build.hpp"
#include "driver/detect/host_facts.hpp"
#include "driver/diagnose/diagnose.hpp"
#include "driver/enroll/enroll_tool.hpp"
#include "driver/fits/fits.hpp"
#include "driver/kernels/kernels_tool.hpp"
#include "driver/live/replacement.hpp"
#include "driver/plan/plan.hpp"
#include "driver/settings.hpp"
#include "driver/verify/verify.hpp"

namespace slipway::driver {

Result<Facts> Driver::detect(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(kernels, kernel_choice_from(spec.value("kernels")));
  const nvidia::GpuTable table = nvidia::GpuTable::of(host).value_or(nvidia::GpuTable::built_in());
  const auto settings = read_settings(spec, table);  // plan() reports mistakes in the settings, and in that table
  HostFacts facts;
  if (settings) {
    SLIPWAY_TRY(keys, named_keys(*settings));
    facts = read_host_facts(host, kernels, settings->parameters, keys);
    read_replacement_facts(*settings, host, facts);
  } else {
    facts = read_host_facts(host, kernels);
  }
  if (host.hardware() != "detect" || !facts.usable_gpus().empty()) return to_facts(facts);
  if (!facts.kernel_view) return Facts::not_applicable("this root shows no devices");
  if (!facts.gpus.empty()) return Facts::not_applicable("every NVIDIA GPU is assigned to virtual machines (vfio)");
  return Facts::not_applicable("no NVIDIA GPU on the PCI bus");
}

Result<Plan> Driver::plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const {
  const HostFacts host_facts = host_facts_from(facts);
  if (!host_facts.gpu_table_problem.is_null()) return error_from_json(host_facts.gpu_table_problem);
  SLIPWAY_TRY(settings, read_settings(spec, nvidia::GpuTable::renewed_by(host_facts.gpu_table)));
  return make_plan(settings, host_facts, inputs);
}

Result<Findings> Driver::verify(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(table, nvidia::GpuTable::of(host));
  SLIPWAY_TRY(settings, read_settings(spec, table));
  SLIPWAY_TRY(keys, named_keys(settings));
  return verify_driver(settings, read_host_facts(host, settings.kernels, settings.parameters, keys), host);
}

Result<Findings> Driver::diagnose(const Spec&, const Host& host) const {
  return diagnose_driver(read_host_facts(host), host);
}

Result<bool> Driver::check(const Action& action, const Host& host) const {
  if (is_of_replacement(action)) return check_replacement(action, host);
  if (action.kind() != "unpack") return check_reboot(action, host);
  SLIPWAY_CHECK(check_staged_modules(action, host));
  return true;
}

Result<Outcome> Driver::preflight(const Action& action, const Host& host) const {
  return is_of_replacement(action) ? admit_replacement(action, host) : Outcome::done();
}

Result<Outcome> Driver::apply(const Action& action, const Host& host) const {
  return is_of_replacement(action) ? apply_replacement(action, host) : apply_reboot(action, host);
}

DriverTools::DriverTools()
    : ToolTable(
          {{"build", "makes a driver package from Debian's files, for one kernel", build_line(), run_build},
           {"enroll", "prepares Secure Boot for modules that are signed on this machine", enroll_line(), run_enroll},
           {"kernels", "lists a root's kernels, and which have the driver's modules", kernels_line(), run_kernels}}) {}

}  // namespace slipway::driver
