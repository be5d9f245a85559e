// SPDX-License-Identifier: Apache-2.0
// core/engine/packages/layers.hpp - provides the layers of unpack actions: from the artifact worker, or compiled.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/action/action_kind.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// The LayerStager of one component.
///
/// Records a build's failure in the cache (builds/KEY.json, by layer_key(): source and build), so that the next plan
/// reports it before anything changes. The build's full output is beside it (builds/KEY.log). Keeps a build's result in
/// the cache (compiled_cache.hpp), and takes it from there when nothing that it depends on has changed.
class ComponentLayers final : public LayerStager {
 public:
  /// @param sources  spec key to artifact source (JSON), as the component's spec names them
  ComponentLayers(Session& session, std::string component, std::map<std::string, Json> sources)
      : session_(session), component_(std::move(component)), sources_(std::move(sources)) {}

  /// Downloads the data for `layer` into the cache. Does nothing for a layout or for data that is cached already. Also
  /// the source of a layer that is compiled already: if that proves damaged later, it must be there.
  Status fetch(const Json& layers);

  Status stage(const Json& layer, const std::string& into) override;
  std::optional<Error> known_failure(const Json& layer) const override;
  bool is_compiled(const Json& layer) const override;

 private:
  Result<Json> source_of(const Json& layer) const;
  Status unpack(const Json& layer, const std::string& into);
  Status compile(const Json& layer, const std::string& into);
  Status run_compiler(const Json& layer, const std::string& into);
  /// Returns compiled_key(), computed at the first call; nothing when that is not possible.
  const std::optional<Json>& key_of(const Json& layer) const;
  bool take_compiled(const Json& key, const std::string& name, const std::string& into);
  std::string build_file(const Json& layer, const std::string& ending) const;
  void remember_failure(const Json& layer, const Error& error) const;

  Session& session_;
  std::string component_;
  std::map<std::string, Json> sources_;
  mutable std::map<std::string, std::optional<Json>> keys_;  ///< by layer_key()
};

}  // namespace slipway::core
