// SPDX-License-Identifier: Apache-2.0
// sign_file/ contains a throw-away RSA key, its certificate, and the output of Linux 6.1's sign-file for a file with
// the text "module bytes" and a line end.
#include "sandbox/module_signature.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <slipway/regular_file.hpp>

#include "build_fixture.hpp"

namespace slipway::sandbox {
namespace {

using ::testing::HasSubstr;

constexpr const char* kModuleText = "module bytes\n";

class ModuleSignature : public ::testing::Test {
 protected:
  ModuleSignature() { work.put("/module", kModuleText); }

  Result<std::string> signature(const std::string& with_key, const std::string& with_certificate,
                                const std::string& digest) {
    SLIPWAY_TRY(signer, ModuleSigner::open(with_key, with_certificate));
    const Fd module(::open(work.at("/module").c_str(), O_RDONLY | O_CLOEXEC));
    return signer.signature_of(module.get(), digest, "module");
  }
  Error refusal(const std::string& with_key, const std::string& with_certificate) {
    const auto signer = ModuleSigner::open(with_key, with_certificate);
    EXPECT_FALSE(signer.ok());
    return signer ? Error{} : signer.error();
  }
  /// Runs `openssl cms -verify` on the signature at the end of the file `path`.
  std::string verified(const std::string& path, const std::string& certificate_file) {
    constexpr std::size_t kTrailer = 12 + 28;
    const std::string all = work.content(path);
    const std::size_t module = std::string(kModuleText).size();
    work.put("/der", all.substr(module, all.size() - module - kTrailer));
    return test::output_of("openssl cms -verify -binary -inform DER -nointern -noverify -in " + work.at("/der") +
                           " -content " + work.at("/module") + " -certfile " + certificate_file +
                           " -out /dev/null 2>&1");
  }

  const std::string key = of_sign_file("key.pem");
  const std::string certificate = of_sign_file("certificate.pem");
  TempRoot work;
};

std::string bytes_of(const std::string& file) { return read_regular(file, 1U << 20U).value_or(""); }

TEST_F(ModuleSignature, EqualsThatOfTheKernelsSignFile) {
  for (const std::string digest : {"sha256", "sha512"}) {
    const auto made = signature(key, certificate, digest);
    ASSERT_TRUE(made.ok()) << to_text(made.error());
    EXPECT_EQ(kModuleText + *made, bytes_of(of_sign_file("signed-" + digest))) << digest;
  }
}

TEST_F(ModuleSignature, IsVerifiedByOpenssl) {
  for (const std::string algorithm : {"rsa:2048", "ec -pkeyopt ec_paramgen_curve:P-384"})
    for (const std::string digest : {"sha224", "sha256", "sha384", "sha512"}) {
      test::output_of("openssl req -x509 -nodes -subj /CN=x -newkey " + algorithm + " -keyout " + work.at("/key") +
                      " -outform DER -out " + work.at("/der-certificate") + " 2>&1");
      test::output_of("openssl x509 -inform DER -in " + work.at("/der-certificate") + " -out " +
                      work.at("/certificate"));
      const auto made = signature(work.at("/key"), work.at("/der-certificate"), digest);
      ASSERT_TRUE(made.ok()) << to_text(made.error());
      work.put("/signed", kModuleText + *made);
      EXPECT_THAT(verified("/signed", work.at("/certificate")), HasSubstr("successful")) << algorithm << digest;
      work.put("/module", "module bites\n");
      EXPECT_THAT(verified("/signed", work.at("/certificate")), HasSubstr("failure")) << algorithm << digest;
      work.put("/module", kModuleText);
    }
}

TEST_F(ModuleSignature, NeedsADigestThatKernelsKnow) {
  for (const std::string digest : {"", "md5", "sha512 /etc/shadow", "shake256"}) {
    const auto made = signature(key, certificate, digest);
    ASSERT_FALSE(made.ok()) << digest;
    EXPECT_EQ(made.error().code, ErrorCode::unsupported) << digest;
  }
}

TEST_F(ModuleSignature, NeedsAKeyWithoutAPassPhraseAndItsOwnCertificate) {
  test::output_of("openssl genpkey -algorithm RSA -aes128 -pass pass:x -out " + work.at("/locked") + " 2>&1");
  test::output_of("openssl genpkey -algorithm RSA -out " + work.at("/other") + " 2>&1");
  work.put("/text", "neither\n");
  EXPECT_THAT(refusal(work.at("/locked"), certificate).what, HasSubstr("without a pass phrase"));
  EXPECT_THAT(refusal(work.at("/text"), certificate).what, HasSubstr("not a private key in PEM form"));
  EXPECT_THAT(refusal(key, work.at("/text")).what, HasSubstr("not an X.509 certificate"));
  EXPECT_THAT(refusal(work.at("/other"), certificate).what, HasSubstr("does not belong to the signing key"));
  EXPECT_EQ(refusal("pkcs11:object=key", certificate).code, ErrorCode::unsupported);
  EXPECT_EQ(refusal(work.at("/none"), certificate).code, ErrorCode::not_found);
}

TEST_F(ModuleSignature, WaitsForNoPipe) {
  ASSERT_EQ(::mkfifo(work.at("/pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(work.at("/pipe"), certificate).code, ErrorCode::invalid);
  EXPECT_EQ(refusal(key, work.at("/pipe")).code, ErrorCode::invalid);
  EXPECT_EQ(refusal("/dev/zero", certificate).code, ErrorCode::invalid);
}

}  // namespace
}  // namespace slipway::sandbox
