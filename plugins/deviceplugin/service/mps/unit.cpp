// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/unit.hpp"

#include <algorithm>
#include <array>

namespace slipway::deviceplugin {
namespace {

constexpr const char* kSlice = "slipway-mps.slice";

// Clients are users of the machine and of containers: the daemon starts a server as the user of each (SETUID, SETGID),
// ends it (KILL), looks at clients' processes (SYS_PTRACE), and opens, owns and hands over pipes and shared memory of
// theirs (DAC_OVERRIDE, CHOWN, FOWNER). Servers set priorities and lock memory (SYS_NICE, IPC_LOCK, SYS_RESOURCE).
constexpr const char* kCapabilities =
    "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_SETUID CAP_SETGID CAP_SYS_PTRACE CAP_SYS_NICE CAP_IPC_LOCK "
    "CAP_SYS_RESOURCE";

// Its program runs code that it writes (CUDA), and its clients' /tmp and sockets without a file may be in use.
constexpr std::array kAlways{"TimeoutStopSec=10",
                             "TasksMax=4096",  // servers have threads for each client, 48 at most
                             "MemoryMax=8G",   // servers map much more than they use
                             "LimitCORE=0",
                             "NoNewPrivileges=yes",
                             "ProtectSystem=strict",
                             "ProtectKernelModules=yes",
                             "ProtectKernelTunables=yes",
                             "ProtectControlGroups=yes",
                             "RestrictAddressFamilies=AF_UNIX",
                             "RestrictNamespaces=yes",
                             "RestrictRealtime=yes",
                             "PrivateMounts=yes",
                             "LockPersonality=yes",
                             "KeyringMode=private",
                             "IPAddressDeny=any",
                             "SystemCallArchitectures=native",
                             "SystemCallFilter=@system-service",
                             "SystemCallErrorNumber=EPERM"};
constexpr std::array kNewest{"ProtectClock=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes",
                             "RestrictSUIDSGID=yes"};

/// A path as one word of a list of paths.
std::string quoted(const std::string& path) {
  std::string text;
  for (const char each : path) {
    if (each == '"' || each == '\\') text += '\\';
    text += each;
  }
  return "\"" + text + "\"";
}

bool is_below_home(const std::string& path) {
  return path.starts_with("/home/") || path.starts_with("/root/") || path.starts_with("/run/user/");
}

}  // namespace

std::string MpsUnit::name() const {
  std::string text = "slipway-mps-" + resource + ".service";
  std::ranges::replace(text, '/', '-');
  return text;
}

std::vector<std::string> device_properties() { return {"DeviceAllow=char-nvidia* rw"}; }

std::vector<std::string> properties_of(const MpsUnit& unit, bool newest) {
  std::vector<std::string> all(kAlways.begin(), kAlways.end());
  if (newest) all.insert(all.end(), kNewest.begin(), kNewest.end());
  all.push_back(std::string("CapabilityBoundingSet=") + kCapabilities);
  all.emplace_back("DevicePolicy=closed");
  for (const std::string& each : device_properties()) all.push_back(each);
  const bool home =
      is_below_home(unit.pipe_folder) || std::ranges::any_of(unit.argv, is_below_home);  // a driver's or mpsRoot
  all.push_back(std::string("ProtectHome=") + (home ? "read-only" : "yes"));
  // Its clients get the same /dev/shm.
  all.push_back("BindPaths=" + quoted(unit.shm_folder) + ":/dev/shm");
  all.push_back("ReadWritePaths=" + quoted(unit.pipe_folder) + " " + quoted(unit.log_folder) + " " +
                quoted(unit.shm_folder));
  return all;
}

std::vector<std::string> systemd_run_words(const MpsUnit& unit, bool newest) {
  std::vector<std::string> words{"systemd-run",
                                 "--quiet",
                                 "--collect",
                                 "--no-ask-password",
                                 "--unit=" + unit.name(),
                                 std::string("--slice=") + kSlice,
                                 "--description=slipway: MPS control daemon of " + unit.resource};
  for (const std::string& each : properties_of(unit, newest)) words.push_back("--property=" + each);
  for (const std::string& each : unit.environment) words.push_back("--setenv=" + each);
  words.emplace_back("--");
  words.insert(words.end(), unit.argv.begin(), unit.argv.end());
  return words;
}

std::string unit_file_text(const MpsUnit& unit) {
  std::string text = "[Unit]\nDescription=slipway: MPS control daemon of " + unit.resource + "\n\n[Service]\n";
  for (const std::string& each : unit.environment) text += "Environment=" + quoted(each) + "\n";
  text += "ExecStart=";
  for (std::size_t i = 0; i < unit.argv.size(); ++i) text += (i == 0 ? "" : " ") + unit.argv[i];
  text += std::string("\nSlice=") + kSlice + "\n";
  for (const std::string& each : properties_of(unit)) text += each + "\n";
  return text;
}

}  // namespace slipway::deviceplugin
