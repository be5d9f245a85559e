// SPDX-License-Identifier: Apache-2.0
#include "core/loader/file_digest.hpp"

#include <cerrno>
#include <mutex>

#include <fcntl.h>

#include <slipway/fd.hpp>

#include "base/digest/digest.hpp"

namespace slipway::core {

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
  SLIPWAY_TRY(digest, base::digest_of_file(fd.get(), state_->path));
  return state_->known = std::move(digest);
}

}  // namespace slipway::core
