// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <fmt/format.h>

#include "driver/diagnose/diagnose.hpp"
#include "nvidia/driver_version.hpp"
#include "nvidia/health/rules.hpp"
#include "nvidia/health/shared_health.hpp"
#include "nvidia/machine/causes.hpp"
#include "nvidia/xid.hpp"

namespace slipway::driver {
namespace {

bool has(const std::string& line, std::string_view words) { return line.find(words) != std::string::npos; }

// Only the beginning of a line is the kernel's own text: the rest may quote a file, program or mount option that any
// user has chosen.
bool is_of_the_driver(const std::string& line) { return line.starts_with("nvidia"); }

// Most of these lines begin with the module's name; "Loading of" lines of older kernels have none.
bool refuses_signature(const std::string& line) {
  for (const char* words :
       {"Loading of unsigned module is rejected", "Loading of module with unavailable key is rejected"})
    if (line.starts_with(words) || (is_of_the_driver(line) && has(line, words))) return true;
  if (line.starts_with("Lockdown: ")) return has(line, "unsigned module loading is restricted");
  for (const char* program : {"modprobe: ", "insmod: ", "systemd-modules-load["})
    if (line.starts_with(program))
      return has(line, "nvidia") &&
             (has(line, "Key was rejected by service") || has(line, "Required key not available"));
  return false;
}

void diagnose_signatures(const std::vector<std::string>& log, bool with_secure_boot, Findings& findings) {
  // NOLINTNEXTLINE(modernize-loop-convert): clang 14 takes no std::views::reverse of libstdc++ 12
  for (auto line = log.rbegin(); line != log.rend(); ++line)
    if (refuses_signature(*line))
      return findings.fail(
          "driver.signature",
          fmt::format("the kernel refused a module that is not signed with a key it trusts{}: \"{}\"",
                      with_secure_boot ? ", since Secure Boot is on" : "", *line),
          "sign the modules (driver.signing in the spec) and enrol that key with `mokutil --import KEY.der` and a "
          "reboot, use a package whose key is enrolled, or switch Secure Boot off");
  for (const auto& line : log)
    if (is_of_the_driver(line) && has(line, "module verification failed"))
      return findings.add({Finding::Status::warning, "driver.signature",
                           "the kernel loaded modules that are not signed with a key that it trusts",
                           "nothing to do now; if you switch Secure Boot on, sign the modules first"});
}

void diagnose_version_magic(const std::vector<std::string>& log, Findings& findings) {
  // NOLINTNEXTLINE(modernize-loop-convert): clang 14 takes no std::views::reverse of libstdc++ 12
  for (auto line = log.rbegin(); line != log.rend(); ++line)
    if (is_of_the_driver(*line) && (has(*line, "version magic") || has(*line, "disagrees about version of symbol")))
      return findings.fail("driver.other-kernel", fmt::format("the kernel refused a module: \"{}\"", *line),
                           "run `slipway apply` for the running kernel, or boot the kernel that the module is for");
}

struct Start {
  std::string_view words;
  const char* what;
  const char* remedy;
};

constexpr Start kStarts[] = {
    {"RmInitAdapter failed", "the driver could not start a GPU",
     "look at the lines before it with `dmesg`; power the node off and on, then suspect GPU, firmware or BIOS "
     "settings"},
    {"API mismatch", "a program's driver library does not fit the loaded module",
     "reboot after a driver update, and restart containers that were started before it"},
    {"failed to load firmware", "the GPU's firmware (GSP) was not found",
     "run `slipway verify driver --deep`; the firmware has to be of the loaded module's version"},
    {"is not supported by open nvidia.ko", "the open modules do not support this GPU",
     "set driver.modules to proprietary in the spec and run `slipway apply`"},
    {"installed in this system is not supported by the", "this driver does not support one of the GPUs of this machine",
     "use a driver branch that does: `slipway explain driver.version`"},
};

void diagnose_start(const std::vector<std::string>& log, Findings& findings) {
  for (const Start& start : kStarts)
    // NOLINTNEXTLINE(modernize-loop-convert): clang 14 takes no std::views::reverse of libstdc++ 12
    for (auto line = log.rbegin(); line != log.rend(); ++line) {
      if (!line->starts_with("NVRM: ") || !has(*line, start.words)) continue;
      findings.fail("driver.start", fmt::format("{}: \"{}\"", start.what, *line), start.remedy);
      break;
    }
}

/// Explains the numbers of an NVLink 5 XID: ", unit NETIR_LINK_DOWN of link 8, which asks for a reset".
std::string detail_text(const nvidia::health::XidRule& rule, const std::string& text, unsigned driver_branch) {
  const auto detail = nvidia::health::read_nvlink_detail(rule, text, driver_branch);
  if (!detail) return {};
  return fmt::format(", unit {}{}{}", detail->unit, detail->link ? fmt::format(" of link {}", *detail->link) : "",
                     detail->needs_reset ? ", which asks for a reset" : "");
}

/// True for XIDs that a later XID of the same GPU cancels.
bool cancelled(const std::vector<nvidia::XidCount>& counts, std::size_t which, const nvidia::health::Rules& rules) {
  for (std::size_t later = which + 1; later < counts.size(); ++later)
    if (counts[later].last.address == counts[which].last.address &&
        rules.xid(counts[later].last.number).cancels.contains(counts[which].last.number))
      return true;
  return false;
}

void diagnose_xids(const std::vector<std::string>& log, const nvidia::health::Rules& rules, unsigned driver_branch,
                   Findings& findings) {
  const auto counts = nvidia::count_xids(log);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (cancelled(counts, i, rules)) continue;
    const nvidia::Xid& last = counts[i].last;
    const auto rule = rules.judged(last.number, last.text);
    if (rule.cancels.contains(last.number)) continue;  // the last one says that the fault is over
    const std::string times = counts[i].times == 1 ? "once" : fmt::format("{} times", counts[i].times);
    const std::string text = fmt::format("Xid {} on {}{}, {} since the boot: {}{} (last: \"{}\")", last.number,
                                         last.address, last.instance ? fmt::format(" GPU-I:{}", *last.instance) : "",
                                         times, rule.what, detail_text(rule, last.text, driver_branch), last.text);
    findings.add({rules.counts(rule) ? Finding::Status::fail : Finding::Status::warning, "driver.xid", text,
                  nvidia::health::remedy_for(rule.remedy, last.address), nvidia::gpu_cause(last.address)});
  }
  const auto fallen = rules.xid(79);
  for (const std::string& address : nvidia::fallen_gpus(log))
    findings.add({rules.counts(fallen) ? Finding::Status::fail : Finding::Status::warning, "driver.xid",
                  fmt::format("GPU {}: the kernel's log says that it has fallen off the bus", address),
                  nvidia::health::remedy_for(fallen.remedy, address), nvidia::gpu_cause(address)});
}

/// Keeps the last error by switch and number.
void diagnose_switches(const std::vector<std::string>& log, Findings& findings) {
  constexpr std::size_t kMostFindings = 32;
  std::map<std::pair<std::string, unsigned>, std::pair<nvidia::SwitchXid, unsigned>> counts;
  for (const std::string& line : log) {
    auto xid = nvidia::parse_switch_xid(line);
    if (!xid) continue;
    auto& [last, times] = counts[{xid->address, xid->number}];
    last = *std::move(xid);
    ++times;
  }
  std::size_t told = 0;
  for (const auto& [place, count] : counts) {
    if (++told > kMostFindings) break;
    const auto& [last, times] = count;
    findings.add({last.fatal ? Finding::Status::fail : Finding::Status::warning, "driver.sxid",
                  fmt::format("SXid {} of the NVSwitch at {}, {} since the boot (last: \"{}\")", last.number,
                              last.address, times == 1 ? "once" : fmt::format("{} times", times), last.text),
                  last.fatal ? "drain the node, and reset all GPUs and NVSwitches together (`slipway pause -- "
                               "nvidia-smi -r`) or reboot; if the error comes back, have the switch checked"
                             : "nothing to do now; if jobs fail or this happens again, look at the log of Fabric "
                               "Manager (`journalctl -u nvidia-fabricmanager`)"});
  }
}

}  // namespace

void diagnose_log_lines(const std::vector<std::string>& log, const LogOf& machine, const nvidia::health::Rules& rules,
                        Findings& findings) {
  diagnose_signatures(log, machine.with_secure_boot, findings);
  diagnose_version_magic(log, findings);
  diagnose_start(log, findings);
  diagnose_xids(log, rules, machine.driver_branch, findings);
  diagnose_switches(log, findings);
}

void diagnose_log(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!host.live() || (facts.gpus.empty() && !facts.installed)) return;
  const auto log = nvidia::read_kernel_log(host);
  if (!log) return findings.not_exercised("driver.log", "the kernel's log cannot be read (as root, `dmesg` shows it)");
  const auto rules = nvidia::health::read_rules(host);
  if (!rules)
    findings.fail(
        "driver.health-rules",
        fmt::format("{}: {}; XIDs are judged by slipway's own rules", rules.error().where, rules.error().what),
        rules.error().next);
  const auto version = facts.loaded ? nvidia::DriverVersion::parse(facts.loaded->version) : std::nullopt;
  diagnose_log_lines(*log, {facts.secure_boot.value_or(false), version ? version->branch() : 0},
                     rules ? *rules : nvidia::health::default_rules(), findings);
}

}  // namespace slipway::driver
