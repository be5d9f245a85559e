// SPDX-License-Identifier: Apache-2.0
#include "validator/cuda_check.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kLimit{60};

// CUresult, cuda.h
constexpr int kOutOfMemory = 2;
constexpr int kDeviceUnavailable = 46;
constexpr int kNoDevice = 100;
constexpr int kOperatingSystem = 304;
constexpr int kSystemNotReady = 802;
constexpr int kVersionMismatch = 803;
constexpr int kUnknown = 999;

std::string remedy_of(int code, const CudaSurroundings& around) {
  if (code == kNoDevice && around.mig_without_instances)
    return "MIG is on and no GPU has an instance: create some (`nvidia-smi mig -cgi … -C`), or switch MIG off";
  switch (code) {
    case kSystemNotReady:
      return "start the fabric manager of the driver's own version (`systemctl status nvidia-fabricmanager`)";
    case kVersionMismatch:
      return "library and kernel module are of different drivers: reboot, or `slipway doctor driver`";
    case kOperatingSystem:
    case kUnknown:
      return "check /dev/nvidia-uvm (`slipway doctor driver`), then the kernel's log for NVRM lines";
    default:
      return "look for NVRM lines in `dmesg`; `slipway doctor driver` knows the common ones";
  }
}

/// True when another process uses the GPU so that nothing can run on it; that does not show a fault of the GPU.
bool in_use(int code) { return code == kOutOfMemory || code == kDeviceUnavailable; }

}  // namespace

CudaSurroundings look_around(const Host& host, const DriverCheck& driver) {
  CudaSurroundings around;
  if (driver.place()) around.library = find_library(host, *driver.place(), "libcuda.so.1");
  if (!around.library.empty() && host.root_folder() != "/") around.library = host.root_folder() + around.library;
  around.mig_without_instances = driver.mig_without_instances();
  return around;
}

Finding read_probe(const Json& answer, const CudaSurroundings& around) {
  if (!answer.is_object()) return not_tried(kCudaCheck, "the probe program gave no answer");
  const std::string stage = answer.value("stage", "");
  const int code = answer.value("code", -1);
  if (stage == "load")
    return fails(kCudaCheck, fmt::format("{} cannot be loaded: {}", around.library, answer.value("text", "")),
                 "run `slipway apply`: the driver's libraries are incomplete");
  if (stage != "done")
    return fails(kCudaCheck, fmt::format("CUDA does not start: {} ({})", answer.value("name", ""), code),
                 remedy_of(code, around));
  const Json devices = answer.value("devices", Json::array());
  std::size_t tried = 0;
  std::string busy;
  for (const Json& device : devices) {
    const int result = device.value("code", -1);
    const std::string what = fmt::format("CUDA device {}: {} at step {}", device.value("index", 0),
                                         device.value("name", ""), device.value("step", ""));
    if (in_use(result))
      busy = what;
    else if (result != 0)
      return fails(kCudaCheck, what, remedy_of(result, around));
    else
      ++tried;
  }
  if (devices.empty()) return fails(kCudaCheck, "CUDA starts but finds no device", remedy_of(kNoDevice, around));
  if (!busy.empty())
    return not_tried(kCudaCheck, fmt::format("{}; {} of {} GPUs computed", busy, tried, devices.size()));
  return passes(kCudaCheck, fmt::format("a kernel ran on {} {}", tried, tried == 1 ? "GPU" : "GPUs"));
}

Finding check_cuda(const CudaSurroundings& around, const std::stop_token& stop) {
  if (around.library.empty())
    return fails(kCudaCheck, "the driver's library libcuda.so.1 is missing", "run `slipway apply`");
  const auto program = program_beside_plugin(kCudaProbe);
  if (!program) return not_tried(kCudaCheck, program.error().what);
  const std::string folder = std::filesystem::path(around.library).parent_path().string();
  // No cache: the check leaves no files behind.
  const auto output =
      run_probe({*program, around.library},
                {"LD_LIBRARY_PATH=" + folder, "CUDA_CACHE_DISABLE=1", "HOME=/", "PATH=/usr/bin:/bin"}, kLimit, stop);
  if (output) return read_probe(Json::parse(*output, nullptr, false), around);
  if (output.error().code == ErrorCode::timed_out)
    return fails(kCudaCheck, fmt::format("CUDA did not answer within {} s", kLimit.count()),
                 "look for Xid and NVRM lines in `dmesg`; a GPU that hangs needs a reset or a reboot");
  if (output.error().code == ErrorCode::io)
    return fails(kCudaCheck, "CUDA crashed: " + output.error().what, "look for Xid lines in `dmesg`");
  return not_tried(kCudaCheck, output.error().what);
}

}  // namespace slipway::validator
