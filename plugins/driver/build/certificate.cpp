// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "driver/build/description.hpp"

namespace slipway::driver {
namespace {

struct BioEnd {
  void operator()(BIO* bio) const { BIO_free(bio); }
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

}  // namespace

Result<std::string> certificate_subject(const std::string& file) {
  const std::unique_ptr<BIO, BioEnd> bio(BIO_new_file(file.c_str(), "rb"));
  if (!bio)
    return Error{
        ErrorCode::not_found, "the certificate cannot be read", file, "name another file with --sign-cert", {}};
  std::unique_ptr<X509, CertificateEnd> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate && BIO_reset(bio.get()) == 0) certificate.reset(d2i_X509_bio(bio.get(), nullptr));
  if (!certificate)
    return Error{ErrorCode::invalid,
                 "this is no X.509 certificate, neither PEM nor DER",
                 file,
                 "name the certificate that belongs to the key",
                 {}};
  return subject_text(certificate.get());
}

}  // namespace slipway::driver
