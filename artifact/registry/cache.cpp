// SPDX-License-Identifier: Apache-2.0
#include "artifact/registry/cache.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "artifact/io/file.hpp"
#include "artifact/oci/digest.hpp"
#include "artifact/oci/manifest.hpp"

namespace slipway::artifact {

std::string BlobCache::path_of(const std::string& digest) const { return blobs() + "/" + std::string(hex_of(digest)); }

bool BlobCache::has(const Descriptor& blob) const {
  struct stat existing {};
  return ::stat(path_of(blob.digest).c_str(), &existing) == 0 && S_ISREG(existing.st_mode) &&
         static_cast<std::uint64_t>(existing.st_size) == blob.size;
}

std::optional<std::string> BlobCache::manifest(const Descriptor& descriptor) const {
  auto bytes = read_regular(path_of(descriptor.digest), kMaxManifestBytes);
  if (!bytes) return {};
  if (check_bytes(*bytes, descriptor, folder_)) return std::move(*bytes);
  drop(descriptor.digest);
  return {};
}

Status BlobCache::keep_manifest(const std::string& digest, std::string_view bytes) const {
  SLIPWAY_CHECK(make_directories(blobs()));
  return base::put_file(path_of(digest), bytes);
}

Result<Fd> BlobCache::lock_partial(const std::string& digest) const {
  SLIPWAY_CHECK(make_directories(blobs()));
  const std::string path = partial_path_of(digest);
  while (true) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));  // a user who may open it may lock it
    if (!fd) return system_error("create", path, errno);
    while (::flock(fd.get(), LOCK_EX) != 0)
      if (errno != EINTR) return system_error("lock", path, errno);
    // The lock's former holder may have completed the file, which then has another name.
    struct stat locked {};
    struct stat named {};
    if (::fstat(fd.get(), &locked) != 0) return system_error("read", path, errno);
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == locked.st_ino && named.st_dev == locked.st_dev) return fd;
  }
}

Status BlobCache::complete(int fd, const std::string& digest) const {
  const std::string path = path_of(digest);
  if (::fchmod(fd, 0644) != 0 || ::fsync(fd) != 0) return system_error("write", path, errno);
  if (std::rename(partial_path_of(digest).c_str(), path.c_str()) != 0) return system_error("rename", path, errno);
  return sync_directory(blobs());
}

void BlobCache::drop(const std::string& digest) const { ::unlink(path_of(digest).c_str()); }
void BlobCache::drop_partial(const std::string& digest) const { ::unlink(partial_path_of(digest).c_str()); }

}  // namespace slipway::artifact
