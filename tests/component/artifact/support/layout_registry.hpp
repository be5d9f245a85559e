// SPDX-License-Identifier: Apache-2.0
// tests/component/artifact/support/layout_registry.hpp - serves an OCI layout as a registry would, with faults put in.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "artifact/oci/layout.hpp"
#include "artifact/registry/registry_origin.hpp"
#include "tests/component/artifact/support/http_server.hpp"
#include "tests/unit/artifact/support/layout_maker.hpp"

namespace slipway::artifact::test {

/// The read half of distribution-spec over a layout: manifests by tag and digest, blobs with ranges, tags in pages.
class LayoutRegistry {
 public:
  /// Returns a faulty response instead of the correct one; empty: answer correctly.
  using Fault = std::function<std::optional<ServedResponse>(const ServedRequest&)>;

  explicit LayoutRegistry(const LayoutMaker& layout, Fault fault = {});

  const HttpServer& server() const { return server_; }
  std::string repository() const { return "oci://" + server_.authority() + "/nvidia/driver"; }
  std::size_t page_size = 100;  ///< tags in one answer

  /// The right answer.
  ServedResponse answer(const ServedRequest& request) const;

 private:
  ServedResponse manifest(const std::string& reference) const;
  ServedResponse blob(const std::string& digest, const ServedRequest& request) const;
  ServedResponse tags(const std::string& target) const;

  const LayoutMaker& layout_;
  Fault fault_;
  HttpServer server_;
};

/// An error answer of a registry.
ServedResponse registry_error(int status, const std::string& code, const std::string& message);

/// Settings with short waits.
ClientSettings quick_settings();

}  // namespace slipway::artifact::test
