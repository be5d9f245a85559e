// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/result.hpp - a value or an Error; ignoring one does not compile.
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include <slipway/error.hpp>

namespace slipway {

/// Throws std::logic_error with the text of an error that the caller did not handle.
[[noreturn]] void throw_unhandled_error(const Error& error);

/// A T, or the Error that prevented it. Converts from either. Reading the wrong side is a programming error: value()
/// then throws std::logic_error with the error's text.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    check();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    check();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    check();
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

  T value_or(T other) const& { return ok() ? value() : std::move(other); }

 private:
  void check() const {
    if (!ok()) throw_unhandled_error(error());
  }
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

/// `SLIPWAY_TRY(name, expression);` declares `name` as the value of a Result, or returns its Error from this function.
#define SLIPWAY_TRY(name, ...)                                 \
  auto name##_result = (__VA_ARGS__);                          \
  if (!name##_result) return std::move(name##_result).error(); \
  auto& name = *name##_result

/// `SLIPWAY_CHECK(expression);` returns the Error of a Result from this function, and drops its value.
#define SLIPWAY_CHECK(...)                                                                              \
  do {                                                                                                  \
    if (auto slipway_status = (__VA_ARGS__); !slipway_status) return std::move(slipway_status).error(); \
  } while (false)

}  // namespace slipway
