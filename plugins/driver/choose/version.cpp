// SPDX-License-Identifier: Apache-2.0
#include "driver/choose/version.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "driver/choose/errors.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kShownVersions = 3;  // versions whose packages an error lists

/// Returns the version that a tag begins with: "535.261.03" for "535.261.03-debian12"; empty: none.
std::string version_of_tag(const std::string& tag) {
  std::string version = tag.substr(0, tag.find('-'));
  return nvidia::DriverVersion::parse(version) ? version : std::string{};
}

struct Newest {
  bool operator()(const std::string& a, const std::string& b) const { return nvidia::version_less(b, a); }
};

/// The known versions of a source, and those with packages that were not read.
class Versions {
 public:
  Versions(const std::vector<Package>& packages, const Catalogue& catalogue)
      : catalogue_(catalogue), listed_(catalogue.complete || !catalogue.unread.empty()) {
    for (const auto& package : packages) all_.insert(package.version);
    for (const auto& tag : catalogue.unread) {
      const std::string version = version_of_tag(tag);
      if (version.empty()) {
        others_.push_back(tag);
      } else {
        all_.insert(version);
        unread_.insert(version);
      }
    }
  }

  /// False: only the lock was read.
  bool listed() const { return listed_; }
  std::vector<std::string> all() const { return {all_.begin(), all_.end()}; }
  /// Newest first.
  std::vector<std::string> allowed(const VersionConstraint& constraint) const {
    std::vector<std::string> versions;
    std::ranges::copy_if(all_, std::back_inserter(versions), [&](const auto& one) { return constraint.allows(one); });
    return versions;
  }
  std::vector<std::string> unread(const std::vector<std::string>& versions) const {
    std::vector<std::string> more;
    std::ranges::copy_if(versions, std::back_inserter(more), [&](const auto& one) { return unread_.contains(one); });
    return more;
  }
  /// Tags without a version that were not read.
  const std::vector<std::string>& others() const { return others_; }
  const Catalogue& catalogue() const { return catalogue_; }

 private:
  const Catalogue& catalogue_;
  bool listed_;
  std::set<std::string, Newest> all_;
  std::set<std::string> unread_;
  std::vector<std::string> others_;
};

struct Attempt {
  std::string version;
  Error error;
};

std::string skipped_text(const Attempt& attempt) {
  return fmt::format("{} is passed over: {}", attempt.version, attempt.error.what);
}

/// Returns the error that no version fits. It lists packages of the nearest versions, so those must be read first.
Error none_fits(const std::vector<Package>& packages, const Versions& versions, const VersionConstraint& constraint,
                const Wanted& wanted, const std::vector<Attempt>& failed) {
  if (!versions.others().empty()) return needs_tags(versions.catalogue(), versions.others());
  if (failed.size() == 1) return failed.front().error;
  std::vector<std::string> near = constraint.nearest_first(versions.all());
  if (near.empty()) return nothing_there(wanted);
  std::vector<std::string> told{near.begin(),
                                near.begin() + static_cast<std::ptrdiff_t>(std::min(near.size(), kShownVersions))};
  if (const auto more = versions.unread(told); !more.empty()) return needs_tags(versions.catalogue(), more);
  if (failed.empty()) return no_such_version(packages, wanted, near, told);
  std::vector<std::string> reasons;
  for (const auto& attempt : failed) reasons.push_back(attempt.version + ": " + attempt.error.what);
  return no_version_fits(packages, wanted, reasons, told);
}

Result<ChosenVersion> only_version(const Versions& versions, const Wanted& wanted) {
  const auto all = versions.all();
  if (all.size() > 1 && versions.listed()) return several_versions(wanted, {all.rbegin(), all.rend()});
  if (!versions.listed() && all.size() != 1) return needs_tags(versions.catalogue(), {});
  if (const auto more = versions.unread(all); !more.empty()) return needs_tags(versions.catalogue(), more);
  if (!versions.others().empty()) return needs_tags(versions.catalogue(), versions.others());
  if (all.empty()) return nothing_there(wanted);
  return ChosenVersion{all.front(), {}};
}

std::vector<std::string> why(const VersionConstraint& constraint, const std::string& version,
                             const std::vector<Attempt>& failed, bool listed) {
  if (constraint.is_exact()) return {};
  std::vector<std::string> notes{fmt::format("version: {} takes {}{}", constraint.text(), version,
                                             listed ? ", the newest that fits" : ", which the lock pins")};
  for (const auto& attempt : failed) notes.push_back(skipped_text(attempt));
  return notes;
}

}  // namespace

Result<ChosenVersion> choose_version(const std::vector<Package>& packages, const Catalogue& catalogue,
                                     const VersionConstraint& constraint, const Wanted& wanted,
                                     const TryVersion& fits) {
  const Versions versions(packages, catalogue);
  if (constraint.is_empty()) {
    SLIPWAY_TRY(only, only_version(versions, wanted));
    const Status tried = fits(only.version);
    if (!tried && tried.error().code == ErrorCode::needs_catalogue) return needs_tags(catalogue, {});
    if (!tried) return tried.error();
    return only;
  }
  const auto allowed = versions.allowed(constraint);
  std::vector<Attempt> failed;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    // When none of the packages read so far fits, twice as many are requested, so that both requests and rounds stay
    // few.
    const auto end = allowed.begin() + static_cast<std::ptrdiff_t>(std::min(allowed.size(), 2 * i + 1));
    const std::vector<std::string> next(allowed.begin() + static_cast<std::ptrdiff_t>(i), end);
    if (!versions.unread({allowed[i]}).empty()) return needs_tags(catalogue, versions.unread(next));
    const Status tried = fits(allowed[i]);
    if (tried) return ChosenVersion{allowed[i], why(constraint, allowed[i], failed, versions.listed())};
    if (tried.error().code != ErrorCode::needs_catalogue) {
      if (constraint.is_exact() && !versions.listed()) return tried.error();
      failed.push_back({allowed[i], tried.error()});
    }
  }
  if (!versions.listed()) return needs_tags(catalogue, {});
  return none_fits(packages, versions, constraint, wanted, failed);
}

}  // namespace slipway::driver
