// SPDX-License-Identifier: Apache-2.0
#include "random_documents.hpp"

namespace slipway::merge {
namespace {

std::string dos(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return result;
}

}  // namespace

std::string RandomDocuments::word() {
  static const char* const words[] = {"nvidia", "runc", "/usr/bin/x", "a b",  "it's",
                                      "é",      "x#y",  "v1.2",       "k: v", "tab\there"};
  return words[below(std::size(words))];
}

std::string RandomDocuments::name() {
  static const char* const names[] = {"a", "b", "c", "log-level", "io.containerd.grpc", "with space", "Ünï", "d_1"};
  return names[below(std::size(names))];
}

/// Returns a new name for this table; `used` contains "|name|" for each existing one.
std::string RandomDocuments::fresh(std::string& used) {
  std::string made = name();
  while (used.find("|" + made + "|") != std::string::npos) made += std::to_string(below(10));
  used += "|" + made + "|";
  return made;
}

std::string RandomDocuments::comment() { return chance(30) ? "# " + word() + "\n" : chance(20) ? "\n" : ""; }

Json RandomDocuments::value(bool with_lists) {
  switch (below(with_lists ? 7 : 5)) {
    case 0:
      return static_cast<std::int64_t>(below(1000)) - 500;
    case 1:
      return chance(50);
    case 2:
      return 0.5 + static_cast<double>(below(100));
    case 3:
      return word();
    case 4:
      return std::string("quote\" back\\ line\n") + word();
    case 5:
      return Json::array({value(false), word()});
    default:
      return Json::object();
  }
}

Key RandomDocuments::key(const Json& document) {
  Key key;
  const Json* at = &document;
  while (at->is_object() && !at->empty() && chance(80)) {
    auto member = at->begin();
    std::advance(member, static_cast<std::ptrdiff_t>(below(at->size())));
    key.push_back(member.key());
    at = &*member;
    if (!at->is_object() && chance(60)) return key;
  }
  if (!at->is_object()) key.pop_back();
  for (std::size_t i = 0; i < 1 + below(3); ++i) key.push_back(chance(50) ? name() : "new" + std::to_string(below(3)));
  return key;
}

std::string RandomDocuments::text(const std::string& format) {
  std::string made = format == "json" ? json_text() : format == "toml" ? toml_text() : yaml_text();
  if (chance(15) && made.ends_with('\n')) made.pop_back();
  if (chance(15)) made = dos(made);
  if (chance(10)) made.insert(0, "\xef\xbb\xbf");
  return made;
}

std::string RandomDocuments::json_text() {
  static const std::string units[] = {"", "  ", "    ", "\t"};
  const std::string unit = units[below(4)];
  return json_value(3, "", unit) + (chance(80) ? "\n" : "");
}

std::string RandomDocuments::json_value(int depth, const std::string& indent, const std::string& unit) {
  if (depth < 3 && (depth == 0 || chance(50))) return value().dump();
  const bool lines = !unit.empty() && chance(90);
  const std::string inner = indent + unit;
  const std::string colon = chance(80) ? ": " : chance(50) ? ":" : " : ";
  const std::string comma = lines ? ",\n" + inner : chance(50) ? ", " : ",";
  std::string used;
  std::string members;
  const std::size_t count = below(4);
  for (std::size_t i = 0; i < count; ++i)
    members += (i == 0 ? "" : comma) + Json(fresh(used)).dump() + colon + json_value(depth - 1, inner, unit);
  if (count == 0) return chance(70) ? "{}" : lines ? "{\n" + indent + "}" : "{ }";
  return lines        ? "{\n" + inner + members + "\n" + indent + "}"
         : chance(20) ? "{ " + members + " }"
                      : "{" + members + "}";
}

std::string RandomDocuments::toml_value(int depth) {
  switch (below(depth > 0 ? 9 : 6)) {
    case 0:
      return std::to_string(below(100));
    case 1:
      return "true";
    case 2:
      return Json(word()).dump();
    case 3:
      return "'li\\teral'";
    case 4:
      return "1979-05-27T07:32:00Z";
    case 5:
      return "0xdead_beef";
    case 6:
      return chance(50) ? "[ 1, 2,3 ]" : "[\n  \"x\", # one\n  \"y\",\n]";
    case 7:
      return "\"\"\"\nmany # lines\n[not.a.table]\n\"\"\"";
    default:
      return chance(20) ? "{}" : chance(50) ? "{ x = " + toml_value(0) + ", y.z = 1 }" : "{x=" + toml_value(0) + "}";
  }
}

std::string RandomDocuments::toml_entries(const std::string& indent, int prefix) {
  std::string text;
  std::string used;
  const std::size_t count = below(4);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string key = fresh(used) + "-" + std::to_string(prefix);
    const bool bare =
        key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
    std::string left = bare && chance(80) ? key : Json(key).dump();
    if (chance(15)) left += chance(50) ? ".dot" : " . \"d.t\".deep";
    text +=
        comment() + indent + left + (chance(80) ? " = " : "=") + toml_value(1) + (chance(20) ? "  # why" : "") + "\n";
  }
  return text;
}

std::string RandomDocuments::toml_text() {
  std::string text = comment() + toml_entries("", 0);
  const std::size_t sections = below(5);
  for (std::size_t i = 0; i < sections; ++i) {
    const std::string tag = std::to_string(i);
    std::string header = "[s" + tag + "]";
    if (chance(40)) header = "[s" + tag + ".\"io.x/cri\".inner]";
    if (chance(15)) header = "[[list" + tag + "]]";
    if (i > 0 && chance(25)) header = "[s" + std::to_string(i - 1) + ".below" + tag + "]";
    const std::string indent = chance(25) ? "  " : "";
    text += comment() + indent + header + (chance(20) ? " # section" : "") + "\n" +
            toml_entries(indent + (chance(30) ? "  " : ""), static_cast<int>(i) + 1);
  }
  return text + comment();
}

std::string RandomDocuments::yaml_value(int depth, std::size_t indent) {
  const std::string pad(indent, ' ');
  switch (below(depth > 0 ? 13 : 8)) {
    case 0:
      return " " + std::to_string(below(100)) + "\n";
    case 1:
      return chance(50) ? " true\n" : " yes\n";
    case 2:
      return " " + Json(word()).dump() + "\n";
    case 3:
      return " 'it''s'   # why\n";
    case 4:
      return chance(50) ? "\n" : " ~\n";
    case 5:
      return chance(50) ? " [a, \"b, c\", {x: 1}]\n" : " [\n" + pad + "  a, # one\n" + pad + "  b\n" + pad + "]\n";
    case 6:
      return chance(30) ? " {}\n" : " {k: v, \"q\": [1, 2], n: 3}\n";
    case 7:
      return " plain text # trailing\n";
    case 8:
      return " |\n" + pad + "  block\n" + pad + "  # no comment\n\n" + pad + "  more\n";
    case 9:
      return " plain over\n" + pad + "  two lines\n";
    case 10:
      return "\n" + (chance(50) ? pad + "- one\n" + pad + "- k: v\n" + pad + "  l: w\n"
                                : pad + "  - one\n" + pad + "  -\n" + pad + "    k: v\n");
    default:
      return (chance(20) ? " # below\n" : "\n") + yaml_map(depth - 1, indent + (chance(70) ? 2 : 4));
  }
}

std::string RandomDocuments::yaml_map(int depth, std::size_t indent) {
  std::string text;
  std::string used;
  const std::size_t count = 1 + below(3);
  for (std::size_t i = 0; i < count; ++i) {
    std::string left = fresh(used);
    if (chance(20)) left = Json(left).dump();
    if (chance(20)) text += std::string(chance(70) ? indent : 0, ' ') + "# note\n";
    if (chance(10)) text += "\n";
    text += std::string(indent, ' ') + left + ":" + yaml_value(depth, indent);
  }
  return text;
}

std::string RandomDocuments::yaml_text() {
  if (chance(5)) return "# nothing yet\n";
  std::string text = chance(15) ? "---\n" : comment();
  text += yaml_map(3, 0);
  if (chance(20)) text += "\n# the end\n";
  return text;
}

}  // namespace slipway::merge
