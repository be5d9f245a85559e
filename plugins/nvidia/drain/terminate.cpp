// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/terminate.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/fd.hpp>

#include "nvidia/drain/driver_users.hpp"
#include "nvidia/process/process.hpp"
#include "nvidia/process/process_files.hpp"

namespace slipway::nvidia::drain {
namespace {

using Clock = std::chrono::steady_clock;

/// The kernel ends a killed process within this time, unless it waits for a device.
constexpr std::chrono::seconds kKillLimit{5};

/// A process to end.
struct Target {
  DeviceHolder holder;
  Fd pidfd;
};

bool send(const Target& target, int signal) {
  return ::syscall(SYS_pidfd_send_signal, target.pidfd.get(), signal, nullptr, 0) == 0 || errno == ESRCH;
}

bool has_ended(const Target& target) {
  pollfd wanted{target.pidfd.get(), POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

/// Waits until all have ended or the time is over, and removes those that have ended.
void wait_for(std::vector<Target>& targets, Clock::time_point end) {
  for (;;) {
    std::erase_if(targets, has_ended);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (targets.empty() || left <= 0) return;
    std::vector<pollfd> wanted;
    for (const Target& each : targets) wanted.push_back({each.pidfd.get(), POLLIN, 0});
    if (::poll(wanted.data(), wanted.size(), static_cast<int>(left)) < 0 && errno != EINTR) return;
  }
}

/// Opens a pidfd. @return why the process must not be ended; empty: it may be, or has ended already
std::string open_target(const DeviceHolder& holder, const OwnProcesses& own, DriverUsers& users,
                        std::vector<Target>& targets) {
  if (holder.kind == DeviceHolder::Kind::pod) return "it is a pod without a known process";
  if (holder.kind != DeviceHolder::Kind::process) return "only known processes are ended";
  const unsigned pid = holder.process.pid;
  if (pid <= 1) return "process 1 is never ended";
  if (holder.process.kernel_thread) return "a thread of the kernel is never ended";
  if (own.contains(pid)) return "it is slipway's own";
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (!pidfd && errno == ESRCH && holder.process.start != 0) return {};
  if (!pidfd && errno != ESRCH) return std::string("it cannot be opened: ") + std::strerror(errno);
  const auto here = pidfd ? local_stat(pid) : std::nullopt;
  if (!here || holder.process.start == 0) return "it is not a process that slipway can see on this machine";
  if (here->start != holder.process.start) return {};  // another process has its pid now
  if (!users.contains(holder))
    return "NVML does not list it and it uses no library of the driver: it only has the device open, perhaps passed on "
           "by another user";
  targets.push_back({holder, std::move(pidfd)});
  return send(targets.back(), 0) ? std::string() : "this user may not end it";
}

std::vector<Remaining> open_targets(const Host& host, const std::vector<DeviceHolder>& holders,
                                    std::vector<Target>& targets) {
  const OwnProcesses own(host);
  DriverUsers users(host);
  std::vector<Remaining> remaining;
  for (const DeviceHolder& holder : holders)
    if (std::string why = open_target(holder, own, users, targets); !why.empty())
      remaining.push_back({holder, std::move(why)});
  return remaining;
}

}  // namespace

std::vector<Remaining> find_unendable(const Host& host, const std::vector<DeviceHolder>& holders) {
  std::vector<Target> targets;
  return open_targets(host, holders, targets);
}

std::vector<Remaining> terminate(const Host& host, const std::vector<DeviceHolder>& holders,
                                 std::chrono::seconds grace) {
  std::vector<Target> targets;
  std::vector<Remaining> remaining = open_targets(host, holders, targets);
  if (!remaining.empty()) return remaining;  // ending the others would be useless
  for (const Target& each : targets)
    if (!send(each, SIGTERM)) remaining.push_back({each.holder, "this user may not end it"});
  if (!remaining.empty()) return remaining;
  wait_for(targets, Clock::now() + grace);
  for (const Target& each : targets) (void)send(each, SIGKILL);
  wait_for(targets, Clock::now() + kKillLimit);
  for (const Target& each : targets) {
    const bool in_kernel = local_stat(each.holder.process.pid).value_or(ProcessStat()).state == 'D';
    remaining.push_back({each.holder, in_kernel ? "it cannot be killed: it waits in the kernel (state D)"
                                                : "it has not ended though it was killed"});
  }
  return remaining;
}

}  // namespace slipway::nvidia::drain
