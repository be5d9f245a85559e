// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include "artifact/registry/http.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::artifact {
namespace {

// Certificates were looked for where Debian has them, so that a slipway built there trusted nobody on Red Hat's
// systems.
TEST(SystemCa, IsFoundWhereEachDistributionHasIt) {
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem"}) {
    const slipway::test::TempRoot root;
    root.put(file, "certificates");
    EXPECT_EQ(system_ca_file(root.folder()), root.at(file));
  }
}

TEST(SystemCa, IsNoFileWhereThereIsNone) {
  const slipway::test::TempRoot root;
  EXPECT_EQ(system_ca_file(root.folder()), "");
}

}  // namespace
}  // namespace slipway::artifact
