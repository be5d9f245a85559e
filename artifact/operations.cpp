// SPDX-License-Identifier: Apache-2.0
#include "artifact/operations.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "artifact/io/progress.hpp"
#include "artifact/oci/artifact.hpp"
#include "artifact/oci/catalogue.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/oci/trust.hpp"
#include "artifact/pack/build.hpp"
#include "artifact/pack/copy.hpp"
#include "artifact/registry/registry_origin.hpp"
#include "artifact/unpack/unpack.hpp"

namespace slipway::artifact {
namespace {

Error missing(const char* key, const char* expected) {
  return Error{.code = ErrorCode::invalid,
               .what = std::string("the request to the artifact worker lacks '") + key + "': " + expected,
               .where = key};
}

/// The open source of a request.
struct Opened {
  Source source;
  OriginContext context;
  std::unique_ptr<Origin> origin;
};

Result<Opened> open_source(const Json& request, const Reporter& reporter) {
  if (!request.contains("source")) return missing("source", "where the package is");
  SLIPWAY_TRY(source, source_from_json(request["source"]));
  Opened opened{std::move(source), {.cache = text_at(request, "cache"), .reporter = reporter}, nullptr};
  SLIPWAY_TRY(origin, open_origin(opened.source, opened.context));
  opened.origin = std::move(origin);
  return opened;
}

std::optional<std::int64_t> source_date_epoch() {
  const char* text = std::getenv("SOURCE_DATE_EPOCH");
  if (text == nullptr) return {};
  const std::string_view digits(text);
  std::int64_t seconds = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (problem != std::errc() || end != digits.data() + digits.size()) return {};
  return seconds;
}

Result<Json> catalogue(const Json& request, const Reporter& reporter) {
  SLIPWAY_TRY(opened, open_source(request, reporter));
  CatalogueQuery query{.tags = {}, .digest = text_at(request, "digest")};
  if (request.contains("tag_prefixes")) {
    query.tags.prefixes.emplace();
    for (const Json& prefix : array_at(request, "tag_prefixes"))
      if (prefix.is_string()) query.tags.prefixes->push_back(prefix);
  }
  SLIPWAY_TRY(read, read_catalogue(*opened.origin, opened.source, query, reporter));
  return to_json(read);
}

Result<Json> fetch(const Json& request, const Reporter& reporter) {
  SLIPWAY_TRY(opened, open_source(request, reporter));
  if (!request.contains("layers") || !request["layers"].is_array()) return missing("layers", "a list of descriptors");
  std::vector<Descriptor> layers;
  for (const Json& item : request["layers"]) {
    SLIPWAY_TRY(layer, descriptor_from_json(item, "layers"));
    layers.push_back(std::move(layer));
  }
  SLIPWAY_CHECK(require_trusted(*opened.origin, opened.source, text_at(request, "digest"), layers, reporter));
  SLIPWAY_TRY(fetched, opened.origin->fetch(layers));
  Json blobs = Json::array();
  for (const Fetched::Blob& blob : fetched.blobs) blobs.push_back({{"digest", blob.digest}, {"path", blob.path}});
  return Json{{"layers", blobs}, {"bytes", fetched.bytes}};
}

Result<Json> stage(const Json& request, const Reporter& reporter) {
  SLIPWAY_TRY(opened, open_source(request, reporter));
  if (!request.contains("layer")) return missing("layer", "the descriptor of the layer to unpack");
  SLIPWAY_TRY(layer, descriptor_from_json(request["layer"], "layer"));
  const UnpackOptions options{.into = text_at(request, "into"),
                              .source = opened.source.repository,
                              .newest_mtime = source_date_epoch(),
                              .sync = !request.contains("sync") || flag_at(request, "sync")};
  if (!options.into.starts_with('/')) return missing("into", "the absolute path of a new folder");
  if (layer.media_type.find("tar") == std::string::npos)
    return Error{.code = ErrorCode::unsupported,
                 .what = "layer " + describe(layer) + " is of type " + layer.media_type + ", which is not an archive",
                 .where = opened.source.repository};
  SLIPWAY_CHECK(require_trusted(*opened.origin, opened.source, text_at(request, "digest"), {layer}, reporter));
  SLIPWAY_TRY(blob, opened.origin->open(layer));
  auto done = unpack(std::move(blob), layer, options, reporter);
  if (!done) {
    Error error = std::move(done).error();
    if (error.code == ErrorCode::corrupt) error.next = opened.origin->drop_damaged(layer);
    return error;
  }
  return Json{{"files", done->files}, {"bytes", done->bytes}};
}

Result<Json> build(const Json& request, const Reporter& reporter) {
  BuildOptions options{.directory = text_at(request, "directory"), .output = text_at(request, "output"), .tags = {}};
  if (!options.directory.starts_with('/')) return missing("directory", "the absolute path of a package folder");
  if (!options.output.starts_with('/')) return missing("output", "the absolute path of a layout folder");
  for (const Json& tag : array_at(request, "tags")) options.tags.push_back(tag.get<std::string>());
  options.mtime = source_date_epoch().value_or(0);
  return build_package(options, reporter);
}

std::vector<std::string> tags_of(const Json& request) {
  std::vector<std::string> tags;
  for (const Json& tag : array_at(request, "tags")) tags.push_back(tag.get<std::string>());
  if (const std::string tag = text_at(request, "tag"); !tag.empty()) tags.push_back(tag);
  return tags;
}

Result<Json> push(const Json& request, const Reporter& reporter) {
  Source layout;
  layout.repository = text_at(request, "layout");
  if (!layout.repository.starts_with('/')) return missing("layout", "the absolute path of a layout folder");
  if (!request.contains("source")) return missing("source", "the registry to push to");
  SLIPWAY_TRY(source, source_from_json(request["source"]));
  if (!source.is_registry()) return missing("source", "an oci:// repository to push to");
  SLIPWAY_TRY(from, open_local(layout));
  SLIPWAY_TRY(to, open_registry_target(source, reporter));
  return copy_tags(*from, *to, tags_of(request));
}

/// Opens a bundle when the name is that of a tar file, else a layout folder.
Result<std::unique_ptr<Target>> open_output(const std::string& path, const Reporter& reporter) {
  std::error_code ignored;
  const bool bundle = path.ends_with(".tar") && !std::filesystem::is_directory(path, ignored);
  return bundle ? open_bundle_target(path, reporter) : open_layout_target(path, reporter);
}

Result<Json> pull(const Json& request, const Reporter& reporter) {
  SLIPWAY_TRY(opened, open_source(request, reporter));
  const std::string output = text_at(request, "output");
  if (!output.starts_with('/')) return missing("output", "the absolute path of a layout folder or a .tar file");
  SLIPWAY_TRY(to, open_output(output, reporter));
  std::vector<std::string> tags = tags_of(request);
  if (tags.empty() && !opened.source.tag.empty()) tags.push_back(opened.source.tag);
  if (opened.source.digest.empty()) return copy_tags(*opened.origin, *to, tags);
  return copy_digest(*opened.origin, *to, opened.source.digest, tags);
}

/// Returns the indexes that tags refer to: a spec is pinned to one, so that it has every kernel of a version.
Result<Json> indexes_of(Origin& origin, const Source& source) {
  Json indexes = Json::array();
  if (!source.digest.empty()) return indexes;
  SLIPWAY_TRY(roots, origin.roots(source.tag, {}));
  for (const TaggedRoot& root : roots.wanted)
    if (root.descriptor.media_type == media_type::kIndex || root.descriptor.media_type == media_type::kDockerList)
      indexes.push_back({{"tag", root.tag}, {"digest", root.descriptor.digest}});
  return indexes;
}

Result<Json> inspect(const Json& request, const Reporter& reporter) {
  SLIPWAY_TRY(opened, open_source(request, reporter));
  if (const std::string tag = text_at(request, "tag"); !tag.empty()) opened.source.tag = tag;
  opened.source.trust_unsigned = true;  // inspecting needs no trust
  SLIPWAY_TRY(read, read_catalogue(*opened.origin, opened.source, {}, reporter));
  Json value = to_json(read);
  SLIPWAY_TRY(indexes, indexes_of(*opened.origin, opened.source));
  value["indexes"] = std::move(indexes);
  return value;
}

using Operation = Result<Json> (*)(const Json&, const Reporter&);

const std::map<std::string_view, Operation>& operations() {
  static const std::map<std::string_view, Operation> all{{"catalogue", catalogue}, {"fetch", fetch}, {"stage", stage},
                                                         {"build", build},         {"push", push},   {"pull", pull},
                                                         {"inspect", inspect}};
  return all;
}

}  // namespace

bool is_operation(std::string_view op) { return operations().contains(op); }

Result<Json> answer(std::string_view op, const Json& request, const Reporter& reporter) {
  const auto found = operations().find(op);
  if (found == operations().end())
    return Error{.code = ErrorCode::unsupported,
                 .what = "the artifact worker knows no operation '" + std::string(op) + "'"};
  if (!request.is_object()) return missing("source", "the request is not a JSON object");
  return found->second(request, reporter);
}

}  // namespace slipway::artifact
