// SPDX-License-Identifier: Apache-2.0
// sdk/http/slipway/http/basic_auth.hpp - who may read: names and passwords against bcrypt hashes, with few tries.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace slipway {

/// For one thread. To try a password that was not right before costs up to a quarter of a second, in which nobody else
/// is answered. So tries are rationed by the time that they took: a quarter of it for peers that were wrong lately,
/// however many they are, a quarter for all others, an eighth for one peer. Whoever guesses keeps nobody out who comes
/// from another address (those of a link, fe80::/10, are one here), and nobody whose password was right once. There is
/// no ration of a name: with it, whoever knows a name would keep its owner out.
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
  static constexpr std::size_t kMostPeers = 4096;         ///< that were wrong and are remembered
  static constexpr std::size_t kMostBytes = 256;          ///< of a name, and of a password

  explicit BasicAuth(std::map<std::string, std::string> users, Hasher hasher = bcrypt);
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

  /// Of a name that is not there: that of one which is, always the same, so that no time tells which names there are.
  const std::string& hash_of(const std::string& user) const;
  void remember(const std::string& peer, Clock::duration spent, Clock::time_point now);

  std::map<std::string, std::string> users_;  ///< name to hash
  Hasher hasher_;
  std::string secret_;                        ///< all hashes
  std::map<std::string, std::string> right_;  ///< name to the password that was right
  std::map<std::string, Peer> peers_;         ///< that were wrong lately
  Ration for_known_;                          ///< all peers that were wrong lately
  Ration for_others_;
};

}  // namespace slipway
