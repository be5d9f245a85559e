// SPDX-License-Identifier: Apache-2.0
#include "nvidia/process/process.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/text.hpp>

#include "nvidia/kubelet/pod_folder.hpp"

namespace slipway::nvidia {
namespace {

constexpr std::size_t kMostBytes = 16384;
/// kubelet creates a link NAME_NAMESPACE_CONTAINER-ID.log for each container here.
constexpr const char* kContainerLogs = "/var/log/containers";
/// Maximum length of a pod's namespace, "/", and name in Kubernetes.
constexpr std::size_t kLongestPod = 63 + 1 + 253;

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string pod_name(const Host& host, const std::string& uid) {
  const auto folders = kubelet::pod_folders(host);
  const kubelet::PodFolder* const folder = kubelet::find_pod(folders, uid);
  return folder == nullptr ? uid : pod_text(folder->pod_namespace, folder->name);
}

/// Finds pod and container by the container's id, which is all that the control group has if pods have no groups of
/// their own.
void name_by_container(const Host& host, Process& process) {
  const auto links = host.list(kContainerLogs);
  if (!links) return;
  const std::string ending = "-" + process.owner.container + ".log";
  const auto link = std::ranges::find_if(*links, [&](const std::string& each) { return each.ends_with(ending); });
  if (link == links->end()) return;
  const auto names = split<std::string>(std::string_view(*link).substr(0, link->size() - ending.size()), '_');
  if (names.size() != 3) return;
  process.pod = pod_text(names[1], names[0]);
  process.pod_container = cleaned(names[2]);
}

std::string started_text(const Host& host, std::uint64_t start) {
  const std::string text = host.read("/proc/stat", std::size_t{1} << 20U).value_or("");
  const auto at = text.find("\nbtime ");
  if (at == std::string::npos || start == 0) return {};
  const auto from = at + std::string_view("\nbtime ").size();
  const auto boot = number_of<std::int64_t>(std::string_view(text).substr(from, text.find('\n', from) - from));
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (!boot || ticks <= 0) return {};
  return utc_text(*boot + static_cast<std::int64_t>(start / static_cast<std::uint64_t>(ticks)));
}

}  // namespace

std::string cleaned(std::string_view text, std::size_t most) {
  std::string clean(text.substr(0, most));
  for (char& letter : clean)
    if (letter < ' ' || letter > '~') letter = '?';
  return clean;
}

std::string pod_text(const std::string& pod_namespace, const std::string& pod) {
  return cleaned((pod_namespace.empty() ? "" : pod_namespace + "/") + pod, kLongestPod);
}

Process read_process(const Host& host, unsigned pid) {
  Process process;
  process.pid = pid;
  const std::string folder = fmt::format("/proc/{}", pid);
  const auto text = host.read(folder + "/stat", kMostBytes);
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return process;
  process.parent = stat->parent;
  process.name = cleaned(stat->name);
  process.state = stat->state;
  process.kernel_thread = stat->kernel_thread;
  process.start = stat->start;
  process.started = started_text(host, stat->start);
  process.owner = owner_of(host.read(folder + "/cgroup", kMostBytes).value_or(""));
  if (!process.owner.pod_uid.empty()) process.pod = pod_name(host, process.owner.pod_uid);
  if (!process.owner.container.empty() && process.owner.unit.empty()) name_by_container(host, process);
  return process;
}

std::string utc_text(std::int64_t seconds) {
  const std::time_t when = seconds;
  std::tm parts{};
  if (::gmtime_r(&when, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

std::string to_text(const Process& process) {
  std::string text = fmt::format("{} (pid {}", process.name.empty() ? "a process" : process.name, process.pid);
  const Owner& owner = process.owner;
  if (!process.pod.empty())
    text += ", pod " + process.pod + (process.pod_container.empty() ? "" : ", container " + process.pod_container);
  else if (!owner.container.empty())
    text +=
        ", " + owner.runtime + (owner.runtime.empty() ? "container " : " container ") + owner.container.substr(0, 12);
  else if (!owner.user_unit.empty())
    text += ", " + owner.user_unit;
  const bool is_own_unit = process.pod.empty() && owner.container.empty() && owner.user_unit.empty();
  if (!owner.unit.empty()) text += (is_own_unit ? ", " : " of ") + owner.unit;
  if (!process.started.empty()) text += ", since " + process.started;
  return text + ")";
}

}  // namespace slipway::nvidia
