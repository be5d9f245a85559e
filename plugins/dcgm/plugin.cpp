// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/plugin.cpp - the component dcgm: its service does the work, so it plans no more than a correct service,
// and that nobody else is in its place.
#include <slipway/component.hpp>
#include <slipway/plugin.hpp>

#include "dcgm/sampler/sampler.hpp"
#include "dcgm/settings.hpp"
#include "dcgm/tools.hpp"
#include "nvidia/gpu.hpp"

namespace slipway::dcgm {
namespace {

class Dcgm final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
    Facts facts;
    facts.set("gpu.count", nvidia::count_gpus(host));
    if (const std::string path = spec.text("collectors"); !path.empty())
      if (const auto counters = counters_of(path, host.read(path)); !counters)
        facts.set("problem", to_json(counters.error()));
    if (const auto settings = read_settings(spec)) add_facts(host, takeover_settings(*settings), facts);
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
    SLIPWAY_TRY(counters,
                counters_of(settings.collectors, settings.collectors.empty() ? Result<std::string>(std::string())
                                                                             : host.read(settings.collectors)));
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
        "some GPUs cannot be read: " + silent, "`slipway doctor` tells what is wrong with them");
    return findings;
  }

  const Commands* commands() const override { return &tools_; }

 private:
  Tools tools_;
};

}  // namespace
}  // namespace slipway::dcgm

SLIPWAY_PLUGIN(slipway::component<slipway::dcgm::Dcgm>("dcgm"))
