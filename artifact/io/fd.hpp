// SPDX-License-Identifier: Apache-2.0
// artifact/io/fd.hpp - a file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace slipway::artifact {

/// Owns a file descriptor; -1 when it holds none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.number_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace slipway::artifact
