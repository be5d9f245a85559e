// SPDX-License-Identifier: Apache-2.0
#include <slipway/text.hpp>

#include "core/loader/schema/type_names.hpp"
#include "core/loader/schema/types.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {
namespace {

using Kind = base::YamlNode::Kind;

constexpr std::string_view kGroup = "slipway.dev/";
constexpr const char* kHead = "begin the file with 'apiVersion: slipway.dev/v1' and 'kind: Host'";

SchemaKey key_of(SchemaKey::Type type, bool required) {
  SchemaKey key;
  key.type = type;
  key.required = required;
  return key;
}

Error wrong(ErrorCode code, const std::string& file, base::Position position, std::string what, std::string next) {
  return Error{code, std::move(what), base::to_text(file, position), std::move(next), {}};
}

/// Returns the number of "slipway.dev/v2"; 0 for anything else.
std::int64_t version_of(const std::string& api_version) {
  if (!api_version.starts_with(kGroup) || api_version.substr(kGroup.size(), 1) != "v") return 0;
  return parse_integer(api_version.substr(kGroup.size() + 1)).value_or(0);
}

Status check_api_version(const base::YamlEntry& entry, const std::string& file) {
  const std::string& text = entry.value.text;
  if (text == kApiVersion) return {};
  if (version_of(text) > 1)
    return wrong(ErrorCode::unsupported, file, entry.value.position,
                 "this spec needs a newer slipway: its apiVersion is " + text + ", this slipway reads " + kApiVersion,
                 "update slipway, or write the spec for " + std::string(kApiVersion));
  return wrong(ErrorCode::invalid, file, entry.value.position,
               std::string("apiVersion: expected ") + kApiVersion + ", found " + found(entry.value), kHead);
}

}  // namespace

const SchemaKey& host_spec_schema() {
  static const SchemaKey schema = [] {
    SchemaKey name = key_of(SchemaKey::Type::string, true);
    name.pattern = "[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?";
    name.expects = "lower-case letters, digits, - and . (at most 253), a letter or digit first and last";
    name.example = "gpu-node";
    SchemaKey hardware = key_of(SchemaKey::Type::enumeration, false);
    hardware.values = {"assume", "require", "detect"};
    hardware.help =
        "What an absent GPU means. detect: there is nothing to do; assume: a GPU will be there; require: an error, and "
        "always an error in an image. For a fleet, `expect` gives the number of GPUs. Default: assume in an image, "
        "detect on a running host.";
    SchemaKey on_failed_verify = key_of(SchemaKey::Type::enumeration, false);
    on_failed_verify.values = {"rollback", "keep"};
    on_failed_verify.help =
        "What happens to a component that an apply changed and that does not work afterwards. rollback: the component "
        "returns to its state in the active generation; keep: the change stays. Default: rollback.";
    SchemaKey boot_gate = key_of(SchemaKey::Type::boolean, false);
    boot_gate.help =
        "true: a boot counts as good only when slipway has verified it. boot-complete.target then requires "
        "slipway-verify.service, and boot loaders that count boots, such as systemd-boot, and rauc return to the "
        "previous system by themselves. Default: false.";
    SchemaKey metadata = key_of(SchemaKey::Type::object, true);
    metadata.keys = {{"name", name}};
    SchemaKey spec = key_of(SchemaKey::Type::object, true);
    spec.keys = {{"hardware", hardware},
                 {"expect", expected_gpus_schema()},
                 {"on_failed_verify", on_failed_verify},
                 {"boot_gate", boot_gate},
                 {"components", key_of(SchemaKey::Type::map, true)}};
    SchemaKey document = key_of(SchemaKey::Type::object, true);
    document.keys = {{"apiVersion", key_of(SchemaKey::Type::string, true)},
                     {"kind", key_of(SchemaKey::Type::string, true)},
                     {"metadata", metadata},
                     {"spec", spec}};
    return document;
  }();
  return schema;
}

Status check_kind(const base::YamlNode& document, const std::string& file) {
  if (document.kind != Kind::map)
    return wrong(ErrorCode::invalid, file, document.position,
                 "expected a host spec (a map with apiVersion, kind, metadata and spec), found " + found(document),
                 kHead);
  const base::YamlEntry* kind = document.find("kind");
  const base::YamlEntry* api_version = document.find("apiVersion");
  const auto text = [](const base::YamlEntry* entry) { return entry == nullptr ? std::string() : entry->value.text; };
  const bool foreign = !text(kind).empty() && text(kind) != kHostKind && !text(api_version).empty() &&
                       !text(api_version).starts_with(kGroup);
  if (foreign)
    return wrong(ErrorCode::unsupported, file, kind->value.position,
                 "kind " + text(kind) + " (" + text(api_version) + ") is not imported by this version of slipway",
                 "write a spec of kind Host; `slipway init` prints a template");
  for (const auto& [name, entry] : {std::pair{"apiVersion", api_version}, std::pair{"kind", kind}})
    if (entry == nullptr || entry->value.kind != Kind::scalar)
      return wrong(ErrorCode::invalid, file, entry == nullptr ? document.position : entry->value.position,
                   "the key '" + std::string(name) + "' is missing, so this is not a host spec", kHead);
  SLIPWAY_CHECK(check_api_version(*api_version, file));
  if (kind->value.text != kHostKind)
    return wrong(ErrorCode::invalid, file, kind->value.position,
                 "kind: expected Host, found " + found(kind->value) + did_you_mean(kind->value.text, {kHostKind}),
                 kHead);
  return {};
}

}  // namespace slipway::core
