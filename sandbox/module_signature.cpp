// SPDX-License-Identifier: Apache-2.0
// The format is described in Documentation/admin-guide/module-signing.rst and include/linux/module_signature.h.
#include "sandbox/module_signature.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

namespace slipway::sandbox {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;  // of a key, and of a certificate
constexpr std::size_t kShownBytes = 40;
constexpr std::string_view kEndMark = "~Module signature appended~\n";
constexpr std::uint8_t kIdIsPkcs7 = 2;  // PKEY_ID_PKCS7
/// The values that a kernel may have in CONFIG_MODULE_SIG_HASH.
constexpr std::array<std::string_view, 8> kDigests{"sha1",   "sha224",   "sha256",   "sha384",
                                                   "sha512", "sha3-256", "sha3-384", "sha3-512"};

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using SignedData = std::unique_ptr<CMS_ContentInfo, decltype(&CMS_ContentInfo_free)>;

/// The text of a key, which is erased when it is no longer needed.
class Secret {
 public:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(text_.data(), text_.size()); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Returns OpenSSL's last error, and clears its error queue.
std::string reason() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_peek_last_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

// Refuses a key with a pass phrase: it cannot be used without a user.
int no_pass_phrase(char*, int, int, void*) { return 0; }

Bio reader_of(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

Result<Key> read_key(const std::string& file) {
  if (file.find(':') != std::string::npos)
    return Error{ErrorCode::unsupported,
                 "the signing key " + file + " is not a file; keys in tokens cannot be used",
                 file,
                 "give the path of a PEM file",
                 {}};
  SLIPWAY_TRY(text, read_regular(file, kMostBytes));
  const Secret secret(std::move(text));
  Key key(PEM_read_bio_PrivateKey(reader_of(secret.text()).get(), nullptr, no_pass_phrase, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  if (key) return key;
  return Error{ErrorCode::invalid,
               "the signing key is not a private key in PEM form without a pass phrase",
               file,
               "convert it: `openssl pkey -in " + file + " -out FILE.pem`, and name that",
               {}};
}

Result<Certificate> read_certificate(const std::string& file) {
  SLIPWAY_TRY(text, read_regular(file, kMostBytes));
  Certificate certificate(PEM_read_bio_X509(reader_of(text).get(), nullptr, no_pass_phrase, nullptr), &X509_free);
  if (!certificate) certificate.reset(d2i_X509_bio(reader_of(text).get(), nullptr));
  ERR_clear_error();
  if (certificate) return certificate;
  return Error{ErrorCode::invalid,
               "the certificate of the signing key is not an X.509 certificate, neither PEM nor DER",
               file,
               "name the certificate that belongs to the key",
               {}};
}

/// Returns struct module_signature: eight bytes, the length as a big-endian number of four bytes, then the mark.
std::string trailer(std::size_t signature_bytes) {
  std::string text{'\0', '\0', static_cast<char>(kIdIsPkcs7), '\0', '\0', '\0', '\0', '\0'};
  for (const unsigned shift : {24U, 16U, 8U, 0U}) text += static_cast<char>(signature_bytes >> shift & 0xFFU);
  return text.append(kEndMark);
}

/// True when the whole file was read: OpenSSL treats a read error as the end.
bool read_to_end(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 && ::lseek(file, 0, SEEK_CUR) == info.st_size;
}

std::string der_of(CMS_ContentInfo* data) {
  const Bio bytes(BIO_new(BIO_s_mem()), &BIO_free);
  char* begin = nullptr;
  if (!bytes || i2d_CMS_bio(bytes.get(), data) != 1) return {};
  const long size = BIO_get_mem_data(bytes.get(), &begin);
  return {begin, static_cast<std::size_t>(size)};
}

}  // namespace

struct ModuleSigner::Pair {
  std::string file;  ///< of the key, for messages
  Key key;
  Certificate certificate;
};

ModuleSigner::ModuleSigner(std::unique_ptr<Pair> pair) : pair_(std::move(pair)) {}
ModuleSigner::ModuleSigner(ModuleSigner&&) noexcept = default;
ModuleSigner::~ModuleSigner() = default;

Result<ModuleSigner> ModuleSigner::open(const std::string& key, const std::string& certificate) {
  SLIPWAY_TRY(private_half, read_key(key));
  SLIPWAY_TRY(public_half, read_certificate(certificate));
  auto pair = std::unique_ptr<Pair>(new Pair{key, std::move(private_half), std::move(public_half)});
  if (X509_check_private_key(pair->certificate.get(), pair->key.get()) != 1) {
    ERR_clear_error();
    return Error{ErrorCode::invalid,
                 "the certificate " + certificate + " does not belong to the signing key",
                 key,
                 "name a key and its certificate",
                 {}};
  }
  return ModuleSigner(std::move(pair));
}

Result<std::string> ModuleSigner::signature_of(int module, const std::string& digest, const std::string& name) const {
  const bool known = std::find(kDigests.begin(), kDigests.end(), digest) != kDigests.end();
  const EVP_MD* const algorithm = known ? EVP_get_digestbyname(digest.c_str()) : nullptr;
  if (algorithm == nullptr)
    return Error{
        ErrorCode::unsupported,
        name + " is to be signed with the digest '" + digest.substr(0, kShownBytes) + "', which kernels do not support",
        name,
        "look at CONFIG_MODULE_SIG_HASH in the kernel's .config",
        {}};
  // Without attributes: a signing time would make the signatures of equal modules different.
  constexpr unsigned kDetached = CMS_NOCERTS | CMS_PARTIAL | CMS_BINARY | CMS_DETACHED | CMS_STREAM;
  constexpr unsigned kSigner = CMS_NOCERTS | CMS_BINARY | CMS_NOSMIMECAP | CMS_NOATTR;
  const Bio bytes(BIO_new_fd(module, BIO_NOCLOSE), &BIO_free);
  const SignedData data(CMS_sign(nullptr, nullptr, nullptr, nullptr, kDetached), &CMS_ContentInfo_free);
  const bool done =
      bytes && data &&
      CMS_add1_signer(data.get(), pair_->certificate.get(), pair_->key.get(), algorithm, kSigner) != nullptr &&
      CMS_final(data.get(), bytes.get(), nullptr, CMS_NOCERTS | CMS_BINARY) == 1;
  const std::string der = done && read_to_end(module) ? der_of(data.get()) : "";
  if (der.empty())
    return Error{ErrorCode::io, "cannot sign " + name + " with " + pair_->file + ": " + reason(), name, {}, {}};
  return der + trailer(der.size());
}

}  // namespace slipway::sandbox
