// SPDX-License-Identifier: Apache-2.0
#include "slipway/http/basic_auth.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

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

// A second's worth of work may be used at once: some tries of a short while, and the share in the long run.
constexpr int kShareOfMany = 4;
constexpr int kShareOfAPeer = 8;
// No try counts for more, so that a process that was stopped in the midst of one does not refuse all for hours.
constexpr std::chrono::seconds kLongestTry{2};

/// Whoever is on a link has as many addresses there as they like.
std::string guesser_of(const std::string& peer) {
  const bool of_link = peer.starts_with("fe") && !peer.ends_with("/64");
  return of_link ? "the link" : peer;
}

}  // namespace

BasicAuth::BasicAuth(std::map<std::string, std::string> users, Hasher hasher)
    : users_(std::move(users)), hasher_(std::move(hasher)) {
  for (const auto& [user, hash] : users_) secret_ += hash;
}

BasicAuth::Try BasicAuth::bcrypt(const std::string& password, const std::string& hash) {
  const auto start = Clock::now();
  const auto data = std::make_unique<crypt_data>();
  // libxcrypt's own call: it has no result for what it cannot hash, where crypt_r() gives a text for that. Sanitizers
  // put a function of theirs before crypt_r(), with which the linker leaves libcrypt out.
  const char* const made = ::crypt_rn(password.c_str(), hash.c_str(), data.get(), sizeof(crypt_data));
  return {made != nullptr && equal(made, hash), Clock::now() - start};
}

void BasicAuth::Ration::use(Clock::time_point now, Clock::duration much) {
  used_up_to = std::max(used_up_to, now) + much;
}

const std::string& BasicAuth::hash_of(const std::string& user) const {
  if (const auto found = users_.find(user); found != users_.end()) return found->second;
  const std::size_t any = std::hash<std::string>()(user + '\0' + secret_) % users_.size();
  return std::next(users_.begin(), static_cast<std::ptrdiff_t>(any))->second;
}

void BasicAuth::remember(const std::string& peer, Clock::duration spent, Clock::time_point now) {
  if (peers_.size() >= kMostPeers && !peers_.contains(peer)) {
    std::erase_if(peers_, [&](const auto& each) { return now - each.second.guessed >= kRemembered; });
    const auto earlier = [](const auto& one, const auto& other) { return one.second.guessed < other.second.guessed; };
    if (peers_.size() >= kMostPeers) peers_.erase(std::ranges::min_element(peers_, earlier));
  }
  Peer& known = peers_[peer];
  known.guessed = now;
  known.ration.use(now,
                   std::max<Clock::duration>(kShareOfAPeer * spent, std::chrono::milliseconds(1000) / kTriesPerSecond));
}

BasicAuth::Answer BasicAuth::check(const std::string& peer, const std::string& user, const std::string& password,
                                   Clock::time_point now) {
  if (user.size() > kMostBytes || password.size() > kMostBytes) return Answer::wrong;
  if (const auto known = right_.find(user); known != right_.end() && equal(known->second, password))
    return Answer::right;
  const std::string guesser = guesser_of(peer);
  const auto found = peers_.find(guesser);
  const bool known = found != peers_.end() && now - found->second.guessed < kRemembered;
  if (known) found->second.guessed = now;  // while it goes on, it does not become one of the others
  Ration& shared = known ? for_known_ : for_others_;
  if (!shared.left(now) || (known && !found->second.ration.left(now))) return Answer::later;
  const Try tried = hasher_(password, hash_of(user));
  const auto spent = std::min<Clock::duration>(tried.spent, kLongestTry);
  shared.use(now, kShareOfMany * spent);
  if (!tried.right || !users_.contains(user)) {
    remember(guesser, spent, now);
    return Answer::wrong;
  }
  right_[user] = password;
  return Answer::right;
}

}  // namespace slipway
