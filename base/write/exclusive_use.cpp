// SPDX-License-Identifier: Apache-2.0
#include "base/write/exclusive_use.hpp"

#include <algorithm>
#include <set>

namespace slipway::base {
namespace {

constexpr const char* kLockFolder = "/run/slipway/lock";
constexpr std::size_t kLongestName = 100;

/// The names "root-…" are for the locks that an apply takes on its root.
bool is_name(const std::string& name) {
  const auto is_of_a_name = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_of_a_name) &&
         !name.starts_with("-") && !name.starts_with("root-");
}

Result<std::set<std::string>> exclusives_of(const Action& action) {
  std::set<std::string> names;
  const Json listed = action.value("exclusives");
  for (const Json& each : listed) {
    const std::string name = each.is_string() ? each.get<std::string>() : std::string();
    if (!is_name(name))
      return Error{.code = ErrorCode::plugin_defect,
                   .what = "the custom action '" + action.target() + "' asks for the exclusive " + each.dump() +
                           ": a name has lower-case letters, digits and '-', and does not begin with 'root-'",
                   .where = action.target(),
                   .next = "report it to the plugin's authors"};
    names.insert(name);
  }
  return names;
}

Outcome locked(const std::string& name, const Error& error) {
  std::vector<std::string> holders;
  for (const auto& [key, text] : error.details)
    if (key == "held") holders.push_back(text);
  return Outcome::waiting("another program changes " + name + " (" + error.where + " is locked)", std::move(holders));
}

}  // namespace

bool ExclusiveUse::is_needed_for(const Action& action) {
  return action.value("quiesces_services") == true || !action.value("exclusives").empty();
}

Result<Outcome> ExclusiveUse::take(const Host& host, const Action& action) {
  SLIPWAY_TRY(names, exclusives_of(action));
  std::map<std::string, LockFile> taken;
  for (const std::string& name : names) {
    if (locks_.contains(name)) continue;
    SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
    auto lock = LockFile::take(root, kLockFolder, name + ".lock");
    if (!lock && lock.error().code == ErrorCode::locked) return locked(name, lock.error());
    if (!lock) return std::move(lock).error();
    taken.emplace(name, std::move(*lock));
  }
  if (action.value("quiesces_services") == true && !services_) {
    auto quiesced = QuiescedServices::quiesce(host);
    if (!quiesced && quiesced.error().code == ErrorCode::busy) return Outcome::waiting(quiesced.error().what, {});
    if (!quiesced) return std::move(quiesced).error();
    services_.emplace(std::move(*quiesced));
  }
  locks_.merge(taken);
  return Outcome::done();
}

void ExclusiveUse::end() {
  services_.reset();
  locks_.clear();
}

}  // namespace slipway::base
