// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "base/yaml/load.hpp"
#include "nvidia/cdi/text.hpp"

namespace slipway::nvidia::cdi {
namespace {

/// Limits far above the devices of one machine.
constexpr yaml::Limits kLimits{.bytes = kMaxSpecBytes, .values = 500'000, .scalars = 2 * kMaxSpecBytes, .depth = 32};

Error invalid(const std::string& what, const std::string& where) {
  return Error{ErrorCode::invalid,
               what,
               where,
               "the CDI specification (SPEC.md of the Container Device Interface) says what a spec holds",
               {}};
}

bool is_plain(const YAML::Node& node) { return node.IsScalar() && node.Tag() != "!"; }

/// Reads decimal, 0x…, 0o…, and, as in YAML 1.1, octal with a leading 0 (file modes).
bool to_number(std::string_view text, std::int64_t& into) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) base = 16;
  if (text.starts_with("0o")) base = 8;
  if (base != 10) text.remove_prefix(2);
  if (base == 10 && text.size() > 1 && text.front() == '0') base = 8;
  if (text.empty() || text.front() == '-' || text.front() == '+') return false;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  if (negative) into = -into;
  return problem == std::errc{} && end == text.data() + text.size();
}

/// True when text may follow the first document: it is in braces, or there is a marker ("---", "...") further down.
bool may_continue(std::string_view text) {
  bool begun = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const bool marker = line.starts_with("---") || line.starts_with("...");
    const auto first = line.find_first_not_of(" \t\r");
    if (marker && (begun || line.size() > 4)) return true;
    if (!begun && first != std::string_view::npos &&
        std::string_view("{[%!&*\xef").find(line[first]) != std::string_view::npos)
      return true;
    begun = begun || marker || (first != std::string_view::npos && line[first] != '#');
  }
  return false;
}

/// Fills the structs of spec.hpp from nodes; stops at the first problem.
class Reader {
 public:
  explicit Reader(std::string where) : where_(std::move(where)) {}

  template <class T>
  void object(const YAML::Node& node, T& into, const std::string& what) {
    if (!node.IsMap()) return fail(node, what + " is not a map");
    std::set<std::string> names;
    for (const auto& pair : node)
      if (!names.insert(pair.first.Scalar()).second)
        return fail(pair.first, "'" + pair.first.Scalar() + "' appears twice in " + what);
    const YAML::Node* const outer = node_;
    std::set<std::string>* const outer_names = names_;
    node_ = &node;
    names_ = &names;
    T::fields(into, *this);
    node_ = outer;
    names_ = outer_names;
    if (error_ || names.empty()) return;
    for (const auto& pair : node)
      if (names.contains(pair.first.Scalar()))
        return fail(pair.first, "unknown member '" + pair.first.Scalar() + "' in " + what);
  }

  template <class T>
  void operator()(const char* name, T& into) {
    if (error_) return;
    const YAML::Node value = (*node_)[name];
    names_->erase(name);
    if (value.IsDefined() && !value.IsNull()) read(value, into, name);
  }

  std::optional<Error> error() && { return std::move(error_); }

 private:
  void fail(const YAML::Node& node, const std::string& what) {
    if (!error_) error_ = invalid(what, yaml::place(where_, node.Mark()));
  }

  void read(const YAML::Node& node, std::string& into, const std::string& what) {
    if (!node.IsScalar()) return fail(node, what + " is not a string");
    if (is_plain(node) && reads_as_other_than_text(node.Scalar()))
      return fail(node, what + " is " + node.Scalar() + ", which YAML does not read as a string: put it in quotes");
    into = node.Scalar();
  }
  void read(const YAML::Node& node, std::int64_t& into, const std::string& what) {
    if (!is_plain(node) || !to_number(node.Scalar(), into)) fail(node, what + " is not a whole number");
  }
  void read(const YAML::Node& node, std::uint32_t& into, const std::string& what) {
    std::int64_t number = 0;
    read(node, number, what);
    if (number < 0 || number > std::numeric_limits<std::uint32_t>::max())
      return fail(node, what + " is not between 0 and 4294967295");
    into = static_cast<std::uint32_t>(number);
  }
  void read(const YAML::Node& node, bool& into, const std::string& what) {
    const bool yes = is_plain(node) && node.Scalar() == "true";
    if (!yes && !(is_plain(node) && node.Scalar() == "false")) return fail(node, what + " is neither true nor false");
    into = yes;
  }
  void read(const YAML::Node& node, Annotations& into, const std::string& what) {
    if (!node.IsMap()) return fail(node, what + " is not a map");
    for (const auto& pair : node) {
      std::string value;
      read(pair.second, value, what + "." + pair.first.Scalar());
      if (!into.emplace(pair.first.Scalar(), value).second)
        return fail(pair.first, "'" + pair.first.Scalar() + "' appears twice in " + what);
    }
  }
  template <class T>
  void read(const YAML::Node& node, std::optional<T>& into, const std::string& what) {
    read(node, into.emplace(), what);
  }
  template <class T>
  void read(const YAML::Node& node, std::vector<T>& into, const std::string& what) {
    if (!node.IsSequence()) return fail(node, what + " is not a list");
    for (const auto& element : node) {
      if (error_) return;
      read(element, into.emplace_back(), "an element of " + what);
    }
  }
  template <class T>
  void read(const YAML::Node& node, T& into, const std::string& what) {
    object(node, into, what);
  }

  std::string where_;
  const YAML::Node* node_ = nullptr;        ///< the current map
  std::set<std::string>* names_ = nullptr;  ///< its members that were not read yet
  std::optional<Error> error_;
};

}  // namespace

Result<Spec> parse(std::string_view text, const std::string& where) {
  if (text.size() > kMaxSpecBytes) return invalid("the CDI spec is larger than 16 MiB", where);
  try {
    const std::string bytes(text);
    if (may_continue(text) && yaml::count_documents(bytes) > 1)
      return invalid("a CDI spec is one YAML document, but something follows the first", where);
    const YAML::Node document = yaml::load(bytes, kLimits);
    if (document.IsNull()) return invalid("the CDI spec is empty", where);
    Spec spec;
    Reader reader(where);
    reader.object(document, spec, "the CDI spec");
    if (auto error = std::move(reader).error()) return *error;
    return spec;
  } catch (const YAML::Exception& problem) {
    return invalid("the CDI spec " + yaml::problem_text(problem), yaml::place(where, problem.mark));
  }
}

Result<Spec> parse_and_validate(std::string_view text, const std::string& where) {
  SLIPWAY_TRY(spec, parse(text, where));
  SLIPWAY_CHECK(validate(spec, where));
  return spec;
}

}  // namespace slipway::nvidia::cdi
