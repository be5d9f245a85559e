// SPDX-License-Identifier: Apache-2.0
#include "artifact/pack/build.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "artifact/oci/json_field.hpp"
#include "artifact/pack/layout_writer.hpp"
#include "artifact/pack/package.hpp"
#include "artifact/pack/tar_layer.hpp"

namespace slipway::artifact {
namespace {

/// The state of one build: each folder is packed once, even for several manifests.
class PackageBuild {
 public:
  PackageBuild(Package package, LayoutWriter layout, std::int64_t mtime, const Reporter& reporter)
      : package_(std::move(package)), layout_(std::move(layout)), mtime_(mtime), reporter_(reporter) {}

  Result<Json> run(const std::vector<std::string>& more_tags) {
    std::vector<Descriptor> manifests;
    std::set<std::string> replaced;  // digests that this build's own tags had before
    for (const PackageManifest& manifest : package_.manifests) {
      SLIPWAY_TRY(descriptor, add_manifest(manifest));
      if (!manifest.tag.empty()) {
        replaced.insert(layout_.tagged(manifest.tag));
        layout_.set_tag(manifest.tag, descriptor);
      }
      manifests.push_back(std::move(descriptor));
    }
    SLIPWAY_TRY(index, add_index(manifests, replaced));
    std::vector<std::string> tags{package_.tag};
    for (const std::string& word : more_tags) {
      SLIPWAY_TRY(tag, to_tag(word));
      tags.push_back(tag);
    }
    for (const std::string& tag : tags) layout_.set_tag(tag, index);
    SLIPWAY_CHECK(layout_.finish());
    Json layers = Json::array();
    for (const auto& [key, descriptor] : packed_) layers.push_back(descriptor.digest);
    return Json{{"digest", index.digest}, {"tags", tags}, {"layers", layers}};
  }

 private:
  Result<Descriptor> pack(const PackageLayer& layer) {
    const std::string key = layer.directory + " " + layer.compression;
    auto found = packed_.find(key);
    if (found == packed_.end()) {
      SLIPWAY_TRY(tar, write_tar_layer(package_.folder + "/" + layer.directory, layout_.scratch_file(),
                                       {layer.compression, mtime_}, reporter_));
      SLIPWAY_CHECK(layout_.adopt(layout_.scratch_file(), tar.digest));
      Descriptor descriptor;
      descriptor.digest = tar.digest;
      descriptor.size = tar.size;
      descriptor.annotations[annotation::kLayerSize] = std::to_string(tar.unpacked_size);
      found = packed_.emplace(key, std::move(descriptor)).first;
    }
    Descriptor descriptor = found->second;
    descriptor.media_type = layer.media_type;
    for (const auto& [name, text] : layer.annotations) descriptor.annotations[name] = text;
    return descriptor;
  }

  Result<Descriptor> add_manifest(const PackageManifest& manifest) {
    Json layers = Json::array();
    for (const PackageLayer& layer : manifest.layers) {
      SLIPWAY_TRY(descriptor, pack(layer));
      layers.push_back(to_json(descriptor));
    }
    const Json value{{"schemaVersion", 2},
                     {"mediaType", media_type::kManifest},
                     {"artifactType", package_.artifact_type},
                     {"config", to_json(empty_config())},
                     {"layers", layers},
                     {"annotations", manifest.annotations}};
    Descriptor descriptor;
    descriptor.media_type = media_type::kManifest;
    descriptor.artifact_type = package_.artifact_type;
    descriptor.annotations = manifest.annotations;
    return layout_.add_json(value, std::move(descriptor));
  }

  /// Adds the index under the package's tag: its former entries without the replaced ones, and the new manifests.
  Result<Descriptor> add_index(const std::vector<Descriptor>& manifests, const std::set<std::string>& replaced) {
    std::map<std::string, Json> listed;
    if (const std::string old = layout_.tagged(package_.tag); !old.empty()) {
      SLIPWAY_TRY(index, layout_.json_blob(old));
      const Json former = array_at(index, "manifests");
      for (const Json& entry : former)
        if (!replaced.contains(text_at(entry, "digest")) && !built_anew(entry))
          listed[text_at(entry, "digest")] = entry;
    }
    for (const Descriptor& descriptor : manifests) {
      Json entry = to_json(descriptor);
      entry["artifactType"] = descriptor.artifact_type;
      listed[descriptor.digest] = std::move(entry);
    }
    Json list = Json::array();
    for (auto& [digest, entry] : listed) list.push_back(std::move(entry));
    const Json value{{"schemaVersion", 2},
                     {"mediaType", media_type::kIndex},
                     {"artifactType", package_.artifact_type},
                     {"manifests", list},
                     {"annotations", package_.annotations}};
    Descriptor descriptor;
    descriptor.media_type = media_type::kIndex;
    descriptor.annotations = package_.annotations;
    return layout_.add_json(value, std::move(descriptor));
  }

  /// True when a manifest without a tag is built again: its annotations identify it.
  bool built_anew(const Json& entry) const {
    const Json annotations = object_at(entry, "annotations");
    return std::any_of(package_.manifests.begin(), package_.manifests.end(), [&](const PackageManifest& manifest) {
      return manifest.tag.empty() && Json(manifest.annotations) == annotations;
    });
  }

  Package package_;
  LayoutWriter layout_;
  std::int64_t mtime_;
  const Reporter& reporter_;
  std::map<std::string, Descriptor> packed_;
};

}  // namespace

Result<Json> build_package(const BuildOptions& options, const Reporter& reporter) {
  SLIPWAY_TRY(package, read_package(options.directory));
  SLIPWAY_TRY(layout, LayoutWriter::open(options.output));
  return PackageBuild(std::move(package), std::move(layout), options.mtime, reporter).run(options.tags);
}

}  // namespace slipway::artifact
