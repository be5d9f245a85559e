// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/outputs.cpp - the treatment of a device plugin's answers by kubelet's engine, after
// it is configured as planned.
#include <algorithm>
#include <optional>

#include <slipway/text.hpp>

#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/containerd/config.hpp"
#include "toolkit/runtime/containerd/facts.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"

namespace slipway::toolkit {
namespace {

/// The handler that acts on variables and mounts with GPU requests; later values cover more containers.
enum class Handler { none, of_a_class, default_one };

struct RuntimeOutputs {
  bool cdi = false;
  Handler handler = Handler::none;
};

Handler handler_of(bool acts, bool is_default, bool default_acts) {
  if (default_acts || (acts && is_default)) return Handler::default_one;
  return acts ? Handler::of_a_class : Handler::none;
}

RuntimeOutputs of_containerd(const RuntimeSettings& settings, const ContainerdFacts& facts) {
  const EngineVersion engine = facts.engine();
  const bool template_only = facts.edit.kind == "template";
  const bool by_default = engine.known() && engine >= kContainerdWithVersion3;
  const bool is_on = !facts.cdi_is_off && (by_default || facts.cdi_is_on);
  const bool can_be_on = !engine.known() || engine >= kContainerdWithCdi;
  const bool acts = !facts.runtime.empty() || !facts.edit.left_out.empty();
  return {.cdi = is_on || (settings.cdi && can_be_on && !template_only),
          .handler = handler_of(acts, settings.set_as_default && !template_only, facts.default_acts)};
}

RuntimeOutputs of_crio(const RuntimeSettings& settings, const Json& facts) {
  return {.cdi = true,
          .handler = handler_of(!text_of(facts, "runtime").empty(), settings.set_as_default,
                                facts.value("default_acts", false))};
}

std::string_view to_string(Handler handler) {
  if (handler == Handler::none) return "none";
  return handler == Handler::default_one ? "default" : "class";
}

}  // namespace

void add_outputs(const RuntimeSettings& settings, const Facts& facts, Plan& plan) {
  if (settings.nri) {  // the service handles every container
    plan.output("handler", to_string(Handler::default_one));
    return;
  }
  std::optional<RuntimeOutputs> all;
  const auto add = [&all](const RuntimeOutputs& one) {
    // It is unknown which of several engines kubelet uses: CDI must be on in each, and a handler in one.
    all = all ? RuntimeOutputs{all->cdi && one.cdi, std::max(all->handler, one.handler)} : one;
  };
  for (const ContainerdKind& kind : containerd_kinds())
    if (const auto found = facts.value(kind.name); found.is_object() && at_path(found, {"edit", "kind"}) != "none")
      add(of_containerd(settings, found.get<ContainerdFacts>()));
  if (facts.has("crio")) add(of_crio(settings, facts.value("crio")));
  if (settings.untouched || !all) return;
  plan.output("cdi", all->cdi);
  plan.output("handler", to_string(all->handler));
  plan.output("handlers", joined(settings.names, ","));
}

}  // namespace slipway::toolkit
