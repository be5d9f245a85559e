// SPDX-License-Identifier: Apache-2.0
// Brings the one function of fmt that the service calls into its program, which is linked with the C++ library inside:
// a shared libfmt would load another one.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

namespace slipway::deviceplugin {

using Format = std::string (*)(fmt::string_view text, fmt::format_args values);
extern const Format own_format;
const Format own_format = &fmt::vformat;

}  // namespace slipway::deviceplugin
