// SPDX-License-Identifier: Apache-2.0
// base/http/basic_auth.hpp - who may read: names and passwords against bcrypt hashes, with few tries.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace slipway {

/// Who was right, which a service keeps while its listener starts anew with another certificate. For one listener at a
/// time.
struct KnownClients {
  struct User {
    std::string hash;  ///< that the password was right for
    std::string password;
  };
  std::map<std::string, User> users;
  std::map<std::string, std::chrono::steady_clock::time_point> peers;  ///< when they were right last
};

/// For one thread. To try a password that was not right before costs up to a quarter of a second, in which nobody else
/// is answered. So tries are rationed by the time that they took. There are four shares of an eighth each: for peers
/// that were right before; for those that were wrong lately; for others of a network with several that were wrong
/// lately; for all others. One peer has an eighth at most. Whoever guesses keeps nobody out who comes from another
/// address and network (addresses of a link, fe80::/10, are one here), nobody whose password was right once, and nobody
/// with a new password who comes from where an earlier one was right. There is no ration of a name: with it, whoever
/// knows a name would keep its owner out.
class BasicAuth {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Answer { right, wrong, later };
  struct Try {
    bool right;
    Clock::duration spent;
  };
  /// Tries a password against a hash.
  using Hasher = std::function<Try(const std::string& password, const std::string& hash)>;
  static Try bcrypt(const std::string& password, const std::string& hash);

  static constexpr int kTriesPerSecond = 4;               ///< of a peer, where hashes are cheap
  static constexpr std::chrono::minutes kRemembered{10};  ///< that a peer was wrong
  static constexpr std::size_t kMostPeers = 4096;         ///< of each kind that are remembered
  static constexpr unsigned kGuessersOfANetwork = 8;      ///< with as many lately its other peers share a ration
  static constexpr std::size_t kMostBytes = 256;          ///< of a name, and of a password

  /// @param known  who was right before; null: nobody
  explicit BasicAuth(std::map<std::string, std::string> users, Hasher hasher = bcrypt,
                     std::shared_ptr<KnownClients> known = {});
  bool wanted() const { return !users_.empty(); }
  /// @param peer  whose tries count together, as of peer_of(); so do those of all peers of a link (fe80::/10)
  Answer check(const std::string& peer, const std::string& user, const std::string& password, Clock::time_point now);

 private:
  /// Fills with what is put in, and empties as time goes.
  struct Ration {
    Clock::time_point used_up_to{};
    bool left(Clock::time_point now) const { return used_up_to - now < std::chrono::seconds(1); }
    void use(Clock::time_point now, Clock::duration much);
  };
  struct Peer {
    Ration ration;
    Clock::time_point guessed;  ///< the last time that it asked with what was not known to be right
  };

  struct Network {
    unsigned guessers = 0;
    Clock::time_point guessed;
  };
  enum Share { of_right, of_wrong, of_network, of_others };
  static constexpr std::size_t kShares = of_others + 1;

  /// Of a name that is not there: that of one which is, always the same, so that no time tells which names there are.
  const std::string& hash_of(const std::string& user) const;
  bool was_right(const std::string& user, const std::string& password) const;
  /// @param peer  one that was not right before
  Share share_of(const std::string& peer, Clock::time_point now);
  Answer answer_right(const std::string& peer, Clock::time_point now);
  void remember_wrong(const std::string& peer, Clock::duration spent, Clock::time_point now);

  std::map<std::string, std::string> users_;  ///< name to hash
  Hasher hasher_;
  std::shared_ptr<KnownClients> known_;
  std::string secret_;                       ///< all hashes
  std::map<std::string, Peer> peers_;        ///< that were wrong lately
  std::map<std::string, Network> networks_;  ///< of those
  std::array<Ration, kShares> shares_;
};

}  // namespace slipway
