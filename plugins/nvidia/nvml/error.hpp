// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/error.hpp - NVML's answer: a value, or a return code with NVML's own name.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <slipway/result.hpp>

#include "nvidia/nvml/abi/base.h"

namespace slipway::nvidia::nvml {

/// slipway's own code: a call exceeded its limit and was abandoned.
inline constexpr nvmlReturn_t kGaveUp = -1;
/// The remedy for a GPU with such a call.
inline constexpr const char* kHangRemedy =
    "look at the kernel's log (`dmesg`) for an Xid of it, then drain the node and reboot: a GPU that does not answer "
    "can "
    "seldom be reset; if it happens again, have it replaced";

/// Returns "NVML_ERROR_IN_USE"; for an unknown code "NVML_ERROR_1234".
std::string error_name(nvmlReturn_t code);
/// Returns a few words: "the device is in use".
std::string_view error_meaning(nvmlReturn_t code);
/// Returns "the device is in use (NVML_ERROR_IN_USE, 19)".
std::string error_text(nvmlReturn_t code);
/// Returns "nvml: GPU 3 (0000:65:00.0): …". @param doing  the call and its GPU; @param where  library, may be empty
Error to_error(nvmlReturn_t code, std::string_view doing, std::string_view where = {});

/// True when the call should be repeated with an older layout: drivers reject an unknown one with any of these codes.
inline bool try_older(nvmlReturn_t code) {
  return code == NVML_ERROR_FUNCTION_NOT_FOUND || code == NVML_ERROR_ARGUMENT_VERSION_MISMATCH ||
         code == NVML_ERROR_INVALID_ARGUMENT;
}

/// A call's value, or the reason why there is none. Unlike Result it keeps NVML's code: callers branch on it.
template <class T>
class [[nodiscard]] Answer {
 public:
  Answer(nvmlReturn_t code, T value) : code_(code), value_(std::move(value)) {}
  Answer(nvmlReturn_t code) : code_(code) {}  // NOLINT(google-explicit-constructor): a failure stands for itself

  bool ok() const { return code_ == NVML_SUCCESS; }
  explicit operator bool() const { return ok(); }
  nvmlReturn_t code() const { return code_; }
  /// True when this GPU, driver or library does not have the value: that is not a failure.
  bool absent() const { return code_ == NVML_ERROR_NOT_SUPPORTED || code_ == NVML_ERROR_FUNCTION_NOT_FOUND; }

  const T& value() const { return value_; }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  T value_or(T other) const { return ok() ? value_ : std::move(other); }
  Error error(std::string_view doing) const { return to_error(code_, doing); }

 private:
  nvmlReturn_t code_;
  T value_{};
};

}  // namespace slipway::nvidia::nvml
