// SPDX-License-Identifier: Apache-2.0
#include "driver/module/key_id.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <slipway/regular_file.hpp>

#include "base/modinfo/module_info.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kLongestName = 256;  // bytes of a name that are kept
constexpr std::size_t kMostCertificates = 1024;
constexpr std::size_t kMostOfFile = std::size_t{1} << 20U;

struct BioEnd {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct CmsEnd {
  void operator()(CMS_ContentInfo* message) const { CMS_ContentInfo_free(message); }
};
struct X509End {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Bio = std::unique_ptr<BIO, BioEnd>;
using Certificate = std::unique_ptr<X509, X509End>;

Bio bio_of(std::string_view bytes) { return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()))); }

std::string written(const Bio& bio) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &begin);
  return begin == nullptr || size <= 0 ? std::string{}
                                       : std::string(begin, std::min(static_cast<std::size_t>(size), kLongestName));
}

std::string hex(const ASN1_STRING* value) {
  if (value == nullptr) return {};
  std::string text;
  const unsigned char* const bytes = ASN1_STRING_get0_data(value);
  const int size = std::min(ASN1_STRING_length(value), static_cast<int>(kLongestName) / 2);
  for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string line_of(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (name == nullptr || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  return written(bio);
}

/// Control characters are escaped: the name goes to a terminal.
std::string common_name(const X509_NAME* name) {
  if (name == nullptr) return {};
  const int at = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(name), NID_commonName, -1);
  if (at < 0) return line_of(name);
  const Bio bio(BIO_new(BIO_s_mem()));
  const ASN1_STRING* const text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
  if (ASN1_STRING_print_ex(bio.get(), text, ASN1_STRFLGS_ESC_CTRL | ASN1_STRFLGS_UTF8_CONVERT) < 0) return {};
  return written(bio);
}

KeyId key_of(X509* certificate) {
  return {common_name(X509_get_subject_name(certificate)), line_of(X509_get_issuer_name(certificate)),
          hex(X509_get0_serialNumber(certificate)), hex(X509_get0_subject_key_id(certificate))};
}

Error unreadable_signature(std::string why) {
  return {ErrorCode::corrupt, "its signature cannot be read: " + std::move(why), {}, {}, {}};
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

/// Adds the certificates of one EFI_SIGNATURE_LIST, without its head.
void add_certificates(std::string_view signatures, std::size_t size, std::vector<KeyId>& keys) {
  constexpr std::size_t kOwner = 16;  // a GUID before each certificate
  for (; signatures.size() >= size; signatures.remove_prefix(size)) {
    const std::string_view bytes = signatures.substr(kOwner, size - kOwner);
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const Certificate certificate(d2i_X509(nullptr, &data, static_cast<long>(bytes.size())));
    if (certificate && keys.size() < kMostCertificates) keys.push_back(key_of(certificate.get()));
  }
}

}  // namespace

std::string KeyId::text() const {
  if (!serial.empty()) return fmt::format("{} (serial {})", name, serial);
  return key.empty() ? name : fmt::format("{} (key {})", name, key);
}

bool is_same_key(const KeyId& one, const KeyId& other) {
  if (!one.key.empty() && one.key == other.key) return true;
  return !one.serial.empty() && one.serial == other.serial && one.issuer == other.issuer;
}

Result<std::optional<KeyId>> signer_of_module(std::string_view elf) {
  SLIPWAY_TRY(message, base::module_signature_of(elf));
  if (!message) return std::optional<KeyId>{};
  const auto* data = reinterpret_cast<const unsigned char*>(message->data());
  const std::unique_ptr<CMS_ContentInfo, CmsEnd> cms(
      d2i_CMS_ContentInfo(nullptr, &data, static_cast<long>(message->size())));
  STACK_OF(CMS_SignerInfo)* const signers = cms ? CMS_get0_SignerInfos(cms.get()) : nullptr;
  ERR_clear_error();
  if (signers == nullptr) return unreadable_signature("it is not a PKCS#7 message");
  if (sk_CMS_SignerInfo_num(signers) < 1) return unreadable_signature("it names no signer");
  ASN1_OCTET_STRING* key = nullptr;
  X509_NAME* issuer = nullptr;
  ASN1_INTEGER* serial = nullptr;
  if (CMS_SignerInfo_get0_signer_id(sk_CMS_SignerInfo_value(signers, 0), &key, &issuer, &serial) != 1)
    return unreadable_signature("it names no signer");
  KeyId signer{common_name(issuer), line_of(issuer), hex(serial), hex(key)};
  if (signer.name.empty()) signer.name = "a key without a name";
  return std::optional<KeyId>{std::move(signer)};
}

Result<KeyId> key_of_certificate(std::string_view text) {
  const Bio bio = bio_of(text);
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate && BIO_reset(bio.get()) == 1) certificate.reset(d2i_X509_bio(bio.get(), nullptr));
  ERR_clear_error();
  if (!certificate)
    return Error{ErrorCode::invalid, "this is not an X.509 certificate, neither PEM nor DER", {}, {}, {}};
  return key_of(certificate.get());
}

Result<KeyId> key_of_certificate_file(const std::string& path) {
  SLIPWAY_TRY(text, read_regular(path, kMostOfFile));
  auto key = key_of_certificate(text);
  if (!key) return Error{key.error().code, key.error().what, path, "name a certificate in DER or PEM form", {}};
  return key;
}

std::vector<KeyId> keys_of_signature_lists(std::string_view lists) {
  constexpr std::size_t kHead = 28;  // kind, size of the list, of its own head, of a signature
  constexpr std::size_t kOwner = 16;
  // EFI_CERT_X509_GUID, a5c059a1-94e4-4aa7-87b5-ab155c2bf072
  constexpr std::string_view kX509("\xa1\x59\xc0\xa5\xe4\x94\xa7\x4a\x87\xb5\xab\x15\x5c\x2b\xf0\x72", 16);
  std::vector<KeyId> keys;
  while (lists.size() >= kHead) {
    const std::size_t size = number_at(lists, 16);
    const std::size_t head = number_at(lists, 20);
    const std::size_t signature = number_at(lists, 24);
    if (size < kHead || size > lists.size() || head > size - kHead || signature <= kOwner) break;
    if (lists.starts_with(kX509)) add_certificates(lists.substr(kHead + head, size - kHead - head), signature, keys);
    lists.remove_prefix(size);
  }
  ERR_clear_error();
  return keys;
}

}  // namespace slipway::driver
