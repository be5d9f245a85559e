// SPDX-License-Identifier: Apache-2.0
#include "base/http/basic_auth.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <crypt.h>

#include "base/http/address.hpp"

namespace slipway::base {
namespace {

/// Compares in a time that does not depend on the first difference.
bool equal(const std::string& one, const std::string& other) {
  if (one.size() != other.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < one.size(); ++i) different |= static_cast<unsigned char>(one[i] ^ other[i]);
  return different == 0;
}

// A second of work may be used at once: a few attempts in a short time, and the share in the long run.
constexpr int kShareOfMany = 8;
constexpr int kShareOfAPeer = 8;
// The longest time that one attempt counts: a process that was stopped during an attempt would otherwise refuse all
// clients for hours.
constexpr std::chrono::seconds kLongestTry{2};

/// A host on a link can have any number of addresses there.
std::string guesser_of(const std::string& peer) {
  const bool of_link = peer.starts_with("fe") && !peer.ends_with("/64");
  return of_link ? "the link" : peer;
}

/// Makes room for one entry: removes those last seen before `oldest`, else the one seen longest ago.
template <class Map, class When>
void make_room(Map& map, const std::string& key, BasicAuth::Clock::time_point oldest, When when) {
  if (map.size() < BasicAuth::kMostPeers || map.contains(key)) return;
  std::erase_if(map, [&](const auto& each) { return when(each.second) <= oldest; });
  const auto earlier = [&](const auto& one, const auto& other) { return when(one.second) < when(other.second); };
  if (map.size() >= BasicAuth::kMostPeers) map.erase(std::ranges::min_element(map, earlier));
}

}  // namespace

BasicAuth::BasicAuth(std::map<std::string, std::string> users, Hasher hasher, std::shared_ptr<KnownClients> known)
    : users_(std::move(users)),
      hasher_(std::move(hasher)),
      known_(known ? std::move(known) : std::make_shared<KnownClients>()) {
  for (const auto& [user, hash] : users_) secret_ += hash;
  std::erase_if(known_->users, [this](const auto& each) {
    const auto user = users_.find(each.first);
    return user == users_.end() || user->second != each.second.hash;
  });
}

BasicAuth::HashCheck BasicAuth::bcrypt(const std::string& password, const std::string& hash) {
  const auto start = Clock::now();
  const auto data = std::make_unique<crypt_data>();
  // libxcrypt's own function: it returns no result for what it cannot hash, where crypt_r() returns a text. Sanitizers
  // intercept crypt_r(), and the linker then leaves libcrypt out.
  const char* const made = ::crypt_rn(password.c_str(), hash.c_str(), data.get(), sizeof(crypt_data));
  return {made != nullptr && equal(made, hash), Clock::now() - start};
}

void BasicAuth::TimeBudget::use(Clock::time_point now, Clock::duration much) {
  used_up_to = std::max(used_up_to, now) + much;
}

const std::string& BasicAuth::hash_of(const std::string& user) const {
  if (const auto found = users_.find(user); found != users_.end()) return found->second;
  const std::size_t any = std::hash<std::string>()(user + '\0' + secret_) % users_.size();
  return std::next(users_.begin(), static_cast<std::ptrdiff_t>(any))->second;
}

bool BasicAuth::was_right(const std::string& user, const std::string& password) const {
  const auto known = known_->users.find(user);
  return known != known_->users.end() && equal(known->second.password, password);
}

BasicAuth::Answer BasicAuth::answer_right(const std::string& peer, Clock::time_point now) {
  make_room(known_->peers, peer, Clock::time_point::min(), [](Clock::time_point last) { return last; });
  known_->peers[peer] = now;
  return Answer::right;
}

void BasicAuth::remember_wrong(const std::string& peer, Clock::duration spent, Clock::time_point now) {
  const auto guessed = [](const auto& each) { return each.guessed; };
  const auto known = peers_.find(peer);
  const bool is_new = known == peers_.end() || now - known->second.guessed >= kRemembered;
  make_room(peers_, peer, now - kRemembered, guessed);
  Peer& wrong = peers_[peer];
  wrong.guessed = now;
  wrong.budget.use(now,
                   std::max<Clock::duration>(kShareOfAPeer * spent, std::chrono::milliseconds(1000) / kTriesPerSecond));
  const std::string of = network_of(peer);
  if (of.empty()) return;
  make_room(networks_, of, now - kRemembered, guessed);
  Network& network = networks_[of];
  if (now - network.guessed >= kRemembered) network.guessers = 0;
  network.guessed = now;
  if (is_new) ++network.guessers;
}

BasicAuth::Share BasicAuth::share_of(const std::string& peer, Clock::time_point now) {
  if (const auto wrong = peers_.find(peer); wrong != peers_.end() && now - wrong->second.guessed < kRemembered) {
    wrong->second.guessed = now;  // an active guesser stays in the share of wrong peers
    return of_wrong;
  }
  const auto network = networks_.find(network_of(peer));
  const bool guesses = network != networks_.end() && now - network->second.guessed < kRemembered &&
                       network->second.guessers >= kGuessersOfANetwork;
  return guesses ? of_network : of_others;
}

BasicAuth::Answer BasicAuth::check(const std::string& peer, const std::string& user, const std::string& password,
                                   Clock::time_point now) {
  if (user.size() > kMostBytes || password.size() > kMostBytes) return Answer::wrong;
  if (was_right(user, password)) return answer_right(peer, now);
  const bool is_known = known_->peers.contains(peer);
  const std::string guesser = is_known ? peer : guesser_of(peer);
  TimeBudget& share = shares_.at(is_known ? of_right : share_of(guesser, now));
  const auto wrong = peers_.find(guesser);
  if (!share.left(now) || (wrong != peers_.end() && !wrong->second.budget.left(now))) return Answer::later;
  const HashCheck tried = hasher_(password, hash_of(user));
  const auto spent = std::min<Clock::duration>(tried.spent, kLongestTry);
  share.use(now, kShareOfMany * spent);
  if (!tried.right || !users_.contains(user)) {
    remember_wrong(guesser, spent, now);
    return Answer::wrong;
  }
  known_->users[user] = {users_.at(user), password};
  return answer_right(peer, now);
}

}  // namespace slipway::base
