// SPDX-License-Identifier: Apache-2.0
#include "base/units/unit_text.hpp"

#include <array>

namespace slipway::base {
namespace {

/// A control character ends a line of a unit, or is invisible to its readers.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

constexpr std::array<std::string_view, 18> kRestrictions{
    "LimitCORE=0",
    "UMask=0022",
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "ProtectProc=invisible",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "ProtectControlGroups=yes",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "KeyringMode=private",
    "SystemCallArchitectures=native",
    "SystemCallErrorNumber=EPERM",
};

}  // namespace

std::string unit_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '%' ? "%%" : std::string(1, is_control(c) || c == '\\' ? ' ' : c);
  return line;
}

std::string unit_path(const std::string& path) {
  std::string line;
  for (const char c : path) line += c == '%' ? "%%" : std::string(1, is_control(c) ? ' ' : c);
  return line;
}

std::string unit_word(const std::string& path) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string word;
  bool quoted = false;
  for (const char c : path) {
    quoted = quoted || c == ' ' || c == '"' || c == '\'' || c == '\\' || c == ';' || is_control(c);
    if (c == '%') word += c;  // else the start of a specifier
    if (c == '"' || c == '\\') word += '\\';
    if (is_control(c)) {  // else the end of the line
      word += {'\\', 'x', kHex[static_cast<unsigned char>(c) >> 4U], kHex[static_cast<unsigned char>(c) & 15U]};
    } else {
      word += c;
    }
  }
  return quoted ? '"' + word + '"' : word;
}

std::string unit_command_word(const std::string& path) {
  std::string word = unit_word(path);
  for (std::size_t at = 0; (at = word.find('$', at)) != std::string::npos; at += 2) word.insert(at, 1, '$');
  return word;
}

std::string unit_while_installed(const std::string& program) {
  return "ConditionFileIsExecutable=" + unit_path(program) + "\n";
}

std::vector<std::string> restrictions(const std::set<std::string_view>& without) {
  std::vector<std::string> settings;
  for (const std::string_view setting : kRestrictions)
    if (!without.contains(setting.substr(0, setting.find('=')))) settings.emplace_back(setting);
  return settings;
}

std::string restriction_lines(const std::set<std::string_view>& without) {
  std::string lines;
  for (const std::string& setting : restrictions(without)) lines += setting + "\n";
  return lines;
}

}  // namespace slipway::base
