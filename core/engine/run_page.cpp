// SPDX-License-Identifier: Apache-2.0
#include "core/engine/run_page.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace slipway::core {

RunPage::RunPage() : memory_(::memfd_create("slipway-run", MFD_CLOEXEC)) {
  constexpr off_t kBytes = 4096;
  if (memory_ && ::ftruncate(memory_.get(), kBytes) != 0) memory_ = Fd();
}

std::string RunPage::environment() const {
  const std::string file =
      memory_ ? "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory_.get()) : std::string();
  return "SLIPWAY_RUN_PAGE=" + file;
}

}  // namespace slipway::core
