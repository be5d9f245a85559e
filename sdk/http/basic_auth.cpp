// SPDX-License-Identifier: Apache-2.0
#include "slipway/http/basic_auth.hpp"

#include <memory>

#include <crypt.h>

namespace slipway {
namespace {

/// In a time that says nothing of where they differ.
bool equal(const std::string& one, const std::string& other) {
  if (one.size() != other.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < one.size(); ++i) different |= static_cast<unsigned char>(one[i] ^ other[i]);
  return different == 0;
}

}  // namespace

BasicAuth::Answer BasicAuth::check(const std::string& user, const std::string& password, Clock::time_point now) {
  if (user.size() > kMostBytes || password.size() > kMostBytes) return Answer::wrong;
  if (const auto known = right_.find(user); known != right_.end() && equal(known->second, password))
    return Answer::right;
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    tries_ = 0;
  }
  if (tries_ >= kTriesPerSecond) return Answer::later;
  ++tries_;
  // A name that is not there takes as long as one that is.
  const auto found = users_.find(user);
  const std::string& hash = found == users_.end() ? users_.begin()->second : found->second;
  const auto data = std::make_unique<crypt_data>();
  // libxcrypt's own call: it has no result for what it cannot hash, where crypt_r() gives a text for that. Sanitizers
  // put a function of theirs before crypt_r(), with which the linker leaves libcrypt out.
  const char* const made = ::crypt_rn(password.c_str(), hash.c_str(), data.get(), sizeof(crypt_data));
  if (made == nullptr || !equal(made, hash) || found == users_.end()) return Answer::wrong;
  right_[user] = password;
  return Answer::right;
}

}  // namespace slipway
