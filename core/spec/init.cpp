// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <slipway/text.hpp>

#include "core/loader/schema/check.hpp"
#include "core/loader/schema/type_names.hpp"
#include "core/spec/document.hpp"
#include "core/spec/yaml_value.hpp"

namespace slipway::core {
namespace {

using Type = SchemaKey::Type;

constexpr std::size_t kCommentWidth = 110;

/// Replaces control characters, which YAML does not allow, not even in a comment.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') c = ' ';
  return text;
}

void print_comment(std::ostream& out, const std::string& indent, const std::string& text) {
  std::istringstream words(printable(text));
  std::string line, word;
  while (words >> word) {
    if (!line.empty() && indent.size() + line.size() + word.size() >= kCommentWidth) {
      out << indent << "# " << line << '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) out << indent << "# " << line << '\n';
}

bool fits(const Json& value, const SchemaKey& schema, const std::string& name) {
  SchemaCheck check("suggestion");
  check_value(base::yaml_from_json(value), schema, name, check);
  return check.problems.none();
}

/// Describes a key in a sentence or two: its help, and the values of an enumeration.
std::string about(const SchemaKey& schema) {
  if (schema.type != Type::enumeration) return schema.help;
  return schema.help + (schema.help.empty() ? "" : " ") + "Values: " + listed(schema.values, "or") + ".";
}

void print_key(std::ostream& out, const std::string& indent, const std::string& name, const SchemaKey& schema,
               const Json& suggestion) {
  print_comment(out, indent, about(schema));
  if (!suggestion.is_null() && fits(suggestion, schema, name)) {
    out << indent << name << ": " << flow_yaml(suggestion) << '\n';
    return;
  }
  const Json value = first_value(schema);
  if (schema.required)
    out << indent << name << ": " << flow_yaml(value) << "  # change this: it is only an example\n";
  else if (!value.is_null())
    out << indent << "# " << name << ": " << flow_yaml(value) << '\n';
  else
    out << indent << "# (optional: " << name << ", " << expected(schema) << ")\n";
}

void print_component(std::ostream& out, const Manifest& manifest, const Json& suggested) {
  out << '\n';
  print_comment(out, "    ", manifest.purpose);
  out << "    " << manifest.component << ":\n";
  const std::string indent = "      ";
  for (const bool required : {true, false})
    for (const auto& [name, schema] : manifest.spec.keys)
      if (schema.required == required && (required || schema.deprecated.empty()))  // a first spec has no deprecated key
        print_key(out, indent, name, schema, suggested.is_object() ? suggested.value(name, Json()) : Json());
}

void print_expect(std::ostream& out, const ExpectedGpus& found) {
  print_comment(out, "  ", "The GPUs that this host must have. When one is missing, verify, doctor and status fail.");
  if (found.count == 0) {
    out << "  # expect: {gpus: 8}\n";
    return;
  }
  out << "  expect:\n    gpus: " << found.count << '\n';
  if (!found.product.empty()) out << "    product: " << flow_yaml(found.product) << '\n';
  out << "    addresses:\n";
  for (const std::string& address : found.addresses) out << "      - " << flow_yaml(address) << '\n';
}

}  // namespace

std::string init_text(const std::vector<const Manifest*>& manifests, const std::map<std::string, Json>& suggested,
                      const std::string& name, const ExpectedGpus& gpus) {
  std::ostringstream out;
  out << "# What this host should be. `slipway plan` shows what that would change, `slipway apply` does it.\n"
         "# Keys behind a # are optional and show their default or an example; `slipway explain COMPONENT` tells "
         "more.\n"
      << "apiVersion: " << kApiVersion << "\nkind: " << kHostKind << "\nmetadata:\n  name: " << flow_yaml(name)
      << "\nspec:\n"
         "  # Must the devices be there? Without this key they are assumed in an image and looked for on a running "
         "host.\n"
         "  # No image can be built with `require`; `expect` says how many GPUs a host must have.\n"
         "  # hardware: require\n";
  print_expect(out, gpus);
  out << (manifests.empty() ? "  components: {}\n" : "  components:\n");
  for (const Manifest* manifest : manifests) {
    const auto found = suggested.find(manifest->component);
    print_component(out, *manifest, found != suggested.end() ? found->second : Json());
  }
  return out.str();
}

}  // namespace slipway::core
