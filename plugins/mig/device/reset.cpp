// SPDX-License-Identifier: Apache-2.0
#include "mig/device/reset.hpp"

#include <chrono>

#include <slipway/text.hpp>

#include "nvidia/drain/process.hpp"

namespace slipway::mig {
namespace {

constexpr std::chrono::minutes kResetLimit{2};
constexpr std::size_t kLongestLine = 256;

}  // namespace

bool can_be_reset(const Host& host, const std::string& address) {
  return host.live() && host.exists("/sys/bus/pci/devices/" + address + "/reset");
}

std::string how_to_reset(const std::vector<Gpu>& gpus) {
  const std::string addresses = joined(gpus, ",", [](const Gpu& gpu) { return gpu.address; });
  return "end what uses " + std::string(gpus.size() == 1 ? "the GPU" : "these GPUs") +
         " and run `nvidia-smi --gpu-reset -i " + addresses + "`, or reboot";
}

Status reset_gpus(const Host& host, const std::string& driver_root, const std::vector<std::string>& addresses) {
  std::vector<std::string> words{"nvidia-smi", "--gpu-reset", "-i", joined(addresses, ",")};
  if (!driver_root.empty() && driver_root != "/") words.insert(words.begin(), {"chroot", driver_root});
  SLIPWAY_TRY(ran, host.run(words, kResetLimit));
  if (ran.exit_status == 0) return {};
  std::vector<std::string> messages;
  for (const std::string& line : lines_of(ran.output + ran.errors))
    if (const std::string_view text = trimmed(line); !text.empty())
      messages.push_back(nvidia::drain::cleaned(text, kLongestLine));
  return Error{.code = ErrorCode::busy,
               .what = "nvidia-smi did not reset it: " + joined(messages, " "),
               .where = joined(addresses),
               .next = "end what uses the GPU, or reboot"};
}

}  // namespace slipway::mig
