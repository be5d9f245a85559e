// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/test_catalogue.hpp - catalogues of driver packages, and the inputs that hold one.
#pragma once

#include <string>
#include <vector>

#include <slipway/inputs.hpp>

namespace slipway::driver::testing {

inline constexpr const char* kVersion = "535.261.03";
inline constexpr const char* kRepository = "oci://registry:5000/nvidia/driver";

/// A package for one kernel, or the source package when `kernel` is empty. Digests are made from its purpose:
/// "sha256:535.261.03-open-6.1.0-50-amd64".
struct TestPackage {
  std::string kernel = "6.1.0-50-amd64";
  std::string version = kVersion;
  std::string flavour = "open";
  std::string os = "debian12";
  std::string arch = "x86_64";
  std::string vermagic = {};            ///< of the modules layer; empty: not stated
  Json extra = Json::object();          ///< more annotations of the manifest
  Json modules_notes = Json::object();  ///< more annotations of the modules layer

  CatalogueEntry entry() const;
};

Catalogue catalogue(const std::vector<TestPackage>& packages, bool complete = true);
Json to_json(const Catalogue& catalogue);

struct TestTarget {
  bool live = true;
  std::string kernel = "6.1.0-50-amd64";
  std::string hardware = "detect";
  std::string arch = "x86_64";
};
Inputs inputs(const std::vector<TestPackage>& packages, const TestTarget& target = {}, bool complete = true);

}  // namespace slipway::driver::testing
