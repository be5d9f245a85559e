// SPDX-License-Identifier: Apache-2.0
// tests/unit/sim/direct_library.hpp - the simulated libnvidia-ml.so.1, called by the thread that measures the cost of a
// call.
#pragma once

#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "nvidia/nvml/abi/event.h"

namespace slipway::sim {

/// A copy of the library, because a loaded library keeps the state of earlier calls.
class DirectLibrary {
 public:
  DirectLibrary() {
    const std::string copy = folder_.at("libnvidia-ml.so.1").string();
    std::filesystem::copy(SIM_LIBRARY, copy);
    handle_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~DirectLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  DirectLibrary(const DirectLibrary&) = delete;
  DirectLibrary& operator=(const DirectLibrary&) = delete;

  template <class... Arguments>
  nvmlReturn_t call(const char* name, Arguments... arguments) const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): how dlsym gives a function
    auto* const function = reinterpret_cast<nvmlReturn_t (*)(Arguments...)>(dlsym(handle_, name));
    return function == nullptr ? NVML_ERROR_FUNCTION_NOT_FOUND : function(arguments...);
  }
  nvmlDevice_t gpu(unsigned index) const {
    nvmlDevice_t device = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", index, &device), NVML_SUCCESS);
    return device;
  }

 private:
  slipway::testing::TempDir folder_;
  void* handle_ = nullptr;
};

}  // namespace slipway::sim
