// SPDX-License-Identifier: Apache-2.0
#include <slipway/json.hpp>

#include "nvidia/cdi/text.hpp"

namespace slipway::nvidia::cdi {
namespace {

using Tree = nlohmann::ordered_json;  // members stay in the order of fields()

template <class T>
Tree tree_of(const T& value);

/// Collects the members of a struct that have a value.
struct Members {
  Tree tree = Tree::object();

  template <class T>
  void operator()(const char* name, const T& value) {
    if (value != T()) tree[name] = tree_of(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) tree[name] = tree_of(*value);
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& value) {
    for (const T& element : value) tree[name].push_back(tree_of(element));
  }
};

template <class T>
Tree tree_of(const T& value) {
  if constexpr (requires(Members & visit) { T::fields(value, visit); }) {
    Members members;
    T::fields(value, members);
    return std::move(members.tree);
  } else {
    return value;
  }
}

std::string scalar_text(const Tree& value) {
  return value.is_string() ? yaml_text(value.get_ref<const std::string&>()) : value.dump();
}

/// Returns the next multiple of four, which is two columns behind a dash.
std::size_t deeper(std::size_t indent) { return (indent / 4 + 1) * 4; }

/// Writes a map or list in block style. The first member of a list's element follows its dash.
void write_block(const Tree& tree, std::size_t indent, std::string& out) {
  bool behind_dash = out.ends_with("- ");
  for (const auto& [name, value] : tree.items()) {
    if (!behind_dash) out.append(indent, ' ');
    behind_dash = false;
    out += tree.is_array() ? "- " : yaml_text(name) + ":";
    if (!value.is_structured()) {
      out += (tree.is_array() ? "" : " ") + scalar_text(value) + "\n";
    } else if (tree.is_object()) {
      out += "\n";
      write_block(value, deeper(indent), out);
    } else if (value.empty()) {
      out += "{}\n";
    } else {
      write_block(value, indent + 2, out);
    }
  }
}

}  // namespace

std::string to_json_text(const Spec& spec) {
  return tree_of(spec).dump(-1, ' ', false, Tree::error_handler_t::replace);
}

std::string to_yaml(const Spec& spec) {
  std::string out = "---\n";
  write_block(tree_of(spec), 0, out);
  return out;
}

}  // namespace slipway::nvidia::cdi
