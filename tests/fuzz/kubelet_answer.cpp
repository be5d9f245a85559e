// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/kubelet_answer.cpp - the answers from kubelet's socket, for the NRI plugin and for the readers of pods'
// devices: HTTP/2, gRPC, and a list of pods; and kubelet's checkpoint.
#include <algorithm>
#include <cstdint>
#include <set>

#include <sys/socket.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/kubelet/allocations.hpp"
#include "nvidia/kubelet/pod_resources.hpp"
#include "nvidia/kubelet/unary_call.hpp"
#include "tests/fuzz/fuzz_check.hpp"
#include "toolkit/nri/given_devices.hpp"

namespace {

using namespace slipway;

constexpr std::size_t kLargest = 4096;

/// Returns the result of a call when the other side sends these bytes and closes the connection.
Result<std::string> answer_to(std::string_view words) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  (void)!::write(ends[1], words.data(), words.size());  // as much as the socket accepts
  ::shutdown(ends[1], SHUT_WR);
  auto answer = nvidia::kubelet::call(ends[0], {.method = "/v1.PodResourcesLister/List",
                                                .message = {},
                                                .limit = std::chrono::seconds(5),
                                                .largest_answer = kLargest});
  ::close(ends[0]);
  ::close(ends[1]);
  return answer;
}

void demand_uuids(const std::string& list) {
  const auto pods = nvidia::kubelet::parse_pods(list);
  fuzz::demand_presentable(pods);
  if (!pods) return;
  const auto uuids = nri::uuids_in(*pods, {"team-a", "train-0", "cuda"});
  for (const std::string& uuid : uuids)
    fuzz::demand(uuid.starts_with("GPU-") || uuid.starts_with("MIG-"), "only GPUs and MIG devices are given");
  fuzz::demand(std::set<std::string>(uuids.begin(), uuids.end()).size() == uuids.size(), "each is given once");
}

/// For any answer of kubelet, each allocation must be listed once, in order, with names that are valid in Kubernetes.
void demand_allocations(const std::string& text) {
  using namespace nvidia::kubelet;
  const auto pods = parse_pods(text);
  fuzz::demand_presentable(pods);
  const auto checkpoint = parse_checkpoint(text, "/checkpoint");
  fuzz::demand_presentable(checkpoint);
  static const slipway::testing::FakeHost kHost;
  PodTraces traces(kHost, "/var/lib/kubelet");
  const auto all = merge(pods ? &*pods : nullptr, checkpoint ? *checkpoint : Checkpoint(), traces);
  fuzz::demand(std::ranges::is_sorted(all), "they are sorted");
  fuzz::demand(std::ranges::adjacent_find(all) == all.end(), "each is told once");
  for (const Allocation& each : all)
    fuzz::demand(each.pod.size() <= 253 && each.container.size() <= 253 && each.id.size() <= 253, "names are bounded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto answer = answer_to(bytes);
  fuzz::demand_presentable(answer);
  if (answer) {
    fuzz::demand(answer->size() <= kLargest, "no answer is larger than allowed");
    fuzz::demand(answer->empty() || size > answer->size(), "an answer has come over the socket");
    demand_uuids(*answer);
  } else {
    fuzz::demand(answer.error().code != ErrorCode::timed_out, "who has ended is not waited for");
  }
  demand_uuids(std::string(bytes));
  demand_allocations(std::string(bytes));
  return 0;
}
