// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/supported_gpus_files.hpp - reads the lists of supported devices that come with a driver: the
// README of the open modules, Debian's nvidia-open.ids, and NVIDIA's supported-gpus.json.
#pragma once

#include <string>
#include <string_view>

#include "driver/package/supported_gpus.hpp"

namespace slipway::driver {

/// Reads the table "Compatible GPUs" of the open modules' README.md: rows "| NAME | 1E02 [1028 08ED] |".
SupportedGpus gpus_of_readme(std::string_view text);

/// Reads nvidia-open.ids (package nvidia-detect): a line "10DE1EB8" for each device that the open modules support
/// although the README does not name it: boards of data centers such as T4. So a device that neither names may be
/// supported.
SupportedGpus gpus_of_ids(std::string_view text);

/// Reads supported-gpus.json of NVIDIA's .run file and packages. A chip with the feature "kernelopen" is supported by
/// the open modules, one with "gsp_proprietary_supported" by both kinds, one with "legacybranch" by none of this
/// version. Lists before the second feature existed do not say which chips require the open modules.
/// Errors: `invalid`, with the chip. @param file  for messages
Result<SupportedGpus> gpus_of_nvidia_json(const std::string& text, const std::string& file);

}  // namespace slipway::driver
