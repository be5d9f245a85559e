// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/daemons.hpp"

#include <algorithm>
#include <utility>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>

#include "base/write/new_file.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kGpusFile = "/gpus";
constexpr std::chrono::seconds kLeaveEvery{5};
// The watchdog ends a service whose turns take 90 s.
constexpr std::chrono::milliseconds kCommandsOfATurn{10'000};

}  // namespace

MpsDaemons::MpsDaemons(const Host& host, MpsDaemon::Log log, SetExclusive set_exclusive)
    : host_(host), log_(std::move(log)), set_exclusive_(std::move(set_exclusive)), aside_(host, log_) {}

std::map<std::string, std::string> MpsDaemons::tick(const std::map<std::string, MpsSettings>& wanted,
                                                    const std::string& driver_root, const std::string& mps_root) {
  const MpsBudget budget(kCommandsOfATurn);
  aside_.tick(mps_root);
  take_over_unwanted(wanted, driver_root, mps_root, budget);
  for (auto& [name, daemon] : daemons_)
    if (daemon && !wanted.contains(name)) leaving_[name] = std::move(daemon);
  for (auto& [name, daemon] : leaving_)
    if (wanted.contains(name)) daemons_[name] = std::move(daemon);
  std::erase_if(daemons_, [](const auto& each) { return !each.second; });
  std::erase_if(leaving_, [](const auto& each) { return !each.second; });
  if (const auto now = MpsDaemon::Clock::now(); !leaving_.empty() && now >= next_leave_) {
    next_leave_ = now + kLeaveEvery;
    std::erase_if(leaving_, [&budget](const auto& each) { return each.second->stop_when_idle(budget); });
  }
  std::set<std::string> wanted_gpus;
  gpus_.clear();
  for (const auto& [name, settings] : wanted) {
    wanted_gpus.insert(settings.gpus.begin(), settings.gpus.end());
    for (const std::string& gpu : settings.gpus) gpus_.emplace(name, gpu);
  }
  std::erase_if(exclusive_,
                [&](const std::string& gpu) { return !wanted_gpus.contains(gpu) && set_exclusive_(gpu, false).ok(); });
  std::map<std::string, std::string> unready;
  for (const std::string& name : names_in_order(wanted)) {
    const MpsSettings& settings = wanted.at(name);
    std::unique_ptr<MpsDaemon>& daemon = daemons_[name];
    if (!daemon) {
      auto program = find_mps_program(host_, driver_root, mps_root);
      if (!program) {
        unready[name] = words_of(program.error());
        continue;
      }
      daemon = std::make_unique<MpsDaemon>(std::move(*program), name, log_);
    }
    make_exclusive(settings);
    if (budget.spent() && first_.empty()) first_ = name;
    if (!budget.spent()) daemon->tick(settings, budget);
    if (daemon->ready())
      record_gpus(name, settings, mps_root);
    else
      unready[name] = daemon->problem();
  }
  return unready;
}

bool MpsDaemons::at_rest() const {
  return daemons_.empty() && leaving_.empty() && exclusive_.empty() && looked_for_others_ && aside_.at_rest();
}

/// Starts with the daemon that the previous turn had no time for.
std::vector<std::string> MpsDaemons::names_in_order(const std::map<std::string, MpsSettings>& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, settings] : wanted) names.push_back(name);
  std::rotate(names.begin(), std::ranges::lower_bound(names, first_), names.end());
  first_.clear();
  return names;
}

/// Called once: takes over daemons whose resource is no longer shared by MPS since the service last ran.
void MpsDaemons::take_over_unwanted(const std::map<std::string, MpsSettings>& wanted, const std::string& driver_root,
                                    const std::string& mps_root, const MpsBudget& budget) {
  if (std::exchange(looked_for_others_, true)) return;
  const std::vector<std::string> resources = resources_below(host_, mps_root);
  if (resources.empty()) return;
  const auto program = find_mps_program(host_, driver_root, mps_root);
  for (const std::string& name : resources) {
    if (!program || wanted.contains(name) || leaving_.contains(name)) continue;
    if (!host_.exists(mps_root + "/" + name + "/pipe")) continue;
    if (budget.spent()) looked_for_others_ = false;  // the next turn continues
    if (budget.spent()) return;
    if (!take_over_other(*program, name)) looked_for_others_ = false;
    if (!leaving_.contains(name)) continue;
    const std::vector<std::string> gpus = lines_of(host_.read(mps_root + "/" + name + kGpusFile).value_or(""));
    exclusive_.insert(gpus.begin(), gpus.end());
  }
}

/// @return false: not known yet whether there is one
bool MpsDaemons::take_over_other(const MpsProgram& program, const std::string& name) {
  const auto [other, fresh] = others_.try_emplace(name);
  if (fresh) other->second = std::make_unique<MpsDaemon>(program, name, log_);
  if (!other->second) return true;
  const auto taken_over = other->second->take_over();
  if (!taken_over) return false;
  std::unique_ptr<MpsDaemon> daemon = std::move(other->second);
  if (*taken_over)
    leaving_[name] = std::move(daemon);
  else
    end_mps_daemons(program, name);  // a daemon that neither clients nor commands can find
  return true;
}

void MpsDaemons::make_exclusive(const MpsSettings& settings) {
  for (const std::string& gpu : settings.gpus) {
    if (exclusive_.contains(gpu)) continue;
    if (const Status set = set_exclusive_(gpu, true); set)
      exclusive_.insert(gpu);
    else if (complained_.insert(gpu).second)
      log_("warning", gpu + " stays open to processes without MPS: " + set.error().what);
  }
}

/// Records the daemon's GPUs: if the next run of the service does not need the daemon, it resets their compute mode.
void MpsDaemons::record_gpus(const std::string& name, const MpsSettings& settings, const std::string& mps_root) {
  std::vector<std::string>& recorded = recorded_[name];
  if (recorded == settings.gpus) return;
  recorded = settings.gpus;
  std::string text;
  for (const std::string& gpu : settings.gpus) text += gpu + "\n";
  const auto root = RootDir::open(host_.root_folder());
  if (root) (void)base::replace_file(*root, mps_root + "/" + name + kGpusFile, text);
}

MpsDaemons::~MpsDaemons() {
  if (is_left_) return;
  const MpsBudget budget(kCommandsOfATurn);
  for (auto* const all : {&daemons_, &leaving_})
    for (auto& [name, daemon] : *all)
      if (daemon) (void)daemon->stop_when_idle(budget);
}

void MpsDaemons::release() {
  const MpsBudget budget(kCommandsOfATurn);
  for (auto& [name, daemon] : daemons_)
    if (daemon && !daemon->stop_when_idle(budget))
      log_("info", name + ": the MPS control daemon keeps serving its clients, and their GPUs stay in use");
  std::erase_if(exclusive_, [this](const std::string& gpu) { return !in_use(gpu) && set_exclusive_(gpu, false).ok(); });
}

/// True for a GPU of a running daemon, which needs it exclusively.
bool MpsDaemons::in_use(const std::string& gpu) const {
  return std::ranges::any_of(daemons_, [&](const auto& each) {
    return each.second && each.second->runs() && gpus_.contains({each.first, gpu});
  });
}

}  // namespace slipway::deviceplugin
