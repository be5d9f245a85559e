// SPDX-License-Identifier: Apache-2.0
#include "mig/device/reset.hpp"

#include <chrono>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "nvidia/nvml/library.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::mig {
namespace {

constexpr std::chrono::minutes kResetLimit{2};
constexpr std::size_t kLongestLine = 256;

/// Checks the programs and libraries that chroot(8) starts there: none of them may belong to another user.
Status check_driver_root(const Host& host, const std::string& driver_root) {
  SLIPWAY_CHECK(check_only_ours(host, driver_root));
  const auto root = RootDir::open(host.root_folder() + driver_root);
  if (!root) return {};  // chroot(8) reports it
  for (const char* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"})
    SLIPWAY_CHECK(check_only_ours(*root, std::string(folder) + "/nvidia-smi"));
  for (const char* file : {"/etc/ld.so.preload", "/etc/ld.so.cache", "/lib64/ld-linux-x86-64.so.2"})
    SLIPWAY_CHECK(check_only_ours(*root, file));
  for (const std::string& library : nvidia::nvml::library_candidates("/"))
    SLIPWAY_CHECK(check_only_ours(*root, library));
  return {};
}

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
  if (!driver_root.empty() && driver_root != "/") {
    SLIPWAY_CHECK(check_driver_root(host, driver_root));
    words.insert(words.begin(), {"chroot", driver_root});
  }
  SLIPWAY_TRY(ran, host.run(words, kResetLimit));
  if (ran.exit_status == 0) return {};
  std::vector<std::string> messages;
  for (const std::string& line : lines_of(ran.output + ran.errors))
    if (const std::string_view text = trimmed(line); !text.empty())
      messages.push_back(nvidia::cleaned(text, kLongestLine));
  return Error{.code = ErrorCode::busy,
               .what = "nvidia-smi did not reset the GPU: " + joined(messages, " "),
               .where = joined(addresses),
               .next = "stop the processes that use the GPU, or reboot"};
}

}  // namespace slipway::mig
