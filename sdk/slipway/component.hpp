// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/component.hpp - what a plugin implements. It says what should be; the core makes it so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/inputs.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway {

class Commands;
class Importer;
class Service;

/// One component. Called from one thread; keeps nothing between calls, since each run is a fresh process.
class Component {
 public:
  virtual ~Component() = default;

  /// What there is now: reads only, live things only, no network. By default there is nothing to know.
  virtual Result<Facts> detect(const Spec& spec, const Host& host) const;
  /// The component's whole desired state. Pure: the same three always give the same plan.
  virtual Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const = 0;
  /// Is it really working? Reads only; may run a probe. By default it says nothing, and only what slipway verifies of
  /// every component is known: that all it planned is as it was left, and that its service runs.
  virtual Result<Findings> verify(const Spec& spec, const Host& host) const;

  /// Known failure patterns that are there now, each with its remedy: for `slipway doctor`, besides verify(). Reads
  /// only. Names start with the component's ("driver.uvm-nodes"); what is not there is not mentioned.
  virtual Result<Findings> diagnose(const Spec& spec, const Host& host) const;
  /// Does this custom action hold already? Only asked of components that plan custom actions.
  virtual Result<bool> check(const Action& action, const Host& host) const;
  /// Whether a custom action with `exclusives` or `quiesces_services` may begin, before these are taken: `waiting` and
  /// errors disturb nobody then. Changes nothing itself. By default it may.
  virtual Result<Outcome> preflight(const Action& action, const Host& host) const;
  /// Does one custom action. Decides nothing anew, and may be called again after a crash.
  virtual Result<Outcome> apply(const Action& action, const Host& host) const;

  /// Tools for people: `slipway NAME TOOL …`.
  virtual const Commands* commands() const { return nullptr; }
  /// Maps its own section of a foreign kind (ClusterPolicy) to its spec.
  virtual const Importer* importer() const { return nullptr; }
  /// A long-running part: `slipway service NAME`. The manifest says `service`. Owned by the component.
  virtual Service* service() { return nullptr; }
};

/// The component of a service's own library (`service: beside`): it has the service T and nothing else.
template <class T>
class ServiceOnly final : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override {
    return Error{.code = ErrorCode::unsupported,
                 .what = "this library holds only the service; the rest is in the plugin"};
  }
  Service* service() override { return &service_; }

 private:
  T service_;
};

}  // namespace slipway
