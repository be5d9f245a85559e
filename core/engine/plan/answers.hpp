// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/answers.hpp - what plugins answered to earlier commands, as long as everything that they looked at
// is as it was. So an apply that has nothing to do starts no plugin.
//
// An answer holds for one question (request, plugin file, environment) and the looks behind it (sdk/slipway/looks.hpp),
// which are made again each time. It is kept below the cache, in one file for each component and root; a file that is
// not there, not ours or not whole is the same as none.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include <slipway/local_host.hpp>
#include <slipway/looks.hpp>

namespace slipway::core {

class Answers {
 public:
  /// @param folder   where they are kept; made when there is something to keep
  /// @param host     whose looks these are; borrowed
  /// @param scratch  a folder of this command alone, which takes no part in questions; empty: none
  Answers(std::string folder, const HostConfig& host, std::string scratch);
  /// Keeps what is new. What cannot be written is left: it is asked again.
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  struct Question {
    std::string component;  ///< names the file
    std::string slot;       ///< what it is about: the next answer to it takes the place of this one
    Json request;
    std::string asked_of;        ///< who is asked, as it is now: file_identity(), environment_text()
    bool looks_at_host = false;  ///< `ask` gets a key for the looks in the request, and answers {reply, looks}
  };
  using Ask = std::function<Result<Json>(const Json& request)>;

  /// The answer that still holds, else what `ask` says. Errors are not kept. Thread-safe; `ask` is called without a
  /// lock.
  Result<Json> get(const Question& question, const Ask& ask);

  /// Everything is asked of that component again. An apply looks whether a plan is stable, and needs a new one for
  /// that.
  void forget(const std::string& component);

 private:
  /// What is kept of one component.
  struct Shelf {
    LookKey key{};
    Json answers = Json::object();  ///< by slot: {question, looks, reply}
    bool changed = false;
  };
  Shelf& shelf_of(const std::string& component);
  std::string file_of(const std::string& component) const;
  std::string text_of(const Question& question) const;
  bool still_sees(const Json& looks, const LookKey& key) const;
  void keep(const std::string& component, const std::string& slot, Json answer);

  std::string folder_;
  const HostConfig& host_;
  std::string scratch_;
  std::mutex mutex_;
  std::map<std::string, Shelf> shelves_;
};

/// A file as it is now: path, inode, size and times.
std::string file_identity(const std::string& path);

/// Who asks, and the environment that a plugin sees, without the variables that shells and systemd set anew for each
/// process. @param further  entries that its worker gets besides
std::string environment_text(const std::vector<std::string>& further);

}  // namespace slipway::core
