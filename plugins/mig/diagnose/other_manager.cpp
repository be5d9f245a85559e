// SPDX-License-Identifier: Apache-2.0
#include "mig/diagnose/other_manager.hpp"

#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/text.hpp>

namespace slipway::mig {
namespace {

constexpr const char* kManagerFolder = "/etc/nvidia-mig-manager";
constexpr const char* kManagerUnit = "nvidia-mig-manager.service";
constexpr std::string_view kProgram = "nvidia-mig-manager";
constexpr std::size_t kMostLetters = 15;  // of the name that the kernel keeps
constexpr std::size_t kMostProcesses = 65536;
constexpr std::size_t kMostStatus = 65536;
constexpr unsigned kSysAdmin = 21;  // CAP_SYS_ADMIN of linux/capability.h

bool is_enabled(const Host& host, const std::string& unit) {
  if (host.read_link("/etc/systemd/system/" + unit).value_or("") == "/dev/null") return false;  // masked
  for (const char* target : {"multi-user.target", "nvidia-gpu-reset.target"})
    if (host.info(fmt::format("/etc/systemd/system/{}.wants/{}", target, unit)).ok()) return true;
  return false;
}

template <class Number>
std::optional<Number> number_of(std::string_view text, int base) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The first word after "KEY:" and the skipped ones in a text like /proc/PID/status.
std::string_view word_of(std::string_view status, std::string_view key, std::size_t skipped) {
  for (const std::string_view line : lines_of<std::string_view>(status)) {
    if (!line.starts_with(key)) continue;
    const auto words = split<std::string_view>(line.substr(key.size()), '\t');
    return skipped + 1 < words.size() ? words[skipped + 1] : std::string_view();
  }
  return {};
}

/// By its effective user and capabilities, as this process sees users.
bool may_change_gpus(const Host& host, const std::string& folder) {
  const std::string status = host.read(folder + "/status", kMostStatus).value_or("");
  const auto user = number_of<uid_t>(word_of(status, "Uid:", 1), 10);
  const auto capabilities = number_of<std::uint64_t>(word_of(status, "CapEff:", 0), 16);
  if (!user || !capabilities) return false;
  return *user == 0 ? ((*capabilities >> kSysAdmin) & 1U) != 0 : *user == ::geteuid();
}

/// What the link to the program says, where this user may read it.
bool is_program(const Host& host, const std::string& folder) {
  const auto program = host.read_link(folder + "/exe");
  if (!program) return true;
  std::string_view name(*program);
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name.substr(name.rfind('/') + 1) == kProgram;
}

bool is_in_container(const nvidia::drain::Process& process) {
  return !process.pod.empty() || !process.owner.container.empty();
}

}  // namespace

bool is_other_manager_enabled(const Host& host) { return is_enabled(host, kManagerUnit); }

std::optional<nvidia::drain::Process> running_manager(const Host& host) {
  if (!host.has_kernel_view()) return std::nullopt;
  const auto names = host.list("/proc");
  if (!names) return std::nullopt;
  std::size_t seen = 0;
  for (const std::string& name : *names) {
    const auto pid = number_of<unsigned>(name, 10);
    if (!pid) continue;
    if (++seen > kMostProcesses) break;
    const std::string folder = "/proc/" + name;
    const auto stat = nvidia::drain::parse_stat(host.read(folder + "/stat", kMostStatus).value_or(""));
    if (!stat || stat->name != kProgram.substr(0, kMostLetters)) continue;
    if (!is_program(host, folder) || !may_change_gpus(host, folder)) continue;
    auto process = nvidia::drain::read_process(host, *pid);
    if (process.owner.unit != kManagerUnit) return process;
  }
  return std::nullopt;
}

std::string manager_text(const nvidia::drain::Process& manager) {
  nvidia::drain::Process named = manager;
  named.name = "NVIDIA's MIG manager";
  return to_text(named);
}

std::string how_to_end_manager(const nvidia::drain::Process& manager) {
  if (!manager.pod.empty())
    return "take it from the node (`kubectl label node NODE nvidia.com/gpu.deploy.mig-manager=false --overwrite`, or "
           "migManager.enabled: false in the ClusterPolicy)";
  if (is_in_container(manager)) return "stop that container";
  return manager.owner.unit.empty() ? fmt::format("end it (`kill {}`)", manager.pid)
                                    : fmt::format("stop and disable {}", manager.owner.unit);
}

Error refused_beside(const nvidia::drain::Process& manager, const std::string& word) {
  return Error{.code = ErrorCode::conflict,
               .what = manager_text(manager) + " gives the GPUs the layouts that the labels of the node name, and " +
                       "slipway those of the spec",
               .where = "spec.components.mig.other_manager = " + word,
               .next = how_to_end_manager(manager) + ", or leave the GPUs to it: other_manager: yield"};
}

void diagnose_other_manager(const Host& host, const std::string& file, Findings& findings) {
  constexpr const char* kFinding = "mig.other-manager";
  const bool is_enabled_here = is_other_manager_enabled(host);
  if (const auto manager = running_manager(host)) {
    const Error refused = refused_beside(*manager, {});
    if (!is_enabled_here) return findings.fail(kFinding, refused.what, refused.next);
    return findings.fail(
        kFinding,
        fmt::format("{}; {} is enabled as well, and gives them its own at each boot", refused.what, kManagerUnit),
        fmt::format("{}, and `systemctl disable {}` unless you do", refused.next, kManagerUnit));
  }
  if (is_enabled_here)
    return findings.fail(kFinding,
                         fmt::format("{} is enabled: at each boot it gives the GPUs the layout of its own config, and "
                                     "slipway gives them that of the spec",
                                     kManagerUnit),
                         fmt::format("keep one of them: `systemctl disable {}`, or say in the spec's mig which: "
                                     "other_manager: take-over or yield",
                                     kManagerUnit));
  const bool is_ours = file.starts_with(std::string(kManagerFolder) + "/");
  if (is_ours || !host.exists(kManagerFolder)) return;
  findings.add({Finding::Status::warning, kFinding,
                fmt::format("there is {}: NVIDIA's MIG manager was installed here, and gives the GPUs other layouts "
                            "when somebody starts it",
                            kManagerFolder),
                "remove it where nobody uses it; a config in that folder can be named as `file` in the spec's mig"});
}

}  // namespace slipway::mig
