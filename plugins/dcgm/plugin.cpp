// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/plugin.cpp - the component dcgm: its service does the work, so it plans no more than a correct service,
// and that nobody else is in its place.
#include <slipway/component.hpp>
#include <slipway/plugin.hpp>

#include "dcgm/health/health_watch.hpp"
#include "dcgm/health/told.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/settings.hpp"
#include "dcgm/tools.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::dcgm {
namespace {

/// As the service will read them.
Result<Counters> counters_of_host(Settings settings, const Host& host) {
  SLIPWAY_CHECK(read_config(host, settings));
  return counters_of(settings, [&host](const std::string& path) { return host.read(path, kMostCounterBytes); });
}

/// With a site's file over slipway's own.
Result<nvidia::health::Rules> rules_of_host(const Settings& settings, const Host& host) {
  auto rules = nvidia::health::read_rules(host, settings.health_rules);
  if (!rules && rules.error().next.empty()) {
    Error error = rules.error();
    error.next = "put the file there, or take health_rules out of the spec";
    return error;
  }
  if (!rules) return rules;
  SLIPWAY_CHECK(check_rule_fields(*rules));
  return rules;
}

/// GPUs that are named by number have to be there, where it is known how many there are.
Status check_devices(const DeviceSelection& devices, std::size_t gpus) {
  const bool of_instances = devices.kind == DeviceSelection::Kind::instances;
  for (const unsigned number : devices.numbers) {
    const unsigned gpu = of_instances ? number / DeviceSelection::kInstancesOfAGpu : number;
    if (gpus == 0 || gpu < gpus) continue;
    return Error{.code = ErrorCode::invalid,
                 .what = "devices names " + std::string(of_instances ? "GPU instance " : "GPU ") +
                         std::to_string(number) + ", and this machine has " + std::to_string(gpus) +
                         (gpus == 1 ? " GPU" : " GPUs"),
                 .where = "spec.components.dcgm.devices",
                 .next = of_instances ? "count eight numbers for each GPU, from 0" : "count the GPUs from 0"};
  }
  return {};
}

/// What the service would stumble over.
Status check_host(const Settings& settings, const Host& host) {
  SLIPWAY_CHECK(counters_of_host(settings, host));
  SLIPWAY_CHECK(rules_of_host(settings, host));
  if (!settings.web_config.empty() && !host.exists(settings.web_config))
    return Error{.code = ErrorCode::not_found,
                 .what = settings.web_config + " is not there",
                 .where = "spec.components.dcgm.web_config_file",
                 .next = "put the web-config file there, or take the key away"};
  return check_devices(settings.devices, nvidia::count_gpus(host));
}

class Dcgm final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
    Facts facts;
    facts.set("gpu.count", nvidia::count_gpus(host));
    const auto settings = read_settings(spec);
    if (!settings) return facts;  // plan says so
    if (const Status usable = check_host(*settings, host); !usable) facts.set("problem", to_json(usable.error()));
    add_facts(host, takeover_settings(*settings), facts);
    return facts;
  }

  // A mistake in the spec or in the file of counters is told now, not by a service at night.
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs&) const override {
    if (facts.has("problem")) return error_from_json(facts.value("problem"));
    SLIPWAY_TRY(settings, read_settings(spec));
    Plan plan;
    add_takeover(takeover_settings(settings), facts, plan);
    if (settings.systemd_socket) add_socket_unit(takeover_settings(settings), plan);
    return plan;
  }

  Result<Findings> verify(const Spec& spec, const Host& host) const override {
    constexpr const char* kName = "dcgm.gpus";
    SLIPWAY_TRY(settings, read_settings(spec));
    SLIPWAY_TRY(counters, counters_of_host(settings, host));
    Findings findings;
    add_findings(host, takeover_settings(settings), findings);
    Sampler sampler(host, {.driver_root = settings.driver_root}, [](const char*, const std::string&) {});
    const Sample sample = sampler.sample(std::make_shared<const Counters>(counters));
    if (!sample.problem.empty()) {
      findings.not_exercised(kName, sample.problem);
      return findings;
    }
    std::string silent;
    for (const GpuState& state : sample.gpus)
      if (!state.problem.empty())
        silent += (silent.empty() ? "GPU " : "; GPU ") + std::to_string(state.gpu.index) + ": " + state.problem;
    findings.expect(
        kName, silent.empty(),
        std::to_string(sample.gpus.size()) + (sample.gpus.size() == 1 ? " GPU can be read" : " GPUs can be read"),
        "some GPUs cannot be read: " + silent,
        "look at the kernel's log (`dmesg`) for an Xid, then reset the GPU or reboot");
    return findings;
  }

  /// What only the service knows, and a file of health rules that is broken since the last apply.
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override {
    SLIPWAY_TRY(settings, read_settings(spec));
    Findings findings;
    if (const auto rules = rules_of_host(settings, host); !rules)
      findings.fail("dcgm.health-rules",
                    (rules.error().where.empty() ? "" : rules.error().where + ": ") + rules.error().what +
                        "; the GPUs are judged by the rules of before",
                    rules.error().next);
    if (host.has_kernel_view()) add_told_health(host, findings);
    return findings;
  }

  const Commands* commands() const override { return &tools_; }

 private:
  Tools tools_;
};

}  // namespace
}  // namespace slipway::dcgm

SLIPWAY_PLUGIN(slipway::component<slipway::dcgm::Dcgm>("dcgm"))
