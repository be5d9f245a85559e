// SPDX-License-Identifier: Apache-2.0
#include "driver/build/description.hpp"

#include <fmt/format.h>

#include "driver/detect/kernel_release.hpp"
#include "driver/package/annotations.hpp"

namespace slipway::driver {
namespace {

Json layer(const char* folder, Json notes) {
  notes[annotation::kLayer] = folder;
  notes["org.opencontainers.image.title"] = folder;
  return {{"directory", folder},
          {"mediaType", fmt::format("application/vnd.slipway.driver.{}.v1.tar+zstd", folder)},
          {"compression", "zstd"},
          {"annotations", std::move(notes)}};
}

Json manifest_notes(const Built& built) {
  Json notes{{annotation::kVersion, built.version},
             {annotation::kFlavour, nvidia::to_string(built.flavour)},
             {annotation::kOs, built.os},
             {annotation::kArch, built.arch},
             {"org.opencontainers.image.version", built.version}};
  if (built.default_flavour) notes[annotation::kDefaultFlavour] = nvidia::to_string(*built.default_flavour);
  if (!built.gpus.empty()) notes[annotation::kGpus] = canonical(to_json(built.gpus));
  return notes;
}

Json common_layers(const Built& built) {
  Json layers = Json::array({layer(kUserspaceLayer, {{annotation::kFiles, canonical(to_json(built.files))}})});
  if (built.firmware) layers.push_back(layer(kFirmwareLayer, Json::object()));
  return layers;
}

Json modules_manifest(const Built& built) {
  Json notes = manifest_notes(built);
  notes[annotation::kKernel] = built.kernel_release;
  if (!built.signer.empty()) notes[annotation::kSigner] = built.signer;
  notes["org.opencontainers.image.title"] = fmt::format("NVIDIA driver {} ({}) for kernel {}", built.version,
                                                        nvidia::to_string(built.flavour), built.kernel_release);
  Json layers = common_layers(built);
  Json modules_notes{{annotation::kModules, canonical(Json(built.modules))},
                     {annotation::kVermagic, built.vermagic},
                     {annotation::kSymbols, canonical(built.symbols)}};
  if (!built.signer_key.is_null()) modules_notes[annotation::kSignerKey] = canonical(built.signer_key);
  layers.push_back(layer(kModulesLayer, std::move(modules_notes)));
  return {{"tag", package_tag(built.version, built.kernel_release, built.os, nvidia::to_string(built.flavour))},
          {"annotations", notes},
          {"layers", layers}};
}

Json source_manifest(const Built& built) {
  Json notes = manifest_notes(built);
  if (!built.fails.empty()) notes[annotation::kFails] = canonical(Json(built.fails));
  notes["org.opencontainers.image.title"] =
      fmt::format("NVIDIA driver {} ({}), source of the modules", built.version, nvidia::to_string(built.flavour));
  Json layers = common_layers(built);
  layers.push_back(layer(kSourceLayer, {{annotation::kSource, canonical(to_json(*built.source))}}));
  return {{"tag", package_tag(built.version, "source", built.os, nvidia::to_string(built.flavour))},
          {"annotations", notes},
          {"layers", layers}};
}

}  // namespace

std::string index_tag(const Built& built) { return package_tag(built.version, "", built.os, ""); }

Json describe(const Built& built) {
  Json manifests = Json::array();
  if (!built.modules.empty()) manifests.push_back(modules_manifest(built));
  if (built.source) manifests.push_back(source_manifest(built));
  return {{"artifactType", kArtifactType},
          {"tag", index_tag(built)},
          {"annotations", {{annotation::kVersion, built.version}, {annotation::kOs, built.os}}},
          {"manifests", manifests}};
}

}  // namespace slipway::driver
