// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <set>
#include <sstream>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

#include "nvidia/kubelet/pod_resources.hpp"
#include "toolkit/environment.hpp"
#include "toolkit/runtime/component/component.hpp"

namespace slipway::toolkit {
namespace {

using namespace std::string_view_literals;

constexpr const char* kFinding = "runtime.kubelet";
constexpr std::size_t kMostSockets = 16U << 20U;
constexpr std::chrono::milliseconds kGreetingLimit{2000};
// The beginning of HTTP/2 (RFC 9113, 3.4): the preface, and an empty frame of settings.
constexpr std::string_view kHello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"sv;
constexpr std::size_t kFrameHead = 9;
constexpr char kSettingsFrame = 4;

/// True when the listener answers like a gRPC server.
bool greets(int fd) {
  if (::send(fd, kHello.data(), kHello.size(), MSG_NOSIGNAL) < 0) return false;
  const auto limit = std::chrono::steady_clock::now() + kGreetingLimit;
  std::string head;
  while (head.size() < kFrameHead) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    pollfd watched{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) != 1) return false;
    std::array<char, kFrameHead> part;
    const ssize_t got = ::recv(fd, part.data(), kFrameHead - head.size(), 0);
    if (got <= 0) return false;
    head.append(part.data(), static_cast<std::size_t>(got));
  }
  return head[3] == kSettingsFrame;
}

/// True when the listener is a program of root or of this user. In the kernel's list any user may listen under such a
/// name, and the program that is taken for kubelet decides which GPUs a container gets.
bool is_of_root(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == 0 || peer.uid == ::geteuid());
}

/// Returns kubelet's root by its socket; empty: not found.
std::string root_of_kubelet(const Host& host) {
  const std::string_view end = nvidia::kubelet::kPodResourcesBelowRoot;
  const std::string root = host.root_folder() == "/" ? "" : host.root_folder();
  for (std::string path : listening_sockets(host, file_name(std::string(end)))) {
    if (!path.ends_with(end)) continue;
    if (path.starts_with(root)) path.erase(0, root.size());
    const auto listens = connect_to(host, path);
    if (!listens || !is_of_root(listens->get())) continue;
    return path.substr(0, path.size() - end.size());
  }
  return {};
}

}  // namespace

std::vector<std::string> listening_sockets(const Host& host, const std::string& wanted) {
  if (!host.live()) return {};
  std::string list;  // process 1 may be in another network namespace than a container that acts for the host
  for (const char* path : {"/proc/1/net/unix", "/proc/net/unix"}) list += host.read(path, kMostSockets).value_or("");
  std::set<std::string> paths;
  for (const std::string& line : lines_of(list)) {
    // Num: RefCount Protocol Flags Type St Inode Path; the flag is __SO_ACCEPTCON.
    std::istringstream words(line);
    std::string skipped;
    std::string flags;
    std::string path;
    words >> skipped >> skipped >> skipped >> flags >> skipped >> skipped >> skipped >> path;
    if (flags == "00010000" && file_name(path) == wanted) paths.insert(path);
  }
  return {paths.begin(), paths.end()};
}

void verify_kubelet(const RuntimeSettings& settings, const Host& host, Findings& findings) {
  if (!findings.on_live_machine(host, kFinding)) return;
  const std::string socket = settings.kubelet_root + nvidia::kubelet::kPodResourcesBelowRoot;
  const auto end = connect_to(host, socket);
  if (end && greets(end->get()))
    return findings.pass(kFinding, "kubelet reports at " + socket + " which devices it has given to a container");
  if (host.booting()) return findings.not_exercised(kFinding, "kubelet may start once this boot is verified");
  const std::string found = root_of_kubelet(host);
  if (!end && found.empty())
    return findings.not_exercised(kFinding, "no kubelet runs: only rules give devices to unprivileged containers");
  if (!end && found != settings.kubelet_root)
    return findings.fail(kFinding,
                         "kubelet's folder is " + found + ", but slipway asks at " + socket + ": pods get no devices",
                         "write kubelet_root: " + found + " for the component runtime");
  findings.fail(kFinding,
                "the process that listens at " + socket + " does not answer like kubelet: pods get no devices",
                "check kubelet, for example with `systemctl status kubelet`");
}

}  // namespace slipway::toolkit
