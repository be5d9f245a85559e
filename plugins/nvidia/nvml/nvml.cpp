// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/nvml.hpp"

#include "nvidia/loaded_driver.hpp"

namespace slipway::nvidia::nvml {
namespace {

nvmlReturn_t initialise(const Library& library, bool attach) {
  if (!attach) {
    const auto with_flags = library.function<unsigned int>("nvmlInitWithFlags");
    if (with_flags != nullptr) return with_flags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH);
  }
  return invoke(library.function<>({"nvmlInit_v2", "nvmlInit"}));
}

}  // namespace

Result<std::unique_ptr<Nvml>> Nvml::open(const NvmlOptions& options) {
  std::unique_ptr<Nvml> nvml(new Nvml(options));
  SLIPWAY_CHECK(nvml->start());
  return nvml;
}

Nvml::~Nvml() { release(); }

Status Nvml::start() {
  if (options_.library.machine != nullptr && would_load_driver_for_nothing(*options_.library.machine))
    return Error{.code = ErrorCode::not_found,
                 .what = "no NVIDIA GPU on the PCI bus, so NVML is not started",
                 .next = "check that the GPU is seated and powered (`lspci -d 10de:`)"};
  SLIPWAY_TRY(library, Library::open(options_.library));
  library_ = library;
  const bool attach = options_.attach;
  const auto started = ask<int>([attach](const Library& opened, int&) { return initialise(opened, attach); });
  if (started) return {};
  const std::string path = library_->path();
  library_.reset();
  return to_error(started.code(), "start", path);
}

void Nvml::release() {
  if (!library_) return;
  // With a call stuck inside, a shutdown would wait for it: the process keeps that one initialisation.
  if (!inside_ && thread_.stuck() == 0)
    (void)ask<int>([](const Library& library, int&) { return invoke(library.function<>("nvmlShutdown")); }).ok();
  library_.reset();
}

Status Nvml::reopen() {
  release();
  return start();
}

}  // namespace slipway::nvidia::nvml
