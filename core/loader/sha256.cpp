// SPDX-License-Identifier: Apache-2.0
// OpenSSL's plain SHA-256, linked statically: 20 KB with its assembly. The first use of EVP sets up all of libcrypto,
// a millisecond of each start, and loading libcrypto costs another half.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/loader/sha256.hpp"

#include <array>
#include <cerrno>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::core {

Result<std::string> sha256_of_file(int fd, const std::string& path) {
  SHA256_CTX context;
  SHA256_Init(&context);
  std::vector<unsigned char> buffer(std::size_t{64} << 10U);
  off_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", path, errno);
    if (count == 0) break;
    SHA256_Update(&context, buffer.data(), static_cast<std::size_t>(count));
    offset += count;
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &context);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "sha256:";
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4U];
    text += kHex[byte & 15U];
  }
  return text;
}

struct FileDigest::State {
  std::mutex mutex;
  std::string path;
  std::string known;
};

FileDigest::FileDigest(std::string path) : state_(std::make_shared<State>()) { state_->path = std::move(path); }

Result<std::string> FileDigest::get() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->known.empty()) return state_->known;
  const Fd fd(::open(state_->path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return system_error("open", state_->path, errno);
  SLIPWAY_TRY(digest, sha256_of_file(fd.get(), state_->path));
  return state_->known = std::move(digest);
}

}  // namespace slipway::core
