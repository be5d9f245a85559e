// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/fd.hpp - a file descriptor that closes itself.
#pragma once

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace slipway {

/// Owns a file descriptor; -1 when it holds none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Returns the descriptor without closing it, and no longer owns it.
  int release() { return std::exchange(number_, -1); }
  /// Closes the descriptor and owns another one instead.
  void reset(int number = -1) {
    const int saved = errno;  // closing a descriptor must not change errno for the caller
    if (number_ >= 0) ::close(number_);
    errno = saved;
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace slipway
