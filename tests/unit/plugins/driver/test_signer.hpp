// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/test_signer.hpp - a key that signs modules as the kernel's scripts/sign-file does.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "tests/unit/base/elf/module_elf.hpp"

namespace slipway::driver::testing {

class TestSigner {
 public:
  /// A self-signed certificate, as a kernel's build makes one.
  TestSigner(const std::string& name, long serial) : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
    X509* const x509 = certificate_.get();
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), serial);
    X509_gmtime_adj(X509_getm_notBefore(x509), 0);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_NAME* const subject = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("Tests"), -1, -1, 0);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()), -1,
                               -1, 0);
    X509_set_issuer_name(x509, subject);
    X509_set_pubkey(x509, key_.get());
    X509V3_CTX context{};
    X509V3_set_ctx(&context, x509, x509, nullptr, nullptr, 0);
    X509_EXTENSION* const id = X509V3_EXT_conf_nid(nullptr, &context, NID_subject_key_identifier, "hash");
    X509_add_ext(x509, id, -1);
    X509_EXTENSION_free(id);
    if (X509_sign(x509, key_.get(), EVP_sha256()) == 0) throw std::runtime_error("cannot make a certificate");
  }

  /// Returns the certificate in DER.
  std::string certificate() const {
    unsigned char* out = nullptr;
    const int size = i2d_X509(certificate_.get(), &out);
    std::string der(reinterpret_cast<char*>(out), static_cast<std::size_t>(size));
    OPENSSL_free(out);
    return der;
  }

  /// Returns the module with its signature appended.
  std::string sign(const std::string& module) const {
    const unsigned flags = CMS_NOCERTS | CMS_PARTIAL | CMS_BINARY | CMS_DETACHED;
    BIO* const content = BIO_new_mem_buf(module.data(), static_cast<int>(module.size()));
    CMS_ContentInfo* const cms = CMS_sign(nullptr, nullptr, nullptr, content, flags | CMS_STREAM);
    CMS_add1_signer(cms, certificate_.get(), key_.get(), EVP_sha256(),
                    CMS_NOCERTS | CMS_BINARY | CMS_NOSMIMECAP | CMS_NOATTR);
    CMS_final(cms, content, nullptr, flags);
    unsigned char* out = nullptr;
    const int size = i2d_CMS_ContentInfo(cms, &out);
    const std::string message(reinterpret_cast<char*>(out), static_cast<std::size_t>(size));
    OPENSSL_free(out);
    CMS_ContentInfo_free(cms);
    BIO_free(content);
    return module + slipway::testing::appended_signature(message);
  }

 private:
  struct KeyEnd {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  struct CertificateEnd {
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  std::unique_ptr<EVP_PKEY, KeyEnd> key_;
  std::unique_ptr<X509, CertificateEnd> certificate_;
};

/// Returns an EFI_SIGNATURE_LIST with this certificate.
inline std::string efi_signature_list(const std::string& certificate) {
  using slipway::testing::bytes_of;
  const auto signature = static_cast<std::uint32_t>(16 + certificate.size());
  return std::string("\xa1\x59\xc0\xa5\xe4\x94\xa7\x4a\x87\xb5\xab\x15\x5c\x2b\xf0\x72", 16) +
         bytes_of(std::uint32_t{28} + signature) + bytes_of(std::uint32_t{0}) + bytes_of(signature) +
         std::string(16, 'o') + certificate;
}

}  // namespace slipway::driver::testing
