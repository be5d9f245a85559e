// SPDX-License-Identifier: Apache-2.0
// sdk/http/slipway/http/basic_auth.hpp - who may read: names and passwords against bcrypt hashes, with few tries.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace slipway {

/// For one thread. Each check of a password that was not right before costs tens of milliseconds, so that only so many
/// are made in a second: whoever guesses delays nobody whose password was right once.
class BasicAuth {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Answer { right, wrong, later };
  static constexpr int kTriesPerSecond = 4;
  static constexpr std::size_t kMostBytes = 256;  ///< of a name, and of a password

  explicit BasicAuth(std::map<std::string, std::string> users) : users_(std::move(users)) {}
  bool wanted() const { return !users_.empty(); }
  Answer check(const std::string& user, const std::string& password, Clock::time_point now);

 private:
  std::map<std::string, std::string> users_;  ///< name to hash
  std::map<std::string, std::string> right_;  ///< name to the password that was right
  Clock::time_point second_;
  int tries_ = 0;
};

}  // namespace slipway
