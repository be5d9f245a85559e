// SPDX-License-Identifier: Apache-2.0
#include "cli/explain/explain.hpp"

#include <sstream>

#include <slipway/text.hpp>

#include "app/engine.hpp"
#include "core/loader/schema/type_names.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::cli {
namespace {

using Type = core::SchemaKey::Type;

constexpr std::size_t kLineWidth = 76;
constexpr const char* kIndent = "    ";

/// Writes the words of a text in lines of at most kLineWidth, indented.
void wrapped(std::ostream& out, const std::string& text) {
  std::istringstream words(text);
  std::string line, word;
  while (words >> word) {
    if (!line.empty() && line.size() + word.size() >= kLineWidth) {
      out << kIndent << line << '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) out << kIndent << line << '\n';
}

std::string type_in_words(const core::SchemaKey& schema) {
  std::string text =
      schema.type == Type::enumeration ? listed(schema.values, "or") : std::string(core::type_name(schema.type));
  if ((schema.type == Type::list || schema.type == Type::map) && !schema.items.empty())
    text += " of " + type_in_words(schema.items.front());
  return text;
}

void print_key(std::ostream& out, const std::string& name, const core::SchemaKey& schema);

void print_keys(std::ostream& out, const std::string& prefix, const std::map<std::string, core::SchemaKey>& keys) {
  for (const auto& [name, child] : keys) print_key(out, prefix.empty() ? name : prefix + "." + name, child);
}

void print_children(std::ostream& out, const std::string& name, const core::SchemaKey& schema) {
  if (schema.type == Type::object) print_keys(out, name, schema.keys);
  if (schema.items.empty()) return;
  print_children(out, name + (schema.type == Type::list ? "[]" : ".NAME"), schema.items.front());
}

void print_key(std::ostream& out, const std::string& name, const core::SchemaKey& schema) {
  out << '\n' << name << " (" << type_in_words(schema);
  if (schema.required) out << "; required";
  if (!schema.default_value.is_null()) out << "; default " << core::flow_yaml(schema.default_value);
  if (const std::string limits = core::bounds(schema); !limits.empty()) out << "; " << limits;
  out << ")\n";
  wrapped(out, schema.help);
  if (!schema.deprecated.empty()) wrapped(out, "is deprecated: " + schema.deprecated);
  if (!schema.formerly.empty()) wrapped(out, "formerly called " + listed(schema.formerly, "and"));
  if (!schema.expects.empty())
    wrapped(out, "takes " + schema.expects);
  else if (!schema.pattern.empty())
    out << kIndent << "fits:    " << schema.pattern << '\n';
  if (!schema.example.empty()) out << kIndent << "example: " << core::flow_yaml(core::example_value(schema)) << '\n';
  print_children(out, name, schema);
}

void print_list(std::ostream& out, const char* label, const std::vector<std::string>& names) {
  if (!names.empty()) out << "  " << label << ": " << listed(names, "and") << '\n';
}

/// Returns the schema's keys: those of an object, of the elements of a list or map, or of an artifact source.
const std::map<std::string, core::SchemaKey>* keys_of(const core::SchemaKey& schema) {
  if (schema.type == Type::object) return &schema.keys;
  if (schema.type == Type::artifact_source) return &core::artifact_source_schema().keys;
  return schema.items.empty() ? nullptr : keys_of(schema.items.front());
}

Error no_such_key(const std::string& component, const std::string& path, const std::string& name,
                  const std::map<std::string, core::SchemaKey>* keys) {
  std::vector<std::string> known;
  if (keys != nullptr)
    for (const auto& [key, schema] : *keys) known.push_back(key);
  const std::string owner = path.empty() ? component : component + "." + path;
  return Error{ErrorCode::usage,
               owner + " has no key '" + name + "'" + did_you_mean(name, known),
               owner,
               known.empty() ? "" : "its keys are " + listed(known, "and"),
               {}};
}

/// Returns the schema of a dotted key.
Result<const core::SchemaKey*> find_key(const core::Manifest& manifest, const std::string& key) {
  const core::SchemaKey* schema = &manifest.spec;
  std::string path;
  std::istringstream names(key);
  for (std::string name; std::getline(names, name, '.');) {
    const auto* keys = keys_of(*schema);
    if (keys == nullptr || keys->count(name) == 0) return no_such_key(manifest.component, path, name, keys);
    schema = &keys->at(name);
    path += (path.empty() ? "" : ".") + name;
  }
  return schema;
}

Json key_json(const core::SchemaKey& schema);

Json keys_json(const std::map<std::string, core::SchemaKey>& keys) {
  Json value = Json::object();
  for (const auto& [name, child] : keys) value[name] = key_json(child);
  return value;
}

Json key_json(const core::SchemaKey& schema) {
  Json value{{"type", core::type_name(schema.type)}, {"required", schema.required}};
  if (!schema.help.empty()) value["help"] = schema.help;
  if (!schema.default_value.is_null()) value["default"] = schema.default_value;
  if (const Json example = core::example_value(schema); !example.is_null()) value["example"] = example;
  if (!schema.pattern.empty()) value["pattern"] = schema.pattern;
  if (!schema.expects.empty()) value["expects"] = schema.expects;
  if (!schema.values.empty()) value["values"] = schema.values;
  if (schema.least) value["least"] = *schema.least;
  if (schema.most) value["most"] = *schema.most;
  if (!schema.formerly.empty()) value["formerly"] = schema.formerly;
  if (!schema.deprecated.empty()) value["deprecated"] = schema.deprecated;
  if (!schema.items.empty()) value["items"] = key_json(schema.items.front());
  if (schema.type == Type::object) value["keys"] = keys_json(schema.keys);
  if (schema.type == Type::artifact_source) value["keys"] = keys_json(core::artifact_source_schema().keys);
  return value;
}

}  // namespace

Result<std::string> explain(const core::Manifest& manifest, const std::string& key) {
  std::ostringstream out;
  if (key.empty()) {
    out << manifest.component << ": " << manifest.purpose << '\n';
    print_list(out, "provides", manifest.provides);
    print_list(out, "requires", manifest.requires_);
    print_list(out, "comes after", manifest.after);
    print_list(out, "excludes", manifest.conflicts);
    for (const auto& [name, type] : manifest.outputs) out << "  output: " << name << " (" << type << ")\n";
    print_keys(out, "", manifest.spec.keys);
    return out.str();
  }
  SLIPWAY_TRY(schema, find_key(manifest, key));
  print_key(out, manifest.component + "." + key, *schema);
  if (schema->type == Type::artifact_source)
    print_keys(out, manifest.component + "." + key, core::artifact_source_schema().keys);
  return out.str().substr(1);  // without the empty line that separates keys
}

Result<Json> explain_json(const core::Manifest& manifest, const std::string& key) {
  if (key.empty())
    return Json{{"component", manifest.component}, {"purpose", manifest.purpose},
                {"provides", manifest.provides},   {"requires", manifest.requires_},
                {"after", manifest.after},         {"conflicts", manifest.conflicts},
                {"outputs", manifest.outputs},     {"keys", keys_json(manifest.spec.keys)}};
  SLIPWAY_TRY(schema, find_key(manifest, key));
  return Json{{"component", manifest.component}, {"key", key}, {"schema", key_json(*schema)}};
}

}  // namespace slipway::cli
