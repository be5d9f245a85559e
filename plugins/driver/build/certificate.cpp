// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <slipway/regular_file.hpp>

#include "driver/build/description.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kMostOfCertificate = std::size_t{1} << 20U;

struct BioEnd {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct KeyEnd {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateEnd {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

std::string subject_text(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  char name[256] = {};
  if (X509_NAME_get_text_by_NID(const_cast<X509_NAME*>(subject), NID_commonName, name, sizeof(name)) > 0) return name;
  X509_NAME_oneline(subject, name, sizeof(name));
  return name;
}

Result<std::unique_ptr<X509, CertificateEnd>> read_certificate(const std::string& file) {
  auto text = read_regular(file, kMostOfCertificate);
  if (!text) return Error{text.error().code, text.error().what, file, "name another file with --sign-cert", {}};
  const std::unique_ptr<BIO, BioEnd> bio(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  std::unique_ptr<X509, CertificateEnd> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate && BIO_reset(bio.get()) == 1) certificate.reset(d2i_X509_bio(bio.get(), nullptr));
  if (!certificate)
    return Error{ErrorCode::invalid,
                 "this is not an X.509 certificate, neither PEM nor DER",
                 file,
                 "name the certificate that belongs to the key",
                 {}};
  return certificate;
}

// Refuses keys with a passphrase: an unattended build cannot enter one.
int no_passphrase(char*, int, int, void*) { return 0; }

}  // namespace

Result<std::string> certificate_subject(const std::string& file) {
  SLIPWAY_TRY(certificate, read_certificate(file));
  return subject_text(certificate.get());
}

Status check_key_pair(const std::string& key, const std::string& certificate) {
  SLIPWAY_TRY(public_half, read_certificate(certificate));
  auto text = read_regular(key, kMostOfCertificate);
  if (!text) return Error{text.error().code, text.error().what, key, "name another file with --sign-key", {}};
  const std::unique_ptr<BIO, BioEnd> bio(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  const std::unique_ptr<EVP_PKEY, KeyEnd> private_half(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  OPENSSL_cleanse(text->data(), text->size());
  if (!private_half)
    return Error{ErrorCode::invalid,
                 "this is not a private key in PEM form without a passphrase",
                 key,
                 fmt::format("convert it: `openssl pkey -in {} -out FILE.pem`, and name that with --sign-key", key),
                 {}};
  if (X509_check_private_key(public_half.get(), private_half.get()) != 1)
    return Error{ErrorCode::invalid,
                 fmt::format("the certificate {} does not belong to the key", certificate),
                 key,
                 "name a key and its certificate with --sign-key and --sign-cert",
                 {}};
  return {};
}

}  // namespace slipway::driver
