// SPDX-License-Identifier: Apache-2.0
#include "artifact/pack/package.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "artifact/io/file.hpp"
#include "base/yaml/load.hpp"

namespace slipway::artifact {
namespace {

constexpr std::uint64_t kFileLimit = 1 << 20;
constexpr std::array kCompressions{"zstd", "gzip", "xz", "none"};

/// Thrown inside this file only: a position in package.yaml and its error.
struct PackageError {
  YAML::Mark mark;
  std::string what;
};

using Texts = std::map<std::string, std::string>;

void check_keys(const YAML::Node& map, const std::set<std::string>& known, const std::string& place) {
  if (!map.IsMap()) throw PackageError{map.Mark(), place + " must be a mapping"};
  for (const auto& pair : map) {
    const auto key = pair.first.as<std::string>();
    if (!known.contains(key)) throw PackageError{pair.first.Mark(), "unknown key '" + key + "' in " + place};
  }
}

std::string text(const YAML::Node& map, const char* key, const std::string& place, bool required) {
  const YAML::Node node = map[key];
  if (!node) {
    if (required) throw PackageError{map.Mark(), place + " lacks '" + key + "'"};
    return {};
  }
  if (!node.IsScalar()) throw PackageError{node.Mark(), "'" + std::string(key) + "' must be a string"};
  return node.as<std::string>();
}

Texts texts(const YAML::Node& node, const std::string& place) {
  Texts all;
  if (!node) return all;
  if (!node.IsMap()) throw PackageError{node.Mark(), place + " must be a mapping of texts"};
  for (const auto& pair : node) {
    if (!pair.second.IsScalar()) throw PackageError{pair.second.Mark(), place + " may hold only strings"};
    all[pair.first.as<std::string>()] = pair.second.as<std::string>();
  }
  return all;
}

PackageLayer read_layer(const YAML::Node& node) {
  check_keys(node, {"directory", "mediaType", "compression", "annotations"}, "a layer");
  PackageLayer layer;
  layer.directory = text(node, "directory", "a layer", true);
  layer.media_type = text(node, "mediaType", "a layer", true);
  layer.compression = text(node, "compression", "a layer", false);
  layer.annotations = texts(node["annotations"], "annotations");
  if (layer.compression.empty()) layer.compression = "zstd";
  if (std::find(kCompressions.begin(), kCompressions.end(), layer.compression) == kCompressions.end())
    throw PackageError{node["compression"].Mark(), "compression must be zstd, gzip, xz or none"};
  if (layer.directory.starts_with('/') || layer.directory.find("..") != std::string::npos)
    throw PackageError{node["directory"].Mark(), "directory must be a folder beside package.yaml"};
  return layer;
}

std::string read_tag(const YAML::Node& map, const char* key, const std::string& place, bool required) {
  const std::string word = text(map, key, place, required);
  if (word.empty()) return {};
  auto tag = to_tag(word);
  if (!tag) throw PackageError{map[key].Mark(), tag.error().what};
  return *tag;
}

PackageManifest read_manifest(const YAML::Node& node) {
  check_keys(node, {"tag", "annotations", "layers"}, "a manifest");
  PackageManifest manifest;
  manifest.tag = read_tag(node, "tag", "a manifest", false);
  manifest.annotations = texts(node["annotations"], "annotations");
  if (!node["layers"] || !node["layers"].IsSequence() || node["layers"].size() == 0)
    throw PackageError{node.Mark(), "a manifest needs a list of 'layers'"};
  for (const auto& layer : node["layers"]) manifest.layers.push_back(read_layer(layer));
  return manifest;
}

Package read_document(const YAML::Node& node) {
  check_keys(node, {"artifactType", "tag", "annotations", "manifests"}, "package.yaml");
  Package package;
  package.artifact_type = text(node, "artifactType", "package.yaml", true);
  package.tag = read_tag(node, "tag", "package.yaml", true);
  package.annotations = texts(node["annotations"], "annotations");
  if (!node["manifests"] || !node["manifests"].IsSequence() || node["manifests"].size() == 0)
    throw PackageError{node.Mark(), "package.yaml needs a list of 'manifests'"};
  for (const auto& manifest : node["manifests"]) package.manifests.push_back(read_manifest(manifest));
  return package;
}

Error at(const std::string& file, const YAML::Mark& mark, const std::string& what) {
  return Error{.code = ErrorCode::invalid,
               .what = what,
               .where = yaml::place(file, mark),
               .next = "docs/package-format.md shows what a package folder holds"};
}

}  // namespace

Result<std::string> to_tag(const std::string& text) {
  std::string tag = text;
  std::replace(tag.begin(), tag.end(), '+', '_');
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; };
  const bool first = !tag.empty() && tag.front() != '.' && tag.front() != '-';
  if (first && tag.size() <= 128 && std::all_of(tag.begin(), tag.end(), fits)) return tag;
  return Error{.code = ErrorCode::invalid,
               .what = "'" + text +
                       "' is not a tag: at most 128 letters, digits, '_', '.' and '-', not beginning with '.' or '-'",
               .where = "tag"};
}

Result<Package> read_package(const std::string& folder) {
  const std::string file = folder + "/package.yaml";
  SLIPWAY_TRY(content, read_regular(file, kFileLimit));
  try {
    Package package = read_document(yaml::load(content));
    package.folder = folder;
    return package;
  } catch (const PackageError& wrong) {
    return at(file, wrong.mark, wrong.what);
  } catch (const YAML::Exception& problem) {
    return at(file, problem.mark, "package.yaml " + yaml::problem_text(problem));
  }
}

}  // namespace slipway::artifact
