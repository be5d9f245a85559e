// SPDX-License-Identifier: Apache-2.0
#include "driver/enroll/signing_key.hpp"

#include <memory>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace slipway::driver {
namespace {

constexpr int kKeyBits = 2048;
constexpr long kValidSeconds =
    60L * 60 * 24 * 365 * 20;  // the kernel does not look at it; tools that do should not complain

struct PairBioEnd {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
struct PairKeyEnd {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct PairCertificateEnd {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct PairExtensionEnd {
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
using PairBio = std::unique_ptr<BIO, PairBioEnd>;
using PairCertificate = std::unique_ptr<X509, PairCertificateEnd>;

Error no_key_pair() {
  ERR_clear_error();
  return {ErrorCode::io, "OpenSSL could not make a key pair", {}, {}, {}};
}

bool add_extension(X509* certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, PairExtensionEnd> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool describe(X509* certificate, const std::string& name) {
  unsigned char serial[16] = {};
  if (RAND_bytes(serial, sizeof serial) != 1) return false;
  serial[0] &= 0x7fU;  // a positive number
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(BN_bin2bn(serial, sizeof serial, nullptr), &BN_free);
  X509_NAME* const subject = X509_get_subject_name(certificate);
  return number && X509_set_version(certificate, 2) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), 0) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), kValidSeconds) != nullptr &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()),
                                    -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, subject) == 1;
}

/// 1.3.6.1.4.1.2312.16.1.2 is "kernel module signing": shim then accepts nothing else that this key signs.
bool restrict_use(X509* certificate) {
  return add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage, "codeSigning,1.3.6.1.4.1.2312.16.1.2") &&
         add_extension(certificate, NID_subject_key_identifier, "hash") &&
         add_extension(certificate, NID_authority_key_identifier, "keyid");
}

std::string bytes_of(const PairBio& bio) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &begin);
  return size > 0 ? std::string(begin, static_cast<std::size_t>(size)) : std::string();
}

std::string der_of(X509* certificate) {
  const PairBio bio(BIO_new(BIO_s_mem()));
  return bio && i2d_X509_bio(bio.get(), certificate) == 1 ? bytes_of(bio) : std::string();
}

}  // namespace

Result<SigningKey> make_signing_key(const std::string& name) {
  const std::unique_ptr<EVP_PKEY, PairKeyEnd> key(EVP_RSA_gen(kKeyBits));
  const PairCertificate certificate(X509_new());
  const PairBio secret(BIO_new(BIO_s_secmem()));
  if (!key || !certificate || !secret) return no_key_pair();
  if (!describe(certificate.get(), name) || X509_set_pubkey(certificate.get(), key.get()) != 1 ||
      !restrict_use(certificate.get()) || X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0 ||
      PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return no_key_pair();
  SigningKey made{.key = bytes_of(secret), .certificate = der_of(certificate.get())};
  if (made.key.empty() || made.certificate.empty()) return no_key_pair();
  return made;
}

Result<std::string> certificate_as_der(std::string_view text) {
  const PairBio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  PairCertificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate && BIO_reset(bio.get()) == 1) certificate.reset(d2i_X509_bio(bio.get(), nullptr));
  ERR_clear_error();
  if (!certificate)
    return Error{ErrorCode::invalid, "this is not an X.509 certificate, neither PEM nor DER", {}, {}, {}};
  return der_of(certificate.get());
}

}  // namespace slipway::driver
