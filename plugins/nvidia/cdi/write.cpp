// SPDX-License-Identifier: Apache-2.0
#include <slipway/json.hpp>

#include "nvidia/cdi/text.hpp"

namespace slipway::nvidia::cdi {
namespace {

std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Writes values as compact JSON.
class JsonWriter {
 public:
  template <class T>
  void object(const T& value) {
    out_ += '{';
    bool first = true;
    const auto outer = first_;
    first_ = &first;
    T::fields(value, *this);
    first_ = outer;
    out_ += '}';
  }

  void operator()(const char* name, const std::string& value) {
    if (!value.empty()) member(name) += json_text(value);
  }
  void operator()(const char* name, std::int64_t value) {
    if (value != 0) member(name) += std::to_string(value);
  }
  void operator()(const char* name, bool value) {
    if (value) member(name) += "true";
  }
  void operator()(const char* name, const Annotations& value) {
    if (value.empty()) return;
    char joint = '{';
    member(name);
    for (const auto& [key, text] : value) {
      out_ += joint + json_text(key) + ":" + json_text(text);
      joint = ',';
    }
    out_ += '}';
  }
  void operator()(const char* name, const Edits& value) {
    if (value.empty()) return;
    member(name);
    object(value);
  }
  void operator()(const char* name, const std::optional<IntelRdt>& value) {
    if (!value) return;
    member(name);
    object(*value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) member(name) += std::to_string(*value);
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& value) {
    if (value.empty()) return;
    member(name) += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out_ += ',';
      element(value[i]);
    }
    out_ += ']';
  }

  std::string text() && { return std::move(out_); }

 private:
  std::string& member(const char* name) {
    if (!*first_) out_ += ',';
    *first_ = false;
    return ((out_ += '"') += name) += "\":";
  }
  void element(const std::string& value) { out_ += json_text(value); }
  void element(std::uint32_t value) { out_ += std::to_string(value); }
  template <class T>
  void element(const T& value) {
    object(value);
  }

  std::string out_;
  bool* first_ = nullptr;  ///< nothing was written yet into the object at hand
};

/// Writes values as YAML in block style. The first member of a list's element stands behind its dash.
class YamlWriter {
 public:
  void operator()(const char* name, const std::string& value) {
    if (!value.empty()) line(name, yaml_text(value));
  }
  void operator()(const char* name, std::int64_t value) {
    if (value != 0) line(name, std::to_string(value));
  }
  void operator()(const char* name, bool value) {
    if (value) line(name, "true");
  }
  void operator()(const char* name, const Annotations& value) {
    if (value.empty()) return;
    line(name, {});
    one_deeper([&] {
      for (const auto& [key, text] : value) line(yaml_text(key), yaml_text(text));
    });
  }
  void operator()(const char* name, const Edits& value) {
    if (!value.empty()) nested(name, value);
  }
  void operator()(const char* name, const std::optional<IntelRdt>& value) {
    if (value) nested(name, *value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) line(name, std::to_string(*value));
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& value) {
    if (value.empty()) return;
    line(name, {});
    one_deeper([&] {
      for (const T& element : value) this->element(element);
    });
  }

  std::string text() && { return std::move(out_); }

 private:
  static constexpr std::size_t kStep = 4;

  /// One level deeper: at the next multiple of the step, which is two columns on from behind a dash.
  static std::size_t deeper(std::size_t indent) { return (indent / kStep + 1) * kStep; }
  template <class Write>
  void one_deeper(Write write) {
    const std::size_t outer = indent_;
    indent_ = deeper(indent_);
    write();
    indent_ = outer;
  }

  void line(const std::string& name, const std::string& value) {
    begin();
    out_ += name + (value.empty() ? ":" : ": " + value) + "\n";
  }
  void begin() {
    if (!behind_dash_) out_.append(indent_, ' ');
    behind_dash_ = false;
  }
  void dash() {
    out_.append(indent_, ' ');
    out_ += "- ";
  }
  template <class T>
  void nested(const char* name, const T& value) {
    line(name, {});
    one_deeper([&] { T::fields(value, *this); });
  }
  void element(const std::string& value) {
    dash();
    out_ += yaml_text(value) + "\n";
  }
  void element(std::uint32_t value) {
    dash();
    out_ += std::to_string(value) + "\n";
  }
  template <class T>
  void element(const T& value) {
    const std::size_t before = out_.size() + indent_ + 2;
    dash();
    behind_dash_ = true;
    indent_ += 2;
    T::fields(value, *this);
    indent_ -= 2;
    behind_dash_ = false;
    if (out_.size() == before) out_ += "{}\n";
  }

  std::string out_;
  std::size_t indent_ = 0;
  bool behind_dash_ = false;
};

}  // namespace

std::string to_json_text(const Spec& spec) {
  JsonWriter writer;
  writer.object(spec);
  return std::move(writer).text();
}

std::string to_yaml(const Spec& spec) {
  YamlWriter writer;
  Spec::fields(spec, writer);
  return "---\n" + std::move(writer).text();
}

}  // namespace slipway::nvidia::cdi
