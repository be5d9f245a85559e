// SPDX-License-Identifier: Apache-2.0
#include "artifact/open_origin.hpp"

#include "artifact/registry/registry_origin.hpp"

namespace slipway::artifact {

Result<std::unique_ptr<Origin>> open_origin(const Source& source, const OriginContext& context) {
  return source.is_registry() ? open_registry(source, context) : open_local(source);
}

}  // namespace slipway::artifact
