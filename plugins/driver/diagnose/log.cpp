// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/diagnose/diagnose.hpp"
#include "nvidia/xid.hpp"

namespace slipway::driver {
namespace {

bool has(const std::string& line, std::string_view words) { return line.find(words) != std::string::npos; }

// The kernel names the module in front of most of these; "Loading of" lines of older kernels name none.
bool refuses_signature(const std::string& line) {
  return has(line, "Loading of unsigned module is rejected") ||
         has(line, "Loading of module with unavailable key is rejected") ||
         has(line, "unsigned module loading is restricted") || has(line, "Key was rejected by service") ||
         has(line, "Required key not available");
}

void diagnose_signatures(const std::vector<std::string>& log, bool with_secure_boot, Findings& findings) {
  for (auto line = log.rbegin(); line != log.rend(); ++line)
    if (refuses_signature(*line))
      return findings.fail(
          "driver.signature",
          fmt::format("the kernel refused a module that is not signed with a key it trusts{}: \"{}\"",
                      with_secure_boot ? ", since Secure Boot is on" : "", *line),
          "sign the modules (driver.signing in the spec) and enrol that key with `mokutil --import KEY.der` and a "
          "reboot, use a package whose key is enrolled, or switch Secure Boot off");
  for (const auto& line : log)
    if (line.starts_with("nvidia") && has(line, "module verification failed"))
      return findings.add({Finding::Status::warning, "driver.signature",
                           "the modules are not signed with a key that the kernel trusts; it loaded them all the same",
                           "nothing now; where Secure Boot is switched on, they have to be signed first"});
}

void diagnose_version_magic(const std::vector<std::string>& log, Findings& findings) {
  for (auto line = log.rbegin(); line != log.rend(); ++line)
    if (line->starts_with("nvidia") && (has(*line, "version magic") || has(*line, "disagrees about version of symbol")))
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
    {"installed in this system is not supported by the", "this driver does not support a GPU here",
     "use a driver branch that does: `slipway explain driver.version`"},
};

void diagnose_start(const std::vector<std::string>& log, Findings& findings) {
  for (const Start& start : kStarts)
    for (auto line = log.rbegin(); line != log.rend(); ++line) {
      if (!has(*line, "NVRM") || !has(*line, start.words)) continue;
      findings.fail("driver.start", fmt::format("{}: \"{}\"", start.what, *line), start.remedy);
      break;
    }
}

void diagnose_xids(const std::vector<std::string>& log, Findings& findings) {
  for (const auto& count : nvidia::count_xids(log)) {
    const auto meaning = nvidia::meaning_of(count.last.number);
    const std::string text =
        fmt::format("Xid {} on {}, {} since the boot: {} (last: \"{}\")", count.last.number, count.last.address,
                    count.times == 1 ? "once" : fmt::format("{} times", count.times), meaning.what, count.last.text);
    findings.add({meaning.of_the_application ? Finding::Status::warning : Finding::Status::fail, "driver.xid", text,
                  meaning.remedy});
  }
}

}  // namespace

void diagnose_log_lines(const std::vector<std::string>& log, bool with_secure_boot, Findings& findings) {
  diagnose_signatures(log, with_secure_boot, findings);
  diagnose_version_magic(log, findings);
  diagnose_start(log, findings);
  diagnose_xids(log, findings);
}

void diagnose_log(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!host.live() || (facts.gpus.empty() && !facts.installed)) return;
  const auto log = nvidia::read_kernel_log(host);
  if (!log) return findings.not_exercised("driver.log", "the kernel's log cannot be read (as root, `dmesg` shows it)");
  diagnose_log_lines(*log, facts.secure_boot.value_or(false), findings);
}

}  // namespace slipway::driver
