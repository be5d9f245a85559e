// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/system/unit.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>

#include "base/units/unit_text.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kSlice = "slipway-mps.slice";

// Clients belong to users of the machine and of containers: the daemon starts a server as the user of each (SETUID,
// SETGID), ends it (KILL), inspects clients' processes (SYS_PTRACE), and opens, owns and passes on their pipes and
// shared memory (DAC_OVERRIDE, CHOWN, FOWNER). Servers set priorities and lock memory (SYS_NICE, IPC_LOCK,
// SYS_RESOURCE).
constexpr const char* kCapabilities =
    "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_SETUID CAP_SETGID CAP_SYS_PTRACE CAP_SYS_NICE CAP_IPC_LOCK "
    "CAP_SYS_RESOURCE";

// Access to files of other users, also in sticky folders.
constexpr const char* kEmptyingCapabilities = "CAP_DAC_OVERRIDE CAP_FOWNER";

constexpr std::array kShutIn{"ReadOnlyPaths=/run",  // ProtectSystem=strict leaves it writable in systemd 252
                             "RestrictAddressFamilies=AF_UNIX", "PrivateMounts=yes", "IPAddressDeny=any",
                             "SystemCallFilter=@system-service"};
// Of the restrictions, those that older versions of systemd-run do not know.
constexpr std::array kShutInNewest{"ProtectClock=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes",
                                   "RestrictSUIDSGID=yes"};

// The program executes code that it generates (CUDA), and its clients may use /tmp and abstract sockets. A process that
// can reach systemd, a container engine or slipway's services needs no other privilege, so these are hidden.
constexpr std::array kOfDaemon{"InaccessiblePaths=-/run/systemd/private -/run/dbus -/run/slipway",
                               "InaccessiblePaths=-/run/containerd/containerd.sock -/run/docker.sock "
                               "-/run/crio/crio.sock -/run/podman/podman.sock -/run/k3s/containerd/containerd.sock",
                               "TimeoutStopSec=10",
                               "TasksMax=4096",  // servers have threads for each of up to 48 clients
                               "MemoryMax=8G"};  // servers map much more than they use

// While a pod keeps filling its folder, the process would never end by itself.
constexpr std::array kOfEmptying{"TasksMax=4",
                                 "MemoryMax=64M",
                                 "Nice=19",
                                 "IOSchedulingClass=idle",
                                 "PrivateNetwork=yes",
                                 "PrivateDevices=yes",
                                 "MemoryDenyWriteExecute=yes",
                                 "SystemCallFilter=~@network-io @privileged @resources"};
constexpr std::array kOfEmptyingNewest{"ProtectProc=invisible", "ProcSubset=pid"};

template <std::size_t count>
void append(std::vector<std::string>& list, const std::array<const char*, count>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

void add_restrictions(TransientUnit& unit) {
  const std::vector<std::string> all = base::restrictions(
      {"UMask", "ProtectProc", "ProtectClock", "ProtectHostname", "ProtectKernelLogs", "RestrictSUIDSGID"});
  unit.properties.insert(unit.properties.end(), all.begin(), all.end());
  append(unit.properties, kShutIn);
}

/// Quotes a path as one word of a path list.
std::string quoted(const std::string& path) {
  std::string text;
  for (const char each : path) {
    if (each == '"' || each == '\\') text += '\\';
    text += each;
  }
  return "\"" + text + "\"";
}

/// systemd expands `$X` in all words of a command except the program.
std::string argument_word(std::string text) {
  for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos; at += 2) text.insert(at, 1, '$');
  return text;
}

bool any_below(const std::vector<std::string>& paths, std::initializer_list<const char*> folders) {
  return std::ranges::any_of(paths, [&](const std::string& path) {
    return std::ranges::any_of(folders, [&](const char* folder) { return path.starts_with(folder); });
  });
}

/// @param paths  programs and folders that the unit needs: a driver or an mpsRoot may be below a home folder
std::string home_line(const std::vector<std::string>& paths) {
  return std::string("ProtectHome=") + (any_below(paths, {"/home/", "/root/", "/run/user/"}) ? "read-only" : "yes");
}

}  // namespace

std::string MpsUnit::name() const {
  std::string text = "slipway-mps-" + resource + ".service";
  std::ranges::replace(text, '/', '-');
  return text;
}

std::vector<std::string> device_properties() { return {"DeviceAllow=char-nvidia* rw"}; }

TransientUnit daemon_unit(const MpsUnit& unit) {
  TransientUnit made{.name = unit.name(),
                     .description = "slipway: MPS control daemon of " + unit.resource,
                     .environment = unit.environment,
                     .argv = unit.argv,
                     .properties = {},
                     .newest = {}};
  append(made.properties, kOfDaemon);
  add_restrictions(made);
  append(made.newest, kShutInNewest);
  std::vector<std::string>& all = made.properties;
  all.push_back(std::string("CapabilityBoundingSet=") + kCapabilities);
  all.emplace_back("DevicePolicy=closed");
  for (const std::string& each : device_properties()) all.push_back(each);
  std::vector<std::string> used = unit.argv;
  used.push_back(unit.pipe_folder);
  all.push_back(home_line(used));
  // The daemon's clients mount the same /dev/shm.
  all.push_back("BindPaths=" + quoted(unit.shm_folder) + ":/dev/shm");
  all.push_back("ReadWritePaths=" + quoted(unit.pipe_folder) + " " + quoted(unit.log_folder) + " " +
                quoted(unit.shm_folder));
  return made;
}

TransientUnit emptying_unit(const std::string& program, const std::string& folder) {
  const std::filesystem::path path(folder);
  TransientUnit made{.name = "slipway-mps-aside-" + path.parent_path().filename().string() + "-" +
                             path.filename().string().substr(1) + ".service",
                     .description = "slipway: empties a folder that pods left to MPS",
                     .environment = {},
                     .argv = {program, folder},
                     .properties = {},
                     .newest = {}};
  add_restrictions(made);
  append(made.properties, kOfEmptying);
  append(made.newest, kShutInNewest);
  append(made.newest, kOfEmptyingNewest);
  made.properties.push_back("RuntimeMaxSec=" + std::to_string(kEmptyingLimit.count()));
  made.properties.push_back("TimeoutStopSec=" + std::to_string(kEmptyingStopLimit.count()));
  made.properties.push_back(std::string("CapabilityBoundingSet=") + kEmptyingCapabilities);
  made.properties.push_back(home_line(made.argv));
  if (!any_below(made.argv, {"/tmp/", "/var/tmp/"})) made.properties.emplace_back("PrivateTmp=yes");
  made.properties.push_back("ReadWritePaths=" + quoted(folder));
  return made;
}

std::vector<std::string> systemd_run_words(const TransientUnit& unit, bool newest) {
  std::vector<std::string> words{"systemd-run",
                                 "--quiet",
                                 "--collect",
                                 "--no-ask-password",
                                 "--unit=" + unit.name,
                                 std::string("--slice=") + kSlice,
                                 "--description=" + unit.description};
  for (const std::string& each : unit.properties) words.push_back("--property=" + each);
  if (newest)
    for (const std::string& each : unit.newest) words.push_back("--property=" + each);
  for (const std::string& each : unit.environment) words.push_back("--setenv=" + each);
  words.emplace_back("--");
  for (const std::string& each : unit.argv) words.push_back(words.back() == "--" ? each : argument_word(each));
  return words;
}

}  // namespace slipway::deviceplugin
