// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/action/action_fixture.hpp - an empty root and an engine that a test steps by hand: check, capture,
// stage, perform, undo.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <slipway/local_host.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/store/store.hpp"
#include "core/host/originals.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::core {

/// Writes the contents that a test puts into `trees`, by digest of the layer, and counts the calls.
class FakeStager final : public LayerStager {
 public:
  Status stage(const Json& layer, const std::string& into) override;
  std::optional<Error> known_failure(const Json& layer) const override {
    return layer_key(layer) == failed_layer ? failure : std::nullopt;
  }
  bool is_compiled(const Json& layer) const override { return layer_key(layer) == compiled_layer; }

  std::map<std::string, std::map<std::string, std::string>> trees;  ///< content by path, by digest or build name
  std::string failed_layer;                                         ///< layer_key() of the failed build
  std::optional<Error> failure;
  std::string compiled_layer;  ///< layer_key() of a build whose result is kept
  std::optional<Error> stage_error;
  int calls = 0;
};

inline constexpr auto kFiles = test::TempRoot::Times::files;

class ActionTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kEpoch = 1'700'000'000;
  using Standing = Check::Standing;

  test::TempRoot root;
  HostConfig config{.root = root.folder(), .hardware = "assume"};
  std::unique_ptr<Host> host = open_host(config).value();
  RootFs fs{root.dir(), kEpoch};
  FakeStager stager;
  ActionContext context{fs, *host, stager, {}, {}, {}, {}};

  const ActionKind& kind(const Action& action) {
    const auto found = action_kind(action.kind());
    if (!found) throw std::runtime_error(to_text(found.error()));
    return **found;
  }
  Check check(const Action& action);
  /// Applies like the engine, one action at a time; fails the test when a step fails. @return the captured image
  Image apply(const Action& action);
  /// Like apply() when there is something to do; keeps record and original like the engine.
  Image apply_and_remember(const Action& action);
  void restore(const Action& action, const Image& image);
  /// Removes: the original content is restored, and slipway's records are deleted.
  void take_away(const Action& action);
  void drop_bookkeeping();
};

}  // namespace slipway::core
