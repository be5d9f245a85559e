// SPDX-License-Identifier: Apache-2.0
#include "test_catalogue.hpp"

namespace slipway::driver::testing {
namespace {

Json layer(const std::string& role, const std::string& digest, Json notes = Json::object()) {
  notes["dev.slipway.layer"] = role;
  return {{"mediaType", "application/vnd.slipway.layer.v1.tar+zstd"},
          {"digest", "sha256:" + digest},
          {"size", 1000},
          {"annotations", notes}};
}

Json files_note(const std::string& arch) {
  return {{"dev.slipway.driver.files", canonical({{"libdir", "usr/lib/" + arch + "-linux-gnu"},
                                                  {"libraries", {"libcuda.so.1", "libnvidia-ml.so.1"}},
                                                  {"tools", {"nvidia-smi"}},
                                                  {"icds", Json::array()}})}};
}

}  // namespace

CatalogueEntry TestPackage::entry() const {
  CatalogueEntry entry;
  const std::string id =
      version + "-" + flavour + "-" + (kernel.empty() ? "source" : kernel) + (arch == "aarch64" ? "-" + arch : "");
  entry.digest = "sha256:" + id;
  entry.tag = id;
  entry.artifact_type = "application/vnd.slipway.driver.v1";
  entry.annotations = {{"dev.slipway.driver.version", version}, {"dev.slipway.driver.flavour", flavour}};
  if (!kernel.empty()) entry.annotations["dev.slipway.kernel.release"] = kernel;
  if (!os.empty()) entry.annotations["dev.slipway.os"] = os;
  if (!arch.empty()) entry.annotations["dev.slipway.arch"] = arch;
  entry.annotations.update(extra);
  entry.layers = Json::array({layer("userspace", "userspace-" + version, files_note(arch.empty() ? "x86_64" : arch)),
                              layer("firmware", "firmware-" + version)});
  if (kernel.empty())
    entry.layers.push_back(layer(
        "source", "source-" + version + "-" + flavour,
        {{"dev.slipway.driver.source", canonical({{"directory", "nvidia"}, {"modules", {"nvidia", "nvidia-uvm"}}})}}));
  else
    entry.layers.push_back(
        layer("modules", "modules-" + id, {{"dev.slipway.driver.modules", R"(["nvidia.ko.xz","nvidia-uvm.ko.xz"])"}}));
  if (!kernel.empty()) entry.layers.back()["annotations"].update(modules_notes);
  if (!vermagic.empty()) entry.layers.back()["annotations"]["dev.slipway.kernel.vermagic"] = vermagic;
  return entry;
}

Catalogue catalogue(const std::vector<TestPackage>& packages, bool complete) {
  Catalogue result;
  result.source = kRepository;
  result.complete = complete;
  for (const auto& package : packages) result.entries.push_back(package.entry());
  return result;
}

Json to_json(const Catalogue& catalogue) {
  Json entries = Json::array();
  for (const auto& entry : catalogue.entries)
    entries.push_back({{"digest", entry.digest},
                       {"tag", entry.tag},
                       {"artifactType", entry.artifact_type},
                       {"annotations", entry.annotations},
                       {"layers", entry.layers}});
  return {{"source", catalogue.source}, {"complete", catalogue.complete}, {"entries", entries}};
}

Inputs inputs(const std::vector<TestPackage>& packages, const TestTarget& target, bool complete) {
  return Inputs{{{"target",
                  {{"kernel_release", target.kernel},
                   {"kernel_problem", nullptr},
                   {"live", target.live},
                   {"arch", target.arch},
                   {"hardware", target.hardware}}},
                 {"outputs", Json::object()},
                 {"catalogues", {{"source", to_json(catalogue(packages, complete))}}}}};
}

}  // namespace slipway::driver::testing
