// SPDX-License-Identifier: Apache-2.0
#include <slipway/inputs.hpp>

#include "src/text/read.hpp"

namespace slipway {
namespace {

CatalogueEntry entry_from(const Json& value) {
  CatalogueEntry entry;
  entry.digest = detail::text_at(value, "digest");
  entry.tag = detail::text_at(value, "tag");
  entry.artifact_type = detail::text_at(value, "artifactType");
  const Json* annotations = detail::member(value, "annotations");
  entry.annotations = annotations != nullptr && annotations->is_object() ? *annotations : Json::object();
  const Json* layers = detail::member(value, "layers");
  entry.layers = layers != nullptr && layers->is_array() ? *layers : Json::array();
  return entry;
}

Target target_from(const Json& value) {
  Target target;
  target.kernel_release = detail::text_at(value, "kernel_release");
  target.kernel_problem = detail::value_or_null(detail::member(value, "kernel_problem"));
  target.live = detail::flag_at(value, "live");
  target.arch = detail::text_at(value, "arch");
  target.hardware = detail::text_at(value, "hardware");
  if (const std::string program = detail::text_at(value, "slipway"); !program.empty()) target.slipway = program;
  return target;
}

}  // namespace

std::string CatalogueEntry::annotation(std::string_view key) const { return detail::text_at(annotations, key); }

Json CatalogueEntry::layer(std::string_view role) const {
  for (const Json& layer : layers) {
    const Json* notes = detail::member(layer, "annotations");
    if (notes != nullptr && detail::text_at(*notes, "dev.slipway.layer") == role) return layer;
  }
  return nullptr;
}

Error needs_tags(const Catalogue& catalogue, const std::vector<std::string>& prefixes) {
  Error error{.code = ErrorCode::needs_catalogue,
              .what = "the lock does not say which artifacts to use from " + catalogue.source,
              .where = catalogue.source,
              .next = "let this host reach the source once, so that the lock can be written"};
  for (const std::string& prefix : prefixes) error.details.emplace_back("tag_prefix", prefix);
  if (prefixes.empty()) error.details.emplace_back("tags", "names");
  return error;
}

Inputs::Inputs(Json value)
    : value_(std::move(value)), target_(target_from(detail::value_or_null(detail::member(value_, "target")))) {}

Json Inputs::output(std::string_view component, std::string_view name) const {
  const Json* outputs = detail::member(value_, "outputs");
  const Json* of_component = outputs == nullptr ? nullptr : detail::member(*outputs, component);
  return of_component == nullptr ? Json() : detail::value_or_null(detail::member(*of_component, name));
}

Result<Catalogue> Inputs::catalogue(std::string_view spec_key) const {
  const Json* catalogues = detail::member(value_, "catalogues");
  const Json* value = catalogues == nullptr ? nullptr : detail::member(*catalogues, spec_key);
  if (value == nullptr || !value->is_object())
    return Error{.code = ErrorCode::not_found,
                 .what = "no artifact source is given",
                 .where = std::string(spec_key),
                 .next = "name one in the spec: `" + std::string(spec_key) + ": {repository: \"oci://HOST/NAME\"}`"};
  Catalogue catalogue{.source = detail::text_at(*value, "source"), .entries = {}};
  const Json* complete = detail::member(*value, "complete");
  catalogue.complete = complete == nullptr || detail::true_or_false(complete);
  const Json* unread = detail::member(*value, "unread");
  if (unread != nullptr && unread->is_array())
    for (const Json& tag : *unread)
      if (tag.is_string()) catalogue.unread.push_back(tag);
  const Json* entries = detail::member(*value, "entries");
  if (entries == nullptr || !entries->is_array()) return catalogue;
  for (const Json& item : *entries) catalogue.entries.push_back(entry_from(item));
  return catalogue;
}

}  // namespace slipway
