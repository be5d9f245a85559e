// SPDX-License-Identifier: Apache-2.0
#include "app/report/redactor.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <slipway/text.hpp>

namespace slipway::app {
namespace {

constexpr std::size_t kShortest = 6;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Decodes "p%40ss" to its usual form.
std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    plain += coded ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (coded) i += 2;
  }
  return plain;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_option_of_a_secret(const Json& word) {
  return word.is_string() && is_secret_option(word.get_ref<const std::string&>());
}

bool is_option_of_a_secret(const base::YamlNode& word) {
  return word.kind == base::YamlNode::Kind::scalar && is_secret_option(word.text);
}

bool has_the_name_of_a_secret(const base::YamlNode& node) {
  return std::ranges::any_of(node.entries, [](const base::YamlEntry& entry) {
    return entry.value.kind == base::YamlNode::Kind::scalar && is_key_of_a_name(entry.key) &&
           is_secret_name(entry.value.text);
  });
}

/// @param named  the result of has_the_name_of_a_secret() for its map
bool is_secret_entry(const base::YamlEntry& entry, bool named) {
  return is_secret_name(entry.key) || (named && is_key_of_a_value(entry.key));
}

}  // namespace

void Redactor::learn_secret(std::string_view secret) {
  const auto keep = [this](std::string_view text) {
    if (text.size() < kShortest || text.find(kRedacted) != std::string_view::npos || too_many_) return;
    too_many_ = bytes_ + text.size() > kMostBytes;
    if (too_many_ || !secrets_.emplace(text).second) return;
    bytes_ += text.size();
    search_.reset();
  };
  const auto keep_with_password = [&](std::string_view text) {
    keep(text);
    if (const auto colon = text.find(':'); colon != std::string_view::npos) keep(text.substr(colon + 1));
  };
  keep_with_password(secret);
  keep_with_password(percent_decoded(secret));
  if (secret.find('\n') != std::string_view::npos)  // messages may quote single lines of it
    for (const std::string_view line : lines_of<std::string_view>(secret)) keep(trimmed(line));
  const auto plain = base64_decoded(secret.substr(0, secret.find('=')));
  if (plain && is_printable(*plain)) keep_with_password(*plain);
}

void Redactor::learn_json(const Json& value) {
  if (value.is_string()) return learn(value.get_ref<const std::string&>());
  bool after_option = false;
  if (value.is_array())
    for (const Json& member : value) {
      if (after_option && member.is_string()) learn_secret(member.get_ref<const std::string&>());
      learn_json(member);
      after_option = is_option_of_a_secret(member);
    }
  if (!value.is_object()) return;
  const bool named = names_a_secret(value);
  for (const auto& [key, member] : value.items()) {
    if (member.is_string() && (is_secret_name(key) || (named && is_key_of_a_value(key))))
      learn_secret(member.get_ref<const std::string&>());
    else
      learn_json(member);
  }
}

void Redactor::learn(std::string_view text) {
  const Json value = parse_foreign(text);
  if (value.is_structured()) return learn_json(value);
  for (const SecretSpan& span : find_secrets(text)) learn_secret(text.substr(span.begin, span.end - span.begin));
}

void Redactor::learn_node(const base::YamlNode& node, bool is_secret) {
  if (node.kind == base::YamlNode::Kind::scalar) return is_secret ? learn_secret(node.text) : learn(node.text);
  bool after_option = false;
  for (const base::YamlNode& item : node.items) {
    learn_node(item, is_secret || after_option);
    after_option = is_option_of_a_secret(item);
  }
  const bool named = has_the_name_of_a_secret(node);
  for (const base::YamlEntry& entry : node.entries) learn_node(entry.value, is_secret || is_secret_entry(entry, named));
}

void Redactor::learn_yaml(std::string_view text) {
  const auto documents = base::read_yaml(text, "");
  if (!documents) return learn(text);
  for (const base::YamlNode& document : *documents) learn_node(document, false);
}

namespace {

void replace_all(const std::vector<SecretSpan>& spans, std::string& text) {
  if (spans.empty()) return;
  std::string fresh;
  std::size_t at = 0;
  for (const SecretSpan& span : spans) {
    fresh.append(text, at, span.begin - at).append(Redactor::kRedacted);
    at = span.end;
  }
  text = fresh.append(text, at);
}

/// True for text that may be unquoted: none of its characters has a meaning in YAML.
bool is_plain(std::string_view text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_./+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, plain);
}

std::string yaml_scalar(const std::string& text, bool quoted) {
  return !quoted && is_plain(text) ? text : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void Redactor::print_node(const base::YamlNode& node, std::size_t indent, bool is_secret, std::string& text) const {
  const std::string before = "\n" + std::string(indent, ' ');
  if (node.kind == base::YamlNode::Kind::null) {
    text += "null";
  } else if (node.kind == base::YamlNode::Kind::scalar) {
    const bool is_word = !node.quoted && (node.text == "true" || node.text == "false");
    const bool hides = is_secret && !is_word && !node.text.empty();
    text += hides ? yaml_scalar(std::string(kRedacted), true) : yaml_scalar(redact_text(node.text), node.quoted);
  } else if (node.items.empty() && node.entries.empty()) {
    text += node.kind == base::YamlNode::Kind::list ? "[]" : "{}";
  }
  bool after_option = false;
  for (const base::YamlNode& item : node.items) {
    text += before + "- ";
    print_node(item, indent + 2, is_secret || after_option, text);
    after_option = is_option_of_a_secret(item);
  }
  const bool named = has_the_name_of_a_secret(node);
  for (const base::YamlEntry& entry : node.entries) {
    text += before + yaml_scalar(redact_text(entry.key), false) + ": ";
    print_node(entry.value, indent + 2, is_secret || is_secret_entry(entry, named), text);
  }
}

std::string Redactor::redact_yaml(std::string_view text) const {
  if (too_many_) return redact(text);
  const auto documents = base::read_yaml(text, "");
  if (!documents) {
    const Error& error = documents.error();
    return "# left out: slipway does not read this as YAML (" + redact_text(error.what) +
           (error.where.empty() ? "" : ", at line " + error.where.substr(1)) + ")\n";
  }
  std::string printed;
  for (const base::YamlNode& document : *documents) {
    if (documents->size() > 1) printed += "---";
    print_node(document, 0, false, printed);
    printed += "\n";
  }
  return printed;
}

std::string Redactor::redact_text(std::string text) const {
  if (!search_) search_.emplace(secrets_);
  replace_all(search_->find(text), text);
  replace_all(find_secrets(text), text);
  return text;
}

namespace {

/// Replaces the whole value, because its key is the name of a secret.
Json redacted(const Json& value) {
  if (value.is_object() || value.is_array()) {
    Json copy = value;
    for (Json& member : copy) member = redacted(member);
    return copy;
  }
  if (value.is_string() && value.get_ref<const std::string&>().empty()) return value;
  return value.is_null() || value.is_boolean() ? value : Json(std::string(Redactor::kRedacted));
}

}  // namespace

Json Redactor::redact_json(const Json& value) const {
  if (value.is_string()) return redact_text(value.get<std::string>());
  if (value.is_array()) {
    Json copy = Json::array();
    bool after_option = false;
    for (const Json& member : value) {
      copy.push_back(after_option ? redacted(member) : redact_json(member));
      after_option = is_option_of_a_secret(member);
    }
    return copy;
  }
  if (!value.is_object()) return value;
  Json copy = Json::object();
  const bool named = names_a_secret(value);
  for (const auto& [key, member] : value.items())
    copy[redact_text(key)] =
        is_secret_name(key) || (named && is_key_of_a_value(key)) ? redacted(member) : redact_json(member);
  return copy;
}

std::string Redactor::redact(std::string_view text) const {
  if (too_many_) return "[left out: there are more secrets than slipway can look for]\n";
  const Json value = parse_foreign(text);
  return value.is_structured() ? pretty(redact_json(value)) : redact_text(std::string(text));
}

}  // namespace slipway::app
