// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/supported_gpus_files.hpp - reads the lists of supported devices that come with a driver: the
// README of the open modules, Debian's nvidia.ids, and NVIDIA's supported-gpus.json.
#pragma once

#include <string>
#include <string_view>

#include "driver/package/supported_gpus.hpp"

namespace slipway::driver {

/// Reads the table "Compatible GPUs" of the open modules' README.md: rows "| NAME | 1E02 [1028 08ED] |".
SupportedGpus gpus_of_readme(std::string_view text);

/// Reads nvidia.ids (package nvidia-detect): a line "10DE1E02" for each device that the driver supports with any of its
/// modules. Those that `open`, the README's list, does not name are not supported by the open modules.
SupportedGpus gpus_of_ids(std::string_view text, const SupportedGpus& open);

/// Reads supported-gpus.json of NVIDIA's .run file and packages. A chip with the feature "kernelopen" is supported by
/// the open modules, one with "gsp_proprietary_supported" by both kinds, one with "legacybranch" by none of this
/// version. Lists before the second feature existed do not say which chips require the open modules.
/// Errors: `invalid`, with the chip. @param file  for messages
Result<SupportedGpus> gpus_of_nvidia_json(const std::string& text, const std::string& file);

}  // namespace slipway::driver
