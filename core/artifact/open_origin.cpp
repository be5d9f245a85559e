// SPDX-License-Identifier: Apache-2.0
#include "core/artifact/open_origin.hpp"

namespace slipway::artifact {

Result<std::unique_ptr<Origin>> open_origin(const Source& source, const OriginContext& context) {
  static_cast<void>(context);
  if (!source.is_registry()) return open_local(source);
  return Error{.code = ErrorCode::unsupported,
               .what = "this slipway reads OCI layouts and bundles only",
               .where = source.repository,
               .next = "copy the package to a layout folder and name that"};
}

}  // namespace slipway::artifact
