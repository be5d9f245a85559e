// SPDX-License-Identifier: Apache-2.0
#include "sandbox/unit/unit_text.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include <slipway/text.hpp>

#include "base/units/unit_text.hpp"

namespace slipway::sandbox {
namespace {

/// The folder shared by slipway's own services: control sockets, locks, state that a boot ends.
constexpr const char* kOwnFolder = "/run/slipway";
constexpr const char* kMemory = "256M";
constexpr unsigned kTasks = 64;

std::vector<std::string> texts_of(const Json& needs, const char* key) {
  std::vector<std::string> texts;
  if (needs.is_object() && needs.contains(key) && needs[key].is_array())
    for (const Json& text : needs[key])
      if (text.is_string()) texts.push_back(text);
  return texts;
}

bool has(const Json& needs, const char* key) { return needs.is_object() && needs.contains(key) && needs[key] == true; }

/// Returns the text at "a.b" of a section; nothing when it is missing, or is not text.
std::optional<std::string> text_at(const Json& section, const std::string& key) {
  const Json* value = &section;
  for (const std::string& part : split(key, '.')) {
    if (!value->is_object() || !value->contains(part)) return std::nullopt;
    value = &(*value)[part];
  }
  if (!value->is_string() || value->get_ref<const std::string&>().empty()) return std::nullopt;
  return value->get<std::string>();
}

/// True for a control character: it may end a line of a unit, or hide a part of it.
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Returns "{directory}/x" with the section's keys filled in; nothing when one is missing.
std::optional<std::string> filled(const std::string& pattern, const Json& section) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = std::min(pattern.find('{', at), pattern.size());
    path += pattern.substr(at, open - at);
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos) break;
    const auto text = text_at(section, pattern.substr(open + 1, close - open - 1));
    if (!text) return std::nullopt;
    path += *text;
    at = close + 1;
  }
  std::string clean = std::filesystem::path(path).lexically_normal().string();
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  return clean;
}

/// True when one of the paths is in one of the folders.
bool any_below(const std::vector<std::string>& paths, const std::vector<std::string>& folders) {
  return std::ranges::any_of(paths, [&](const std::string& path) {
    return std::ranges::any_of(folders, [&](const std::string& folder) { return (path + "/").starts_with(folder); });
  });
}

/// Hides users' folders from a service, unless it needs a path in them.
std::string private_lines(const ServiceUnit& unit, const std::vector<std::string>& writes) {
  std::vector<std::string> used = needed_paths(unit.needs.value("reads", Json()), unit.section);
  used.push_back(unit.program);
  used.insert(used.end(), writes.begin(), writes.end());
  const bool home = any_below(used, {"/home/", "/root/", "/run/user/"});
  const bool shared = has(unit.needs, "shared_tmp");
  const bool temporary = shared || any_below(used, {"/tmp/", "/var/tmp/"});
  return std::string("ProtectHome=") + (home ? "read-only" : "yes") + "\n" +
         (shared ? "ReadWritePaths=-/tmp -/var/tmp\n" : "") + (temporary ? "" : "PrivateTmp=yes\n");
}

std::string families_line(const Json& needs) {
  std::vector<std::string> families{"AF_UNIX"};
  for (const std::string& word : texts_of(needs, "sockets")) {
    if (word == "inet") families.insert(families.end(), {"AF_INET", "AF_INET6"});
    if (word == "netlink") families.emplace_back("AF_NETLINK");
  }
  return "RestrictAddressFamilies=" + joined(families, " ") + "\n" +
         (families.size() == 1 ? "PrivateNetwork=yes\n" : "");
}

/// CAP_SYSLOG is only useful for the kernel's log.
bool reads_kernel_log(const Json& needs) {
  const std::vector<std::string> capabilities = texts_of(needs, "capabilities");
  return std::find(capabilities.begin(), capabilities.end(), "CAP_SYSLOG") != capabilities.end();
}

std::string devices_lines(const Json& needs) {
  std::string lines = "DevicePolicy=closed\n";
  for (const std::string& name : texts_of(needs, "device_classes")) lines += "DeviceAllow=char-" + name + " rw\n";
  if (reads_kernel_log(needs)) lines += "DeviceAllow=/dev/kmsg r\n";
  return lines;
}

std::string limits_of(const ServiceUnit& unit) {
  const Json& needs = unit.needs;
  const std::vector<std::string> writes = written_folders(needs, unit.section);
  std::vector<std::string> calls = texts_of(needs, "system_calls");
  calls.insert(calls.begin(), "@system-service");
  std::vector<std::string> words;
  for (const std::string& path : writes) words.push_back(base::unit_command_word(path));
  std::vector<std::string> optional;  // optional at ExecCondition=; the service reports a missing one
  for (const std::string& path : writes) optional.push_back(base::unit_word("-" + path));
  return "# Folders that it writes to are made first: it sees everything else read-only.\nExecStartPre=-+mkdir -p -- " +
         joined(words, " ") + "\nReadWritePaths=" + joined(optional, " ") +
         "\n\n# What the component declares to need (service_needs of its manifest), and nothing else.\nMemoryMax=" +
         needs.value("memory", std::string(kMemory)) + "\nTasksMax=" + std::to_string(needs.value("tasks", kTasks)) +
         "\nCapabilityBoundingSet=" + joined(texts_of(needs, "capabilities"), " ") + "\n" + devices_lines(needs) +
         families_line(needs) + private_lines(unit, writes) +
         (has(needs, "writable_code") ? "" : "MemoryDenyWriteExecute=yes\n") +
         (has(needs, "starts_units") ? "" : "InaccessiblePaths=-/run/systemd/private -/run/dbus\n") +
         base::restriction_lines(reads_kernel_log(needs) ? std::set<std::string_view>{"ProtectKernelLogs"}
                                                         : std::set<std::string_view>{}) +
         "SystemCallFilter=" + joined(calls, " ") + "\n";
}

}  // namespace

std::vector<std::string> needed_paths(const Json& entries, const Json& section) {
  constexpr std::string_view kOr = " or ";
  std::vector<std::string> paths;
  if (!entries.is_array()) return paths;
  for (const Json& entry : entries) {
    if (!entry.is_string()) continue;
    const std::string text = entry;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(kOr, at), text.size());
      const auto path = filled(text.substr(at, end - at), section);
      at = end + kOr.size();
      if (!path) continue;
      if (path->starts_with('/') && path->size() > 1) paths.push_back(*path);
      break;
    }
  }
  return paths;
}

std::vector<std::string> written_folders(const Json& needs, const Json& section) {
  std::vector<std::string> folders{kOwnFolder};
  for (const std::string& path : needed_paths(needs.value("writes", Json()), section))
    if (std::ranges::find(folders, path) == folders.end()) folders.push_back(path);
  return folders;
}

Status expect_plain_paths(const std::string& component, const Json& needs, const Json& section) {
  constexpr const char* kWrites = "writes";
  for (const char* list : {kWrites, "reads"})
    for (const std::string& pattern : texts_of(needs, list))
      for (std::size_t open = 0; (open = pattern.find('{', open)) != std::string::npos; ++open) {
        const std::string key = pattern.substr(open + 1, pattern.find('}', open) - open - 1);
        const std::string path = text_at(section, key).value_or("");
        const bool begins = open == 0 || pattern[open - 1] == ' ';
        if (list == kWrites && begins && !path.empty() && path.front() != '/')
          return Error{ErrorCode::invalid,
                       component + ": the path in " + key + " is not absolute",
                       "spec.components." + component + "." + key,
                       "write it as an absolute path: a service has no working folder",
                       {}};
        if (!std::ranges::any_of(path, is_control)) continue;
        return Error{ErrorCode::invalid,
                     component + ": the path in " + key + " has a line break or another control character",
                     "spec.components." + component + "." + key,
                     "give a path without control characters: the service's unit contains it",
                     {}};
      }
  return {};
}

std::string service_unit_text(const ServiceUnit& unit) {
  const std::string command = base::unit_word(unit.program) + " service " + unit.component;
  return "[Unit]\nDescription=slipway: " + base::unit_line(unit.component + ", " + unit.purpose) +
         "\nAfter=local-fs.target slipway-boot.service\n" +
         (unit.before.empty() ? "" : "Before=" + joined(unit.before, " ") + "\n") +
         base::unit_while_installed(unit.program) + "\n[Service]\nType=notify\n" +
         (unit.waits_for_device ? "ExecCondition=" + command + " --boot --condition\n" : "") + "ExecStart=" + command +
         R"( --boot
# The shell's own kill: a small root has no /bin/kill.
ExecReload=/bin/sh -c 'kill -HUP $$MAINPID'
Restart=always
RestartSec=2
# A service whose loop hangs is ended and started again.
WatchdogSec=90
# The service ends its plugin's process itself; a plugin that also got the signal would look crashed.
KillMode=mixed
TimeoutStopSec=30

)" + limits_of(unit) +
         R"(
[Install]
WantedBy=multi-user.target
)";
}

}  // namespace slipway::sandbox
