// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/component/plugin.cpp - the component dcgm: its service does the work, so the component plans only a
// correct service, and checks that no other program takes its place.
#include <algorithm>

#include <slipway/component.hpp>
#include <slipway/plugin.hpp>

#include "dcgm/component/host_check.hpp"
#include "dcgm/component/tools.hpp"
#include "dcgm/health/findings.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/settings.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/machine/causes.hpp"

namespace slipway::dcgm {
namespace {

/// Returns the remarks that a plan shows.
std::vector<std::string> remarks_of_host(const Settings& settings, const Host& host) {
  const auto counters = counters_of_host(settings, host);
  std::vector<std::string> remarks = counters ? remarks_on(settings.engine, *counters) : std::vector<std::string>();
  const std::string asked = counters ? asked_of_the_engine(settings.engine, *counters) : std::string();
  if (!asked.empty()) remarks.push_back(asked);
  for (const Missing& each : missing_inputs(settings, host)) remarks.push_back(each.text + ": " + each.remedy);
  return remarks;
}

/// Adds a finding for each GPU that cannot be read, with its own remedy; else one that says how many can be read.
void add_gpu_findings(const Sample& sample, const Host& host, Findings& findings) {
  constexpr const char* kName = "dcgm.gpus";
  const auto is_silent = [](const GpuState& state) { return !state.problem.empty(); };
  std::vector<std::string> placed;
  for (const GpuState& state : sample.gpus)
    if (!state.gpu.bus_id.empty()) placed.push_back(state.gpu.bus_id);
  for (GpuState state : sample.gpus) {
    if (!is_silent(state)) continue;
    // NVML gives no address for a GPU that was lost before. NVML and the PCI bus have the same order.
    if (state.gpu.bus_id.empty()) {
      state.gpu.bus_id = nvidia::gpu_address_in(nvidia::silent_gpu_cause(host, placed));
      placed.push_back(state.gpu.bus_id);
    }
    findings.fail(kName, "GPU " + std::to_string(state.gpu.index) + " cannot be read: " + state.problem,
                  silent_gpu_remedy(state), nvidia::lost_gpu_cause(state.gpu.bus_id));
  }
  const std::string count = std::to_string(sample.gpus.size());
  if (std::ranges::none_of(sample.gpus, is_silent))
    findings.pass(kName, count + (sample.gpus.size() == 1 ? " GPU can be read" : " GPUs can be read"));
}

class Dcgm final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
    Facts facts;
    facts.set("gpu.count", nvidia::count_gpus(host));
    const auto settings = read_settings(spec);
    if (!settings) return facts;  // plan() reports the error
    if (const Status usable = check_host(*settings, host); !usable)
      facts.set("problem", to_json(usable.error()));
    else
      facts.set_volatile("remarks", remarks_of_host(*settings, host));
    add_facts(host, takeover_settings(*settings), facts);
    return facts;
  }

  // Reports a mistake in the spec or in the file of counters at plan time, before the service starts.
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs&) const override {
    if (facts.has("problem")) return error_from_json(facts.value("problem"));
    SLIPWAY_TRY(settings, read_settings(spec));
    Plan plan;
    for (const std::string& remark : facts.texts("remarks")) plan.note(remark);
    add_takeover(takeover_settings(settings), facts, plan);
    if (settings.systemd_socket) add_socket_unit(takeover_settings(settings), plan);
    return plan;
  }

  Result<Findings> verify(const Spec& spec, const Host& host) const override {
    SLIPWAY_TRY(settings, read_settings(spec));
    SLIPWAY_TRY(counters, counters_of_host(settings, host));
    Findings findings;
    add_findings(host, takeover_settings(settings), findings);
    for (Missing& each : missing_inputs(settings, host))
      findings.warning(std::move(each.check), std::move(each.text), std::move(each.remedy));
    if (const Status usable = check_web_config(settings, host); !usable)
      findings.fail("dcgm.web-config",
                    "the service cannot listen with this web-config file: " + usable.error().what + " (" +
                        usable.error().where + ")",
                    usable.error().next);
    Sampler sampler(host, {.driver_root = settings.driver_root, .find_hanging = true, .devices = settings.devices},
                    [](const char*, const std::string&) {});
    const Sample sample = sampler.sample(std::make_shared<const Counters>(counters));
    if (!sample.problem.empty()) {
      findings.not_exercised("dcgm.gpus", sample.problem);
      return findings;
    }
    if (std::string nothing = empty_selection(settings, sample); !nothing.empty())
      findings.warning("dcgm.devices", std::move(nothing), kSelectionRemedy);
    add_gpu_findings(sample, host, findings);
    return findings;
  }

  /// Reports what the service has found, and a file of health rules that broke after the last apply.
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override {
    SLIPWAY_TRY(settings, read_settings(spec));
    Findings findings;
    if (const auto rules = rules_of_host(settings, host); !rules)
      findings.fail("dcgm.health-rules",
                    (rules.error().where.empty() ? "" : rules.error().where + ": ") + rules.error().what +
                        "; the previous rules stay in use",
                    rules.error().next);
    if (host.has_kernel_view()) add_health_findings(host, findings);
    return findings;
  }

  const Commands* commands() const override { return &tools_; }

 private:
  Tools tools_;
};

}  // namespace
}  // namespace slipway::dcgm

SLIPWAY_PLUGIN(slipway::component<slipway::dcgm::Dcgm>("dcgm"))
