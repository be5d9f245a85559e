// SPDX-License-Identifier: Apache-2.0
#include "nvidia/process/other_program.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/text.hpp>

namespace slipway::nvidia {
namespace {

constexpr std::size_t kLongestComm = 15;  // length of the process name in the kernel
constexpr std::size_t kMostProcesses = 65536;
constexpr std::size_t kMaxStatusBytes = 65536;
constexpr unsigned kSysAdmin = 21;  // CAP_SYS_ADMIN of linux/capability.h

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string folder_of(unsigned pid) { return fmt::format("/proc/{}", pid); }

std::string status_of(const Host& host, unsigned pid) {
  return host.read(folder_of(pid) + "/status", kMaxStatusBytes).value_or("");
}

/// Returns the first word after "KEY:" and the skipped ones in a text such as /proc/PID/status.
std::string_view word_of(std::string_view status, std::string_view key, std::size_t skipped) {
  for (const std::string_view line : lines_of<std::string_view>(status)) {
    if (!line.starts_with(key)) continue;
    const auto words = split<std::string_view>(line.substr(key.size()), '\t');
    return skipped + 1 < words.size() ? words[skipped + 1] : std::string_view();
  }
  return {};
}

std::optional<uid_t> effective_user(std::string_view status) {
  return number_in<uid_t>(word_of(status, "Uid:", 1), 10);
}

/// Compares with the link to the program, if this user may read it.
bool is_file(const Host& host, unsigned pid, const std::string& file) {
  const auto program = host.read_link(folder_of(pid) + "/exe");
  if (!program) return true;
  std::string_view name(*program);
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name.substr(name.rfind('/') + 1) == file;
}

}  // namespace

OtherProgramPolicy other_program_policy(std::string_view word) {
  if (word == "yield") return OtherProgramPolicy::yield;
  return word == "take-over" ? OtherProgramPolicy::take_over : OtherProgramPolicy::report;
}

std::string to_string(OtherProgramPolicy policy) {
  if (policy == OtherProgramPolicy::yield) return "yield";
  return policy == OtherProgramPolicy::take_over ? "take-over" : "report";
}

bool is_unit_enabled(const Host& host, const std::string& unit, const std::vector<std::string>& targets) {
  if (host.read_link("/etc/systemd/system/" + unit).value_or("") == "/dev/null") return false;  // masked
  return std::ranges::any_of(targets, [&](const std::string& target) {
    return host.info(fmt::format("/etc/systemd/system/{}.wants/{}", target, unit)).ok();
  });
}

std::vector<Process> find_program(const Host& host, const OtherProgram& program) {
  std::vector<Process> found;
  if (!host.has_kernel_view()) return found;
  std::size_t seen = 0;
  for (const std::string& name : host.list("/proc").value_or({})) {
    const auto pid = number_in<unsigned>(name, 10);
    if (!pid) continue;
    if (++seen > kMostProcesses) break;
    const auto stat = parse_process_stat(host.read(folder_of(*pid) + "/stat", kMaxStatusBytes).value_or(""));
    if (!stat || stat->name != program.file.substr(0, kLongestComm)) continue;
    if (is_file(host, *pid, program.file)) found.push_back(read_process(host, *pid));
  }
  return found;
}

bool may_change_gpus(const Host& host, unsigned pid) {
  const std::string status = status_of(host, pid);
  const auto user = effective_user(status);
  const auto capabilities = number_in<std::uint64_t>(word_of(status, "CapEff:", 0), 16);
  if (!user || !capabilities) return false;
  return *user == 0 ? ((*capabilities >> kSysAdmin) & 1U) != 0 : *user == ::geteuid();
}

bool is_root(const Host& host, unsigned pid) { return effective_user(status_of(host, pid)) == uid_t{0}; }

std::string program_text(const OtherProgram& program, const Process& process) {
  Process named = process;
  named.name = program.title;
  return to_text(named);
}

std::string how_to_end_program(const OtherProgram& program, const Process& process) {
  if (!process.pod.empty())
    return fmt::format(
        "take it from the node (`kubectl label node NODE {}=false --overwrite`, or {}: false in the ClusterPolicy)",
        program.label, program.operator_key);
  if (!process.owner.container.empty()) return "stop that container";
  return process.owner.unit.empty() ? fmt::format("end it (`kill {}`)", process.pid)
                                    : fmt::format("stop and disable {}", process.owner.unit);
}

}  // namespace slipway::nvidia
