// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/system.hpp"

#include "nvidia/nvml/text.hpp"

namespace slipway::nvidia::nvml {
namespace {

Answer<std::string> system_text(Nvml& nvml, const char* name) {
  return nvml.ask<std::string>([name](const Library& library, std::string& text) {
    char buffer[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = {};
    const nvmlReturn_t code =
        invoke(library.function<char*, unsigned int>(name), &buffer[0], static_cast<unsigned>(sizeof buffer));
    text = text_of(buffer);
    return code;
  });
}

}  // namespace

Answer<std::string> driver_version(Nvml& nvml) { return system_text(nvml, "nvmlSystemGetDriverVersion"); }

Answer<std::string> nvml_version(Nvml& nvml) { return system_text(nvml, "nvmlSystemGetNVMLVersion"); }

// The function without a suffix returns the driver's number; _v2 that of the libcuda beside it, and fails without one.
Answer<int> cuda_version(Nvml& nvml) {
  return nvml.ask<int>([](const Library& library, int& version) {
    return invoke(library.function<int*>({"nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2"}),
                  &version);
  });
}

Answer<std::string> process_name(Nvml& nvml, unsigned pid) {
  return ask_text<unsigned, 1024>(nvml, "nvmlSystemGetProcessName", pid);
}

}  // namespace slipway::nvidia::nvml
