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
  /// Gives the descriptor up without closing it.
  int release() { return std::exchange(number_, -1); }
  /// Closes the descriptor and takes another one in its place.
  void reset(int number = -1) {
    const int saved = errno;  // a descriptor that goes out of scope must not hide why it does
    if (number_ >= 0) ::close(number_);
    errno = saved;
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace slipway
