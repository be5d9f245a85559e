// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <curl/curl.h>
#include <gtest/gtest.h>

#include "artifact/registry/http/http.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::artifact {
namespace {

// Before the fix, certificates were looked up in Debian's place only, so that a slipway built there failed on Red Hat's
// systems.
TEST(SystemCa, IsFoundWhereEachDistributionHasIt) {
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem"}) {
    const slipway::test::TempRoot root;
    root.put(file, "certificates");
    EXPECT_EQ(system_ca_file(root.folder()), root.at(file));
  }
}

TEST(SystemCa, IsEmptyWithoutAnyFile) {
  const slipway::test::TempRoot root;
  EXPECT_EQ(system_ca_file(root.folder()), "");
}

// Before the fix, a root without ca-certificates asked five times, and advised to try again.
TEST(SystemCa, ThatIsMissingIsNamedWithThePackageThatBringsIt) {
  const Error error = transport_error("https://registry.example.com/v2/", CURLE_SSL_CACERT_BADFILE, "");
  EXPECT_FALSE(is_worth_retrying(error));
  EXPECT_NE(error.next.find("ca-certificates"), std::string::npos) << error.next;
  EXPECT_EQ(error.code, ErrorCode::unsupported) << "on loopback it is asked without TLS then";
}

}  // namespace
}  // namespace slipway::artifact
