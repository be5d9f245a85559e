// SPDX-License-Identifier: Apache-2.0
#include "core/action/unit/unit_file.hpp"

#include <array>
#include <set>
#include <sstream>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

using Links = std::map<std::string, std::string>;

constexpr std::array kSearched{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
                               "/usr/lib/systemd/system", "/lib/systemd/system"};

/// Returns the lines of a unit file: continued ones joined, comments and empty ones left out.
std::vector<std::string> logical_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::string whole;
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    const std::string bare(trimmed(line));
    if (bare.starts_with('#') || bare.starts_with(';')) continue;  // also between continued lines
    if (bare.ends_with('\\')) {
      whole += bare.substr(0, bare.size() - 1) + " ";
      continue;
    }
    whole += bare;
    if (!whole.empty()) lines.push_back(whole);
    whole.clear();
  }
  if (!whole.empty()) lines.push_back(whole);
  return lines;
}

/// Adds words to a list that spans several lines; an empty value clears it.
void add_words(std::vector<std::string>& list, const std::string& value) {
  if (value.empty()) list.clear();
  std::istringstream words(value);
  for (std::string word; words >> word;) list.push_back(word);
}

/// The parts "a", "b", ".service" of "a@b.service"; the instance is empty without an "@".
struct UnitName {
  std::string prefix;
  std::string instance;
  std::string suffix;
  bool templated = false;

  explicit UnitName(const std::string& unit) {
    const std::size_t dot = unit.rfind('.');
    suffix = dot == std::string::npos ? "" : unit.substr(dot);
    prefix = unit.substr(0, dot);
    const std::size_t at = prefix.find('@');
    templated = at != std::string::npos;
    if (!templated) return;
    instance = prefix.substr(at + 1);
    prefix.resize(at);
  }
  std::string full() const { return prefix + (templated ? "@" + instance : "") + suffix; }
};

/// Expands the specifiers of systemd.unit(5) that [Install] sections use.
std::string expand(const std::string& text, const UnitName& unit) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'i':
        result += unit.instance;
        break;
      case 'p':
        result += unit.prefix;
        break;
      case 'n':
        result += unit.full();
        break;
      case 'N':
        result += unit.prefix + (unit.templated ? "@" + unit.instance : "");
        break;
      case '%':
        result += '%';
        break;
      default:
        result += std::string("%") + text[i];
    }
  }
  return result;
}

void add_links(const Host& host, const std::string& unit, const std::string& file, const std::string& content,
               std::set<std::string>& seen, Links& links) {
  if (!seen.insert(unit).second) return;
  const InstallSection install = parse_install(content);
  UnitName name(unit);
  if (name.templated && name.instance.empty()) name.instance = install.default_instance;
  if (name.templated && name.instance.empty()) return;  // a template alone cannot be enabled
  const std::string folder = std::string(kUnitFolder) + "/";
  const auto below = [&](const std::vector<std::string>& targets, const char* kind) {
    for (const std::string& target : targets) links[folder + expand(target, name) + kind + name.full()] = file;
  };
  below(install.wanted_by, ".wants/");
  below(install.required_by, ".requires/");
  below(install.upheld_by, ".upholds/");
  for (const std::string& alias : install.alias)
    if (const std::string other = expand(alias, name); other != unit) links[folder + other] = file;
  for (const std::string& also : install.also) {
    const std::string other = expand(also, name);
    const std::string other_file = find_unit_file(host, other);
    if (!other_file.empty()) add_links(host, other, other_file, host.read(other_file).value_or(""), seen, links);
  }
}

}  // namespace

InstallSection parse_install(const std::string& unit_file) {
  InstallSection install;
  const std::map<std::string, std::vector<std::string>*> lists{{"WantedBy", &install.wanted_by},
                                                               {"RequiredBy", &install.required_by},
                                                               {"UpheldBy", &install.upheld_by},
                                                               {"Alias", &install.alias},
                                                               {"Also", &install.also}};
  bool inside = false;
  for (const std::string& line : logical_lines(unit_file)) {
    if (line.starts_with('[')) {
      inside = line == "[Install]";
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!inside || equals == std::string::npos) continue;
    const std::string key(trimmed(std::string_view(line).substr(0, equals)));
    const std::string value(trimmed(std::string_view(line).substr(equals + 1)));
    if (key == "DefaultInstance") install.default_instance = value;
    if (const auto list = lists.find(key); list != lists.end()) add_words(*list->second, value);
  }
  return install;
}

std::string unit_file_name(const std::string& unit) {
  UnitName name(unit);
  name.instance.clear();
  return name.full();
}

std::string find_unit_file(const Host& host, const std::string& unit) {
  for (const std::string& name : {unit, unit_file_name(unit)})
    for (const char* folder : kSearched)
      if (std::string path = std::string(folder) + "/" + name; host.exists(path)) return path;
  return {};
}

bool unit_masked(const Host& host, const std::string& unit) {
  const std::string path = std::string(kUnitFolder) + "/" + unit;
  const auto target = host.read_link(path);
  if (target) return *target == "/dev/null";
  const auto info = host.info(path);
  return info && info->type == FileInfo::Type::regular && info->size_bytes == 0;
}

std::map<std::string, std::string> enablement_links(const Host& host, const std::string& unit, const std::string& file,
                                                    const std::string& content) {
  Links links;
  std::set<std::string> seen;
  add_links(host, unit, file, content, seen, links);
  return links;
}

}  // namespace slipway::core
