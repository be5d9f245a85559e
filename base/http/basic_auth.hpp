// SPDX-License-Identifier: Apache-2.0
// base/http/basic_auth.hpp - checks names and passwords against bcrypt hashes, with few attempts.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace slipway::base {

/// Clients with a correct password. A service keeps this while its listener restarts with another certificate. For one
/// listener at a time.
struct KnownClients {
  struct User {
    std::string hash;  ///< the hash that the password matched
    std::string password;
  };
  std::map<std::string, User> users;
  std::map<std::string, std::chrono::steady_clock::time_point> peers;  ///< the time of their last correct password
};

/// For one thread. Trying a password that was not correct before costs up to a quarter of a second, during which no
/// other client is answered. So attempts are rationed by the time that they took. There are four shares of an eighth
/// each: for peers that were correct before; for peers that were wrong recently; for other peers of a network with
/// several that were wrong recently; for all others. One peer gets at most an eighth. A guesser cannot lock out a peer
/// from another address and network (link-local addresses, fe80::/10, count as one here), a peer with a password that
/// was correct once, or a peer with a new password at an address where an earlier one was correct. There is no ration
/// per name: with one, anyone who knows a name could lock its owner out.
class BasicAuth {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Answer { right, wrong, later };
  struct HashCheck {
    bool right;
    Clock::duration spent;
  };
  /// Tries a password against a hash.
  using Hasher = std::function<HashCheck(const std::string& password, const std::string& hash)>;
  static HashCheck bcrypt(const std::string& password, const std::string& hash);

  static constexpr int kTriesPerSecond = 4;               ///< per peer, when hashes are cheap
  static constexpr std::chrono::minutes kRemembered{10};  ///< how long a wrong peer is remembered
  static constexpr std::size_t kMostPeers = 4096;         ///< remembered peers of each kind
  static constexpr unsigned kGuessersOfANetwork = 8;  ///< with this many wrong peers, its other peers share a ration
  static constexpr std::size_t kMostBytes = 256;      ///< of a name, and of a password

  /// @param known  clients with a correct password; null: none
  explicit BasicAuth(std::map<std::string, std::string> users, Hasher hasher = bcrypt,
                     std::shared_ptr<KnownClients> known = {});
  bool wanted() const { return !users_.empty(); }
  /// @param peer  from peer_of(): attempts are counted per peer; all peers of a link (fe80::/10) count together
  Answer check(const std::string& peer, const std::string& user, const std::string& password, Clock::time_point now);

 private:
  /// Fills with the time used, and empties over time.
  struct TimeBudget {
    Clock::time_point used_up_to{};
    bool left(Clock::time_point now) const { return used_up_to - now < std::chrono::seconds(1); }
    void use(Clock::time_point now, Clock::duration much);
  };
  struct Peer {
    TimeBudget budget;
    Clock::time_point guessed;  ///< the time of its last request with an unknown password
  };

  struct Network {
    unsigned guessers = 0;
    Clock::time_point guessed;
  };
  enum Share { of_right, of_wrong, of_network, of_others };
  static constexpr std::size_t kShares = of_others + 1;

  /// Returns the hash of a user. For an unknown name, always the same one, so that the time does not reveal which names
  /// exist.
  const std::string& hash_of(const std::string& user) const;
  bool was_right(const std::string& user, const std::string& password) const;
  /// @param peer  a peer that was not correct before
  Share share_of(const std::string& peer, Clock::time_point now);
  Answer answer_right(const std::string& peer, Clock::time_point now);
  void remember_wrong(const std::string& peer, Clock::duration spent, Clock::time_point now);

  std::map<std::string, std::string> users_;  ///< name to hash
  Hasher hasher_;
  std::shared_ptr<KnownClients> known_;
  std::string secret_;                       ///< all hashes
  std::map<std::string, Peer> peers_;        ///< peers that were wrong recently
  std::map<std::string, Network> networks_;  ///< their networks
  std::array<TimeBudget, kShares> shares_;
};

}  // namespace slipway::base
