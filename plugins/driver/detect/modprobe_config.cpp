// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/modprobe_config.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include <slipway/text.hpp>

#include "nvidia/loaded_driver.hpp"

namespace slipway::driver {
namespace {

constexpr std::string_view kOwnFile = "slipway-nvidia.conf";
constexpr std::size_t kMostLines = 64;
constexpr std::size_t kMostFiles = 1024;
constexpr std::size_t kLongestRest = 256;

std::string underscored(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Blanks and tabs separate the words of a line.
std::string next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const auto word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return std::string{word};
}

/// Returns the driver's modules that a line concerns: an alias may be a pattern.
std::vector<std::string> modules_named(const std::string& command, const std::string& name) {
  std::vector<std::string> named;
  for (const auto module : nvidia::kModules) {
    const std::string own = underscored(std::string{module});
    const bool matches =
        command == "alias" ? ::fnmatch(underscored(name).c_str(), own.c_str(), 0) == 0 : underscored(name) == own;
    if (matches) named.emplace_back(module);
  }
  return named;
}

void read_line(std::string_view line, const std::string& where, bool later, std::vector<ModprobeLine>& lines) {
  const std::string command = next_word(line);
  if (command != "install" && command != "alias" && command != "blacklist" && command != "options") return;
  const std::string name = next_word(line);
  const std::string rest{trimmed(line).substr(0, kLongestRest)};
  for (auto& module : modules_named(command, name))
    if (lines.size() < kMostLines) lines.push_back({where, command, std::move(module), rest, later});
}

void read_file(const Host& host, const std::string& path, bool later, std::vector<ModprobeLine>& lines) {
  const auto text = host.read(path);
  if (!text) return;
  std::string whole;  // a trailing backslash continues a line
  std::size_t number = 0;
  std::size_t first = 1;
  for (const std::string_view line : lines_of<std::string_view>(*text)) {
    if (whole.empty()) first = number + 1;
    ++number;
    whole += line;
    if (whole.ends_with('\\')) {
      whole.back() = ' ';
      continue;
    }
    read_line(whole, fmt::format("{}:{}", path, first), later, lines);
    whole.clear();
  }
  read_line(whole, fmt::format("{}:{}", path, first), later, lines);
}

/// Of several files with the same name, the file in the first folder counts, as in kmod, which reads all files by name.
std::map<std::string, std::string> config_files(const Host& host) {
  std::map<std::string, std::string> files;
  for (const std::string folder :
       {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"})
    for (const auto& name : host.list(folder).value_or(std::vector<std::string>{}))
      if (name.ends_with(".conf") && !name.starts_with('.') && files.size() < kMostFiles)
        files.emplace(name, folder + "/" + name);
  return files;
}

void read_command_line(const Host& host, std::vector<ModprobeLine>& lines) {
  for (const auto& word : split_list(host.attribute("/proc/cmdline"), ' ')) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (name == "module_blacklist" || name == "modprobe.blacklist") {
      for (const auto& blacklisted : split_list(value))
        for (const auto module : nvidia::kModules)
          if (blacklisted == underscored(std::string{module}) && lines.size() < kMostLines)
            lines.push_back(
                {"/proc/cmdline", name == "module_blacklist" ? name : "blacklist", std::string{module}, "", false});
    } else if (const auto dot = name.find('.'); dot != std::string::npos) {
      read_line(fmt::format("options {} {}={}", name.substr(0, dot), name.substr(dot + 1), value), "/proc/cmdline",
                true, lines);
    }
  }
}

/// Reads /proc/driver/nvidia/params: lines "Name: 1" with the driver's internal parameter names.
std::map<std::string, std::string> shown_parameters(const Host& host) {
  std::map<std::string, std::string> shown;
  const std::string text = host.attribute("/proc/driver/nvidia/params");
  for (const std::string_view line : lines_of<std::string_view>(text))
    if (const auto colon = line.find(':'); colon != std::string_view::npos)
      shown.emplace(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  return shown;
}

std::string name_inside(const std::string& parameter) {
  if (parameter == "NVreg_RestrictProfilingToAdminUsers") return "RmProfilingAdminOnly";
  return parameter.starts_with("NVreg_") ? parameter.substr(6) : parameter;
}

std::optional<std::uint32_t> number_in(const std::string& text) {
  if (text == "Y" || text == "N") return text == "Y" ? 1 : 0;
  char* end = nullptr;
  const auto value = std::strtoll(text.c_str(), &end, 0);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
}

std::string without_quotes(const std::string& text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string ModprobeLine::text() const {
  if (command == "module_blacklist") return command + "=" + underscored(module);
  return fmt::format("{} {}{}{}", command, module, rest.empty() ? "" : " ", rest);
}

bool ModprobeLine::prevents_loading() const {
  if (command == "module_blacklist") return true;
  if (command == "alias") return rest == "off" || rest == "null" || rest == "none";
  if (command != "install") return false;
  const std::string program = rest.substr(0, rest.find_first_of(" \t;&|"));
  const std::string name = program.substr(program.rfind('/') + 1);
  return name == "false" || name == "true" || name == ":";
}

std::vector<ModprobeLine> read_modprobe_config(const Host& host) {
  std::vector<ModprobeLine> lines;
  for (const auto& [name, path] : config_files(host))
    if (name != kOwnFile) read_file(host, path, name > kOwnFile, lines);
  if (host.live()) read_command_line(host, lines);
  return lines;
}

std::map<std::string, std::string> options_in(const std::string& rest) {
  std::map<std::string, std::string> options;
  std::string word;
  bool quoted = false;
  const auto end_word = [&] {
    if (const auto equals = word.find('='); equals != std::string::npos)
      options[word.substr(0, equals)] = word.substr(equals + 1);
    word.clear();
  };
  for (const char c : rest) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ' ' || c == '\t')) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return options;
}

ParameterValues read_loaded_parameters(const Host& host, const ParameterValues& wanted) {
  ParameterValues loaded;
  const auto shown = shown_parameters(host);
  for (const auto& [module, parameters] : wanted)
    for (const auto& [name, value] : parameters) {
      const auto found = module == "nvidia" ? shown.find(name_inside(name)) : shown.end();
      const std::string is =
          found != shown.end() ? found->second
                               : host.attribute(fmt::format("/sys/module/{}/parameters/{}", underscored(module), name));
      if (!is.empty()) loaded[module][name] = without_quotes(is);
    }
  return loaded;
}

bool same_value(const std::string& one, const std::string& other) {
  const auto left = number_in(one);
  const auto right = number_in(other);
  return left && right ? *left == *right : one == other;
}

}  // namespace slipway::driver
