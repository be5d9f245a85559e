// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <climits>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include "base/write/new_file.hpp"
#include "hook.hpp"

namespace slipway::hook {
namespace {

struct Link {
  std::string target;
  std::string path;
  auto operator<=>(const Link&) const = default;
};

Result<Link> parse_link(const std::string& word) {
  const std::size_t joint = word.find("::");
  Link link{word.substr(0, joint), joint == std::string::npos ? "" : word.substr(joint + 2)};
  if (!link.target.empty() && !link.path.empty()) return link;
  return Error{ErrorCode::invalid,
               "--link takes TARGET::LINK, not '" + word + "'",
               "--link",
               "correct the hook's arguments in the CDI spec",
               {}};
}

bool links_to(int folder, const std::string& name, const std::string& target) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
  return size >= 0 && std::string_view(text.data(), static_cast<std::size_t>(size)) == target;
}

Status make_link(const RootDir& root, const Link& link) {
  const std::size_t slash = link.path.rfind('/');
  const std::string above = link.path.substr(0, slash == std::string::npos ? 0 : slash);
  if (is_in_volume(root, above)) return {};
  if (!above.empty()) SLIPWAY_CHECK(make_own_folders(root, above));
  SLIPWAY_TRY(place, root.parent_of(link.path));
  const int folder = place.first.get();
  if (is_in_volume(root, folder, above)) return {};
  if (links_to(folder, place.second, link.target)) return {};
  const std::string temporary = base::unique_name("." + place.second + base::kNewSuffix);
  if (::symlinkat(link.target.c_str(), folder, temporary.c_str()) != 0)
    return system_error("create the link", link.path, errno);
  if (::renameat(folder, temporary.c_str(), folder, place.second.c_str()) == 0) return {};
  const int why = errno;
  ::unlinkat(folder, temporary.c_str(), 0);
  return system_error("create the link", link.path, why);
}

}  // namespace

Status create_symlinks(const Arguments& arguments, const Container& container) {
  std::set<Link> seen;
  const std::vector<std::string> words = arguments.all("link");
  for (const std::string& word : words) {
    SLIPWAY_TRY(link, parse_link(word));
    if (seen.insert(link).second) SLIPWAY_CHECK(make_link(container.root, link));
  }
  return {};
}

}  // namespace slipway::hook
