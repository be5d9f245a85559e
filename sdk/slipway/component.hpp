// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/component.hpp - the class that a plugin implements. It returns the desired state; the core establishes
// it.
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

/// One component. Called from one thread; stores nothing between calls, since each run is a new process.
class Component {
 public:
  virtual ~Component() = default;

  /// Returns facts about the present state: reads only, only the live state, no network. By default there are none.
  virtual Result<Facts> detect(const Spec& spec, const Host& host) const;
  /// Returns the component's complete desired state. Pure: the same three inputs always give the same plan.
  virtual Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const = 0;
  /// Checks that the component really works. Reads only; may run a probe. By default only slipway's own checks are
  /// made: everything planned is unchanged, and the service runs.
  virtual Result<Findings> verify(const Spec& spec, const Host& host) const;

  /// Returns known failure patterns that are present now, each with its remedy: for `slipway doctor`, in addition to
  /// verify(). Reads only. Names start with the component's name ("driver.uvm-nodes"); absent patterns are not
  /// mentioned.
  virtual Result<Findings> diagnose(const Spec& spec, const Host& host) const;
  /// Returns true when this custom action is already done. Only called for components that plan custom actions.
  virtual Result<bool> check(const Action& action, const Host& host) const;
  /// Checks whether a custom action with `exclusives` or `quiesces_services` may begin, before these are locked and
  /// quiesced, so that `waiting` and errors disturb no service. Changes nothing itself. By default it may begin.
  virtual Result<Outcome> preflight(const Action& action, const Host& host) const;
  /// Does one custom action. Makes no new decisions, and may be called again after a crash.
  virtual Result<Outcome> apply(const Action& action, const Host& host) const;

  /// Tools for users: `slipway NAME TOOL …`.
  virtual const Commands* commands() const { return nullptr; }
  /// Converts its own section of a foreign kind (ClusterPolicy) to its spec.
  virtual const Importer* importer() const { return nullptr; }
  /// The long-running part: `slipway service NAME`. The manifest has `service`. Owned by the component.
  virtual Service* service() { return nullptr; }
};

/// The component in a service's own library (`service: beside`): it only has the service T.
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
