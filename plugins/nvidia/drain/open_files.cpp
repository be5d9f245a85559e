// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/open_files.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace slipway::nvidia::drain {
namespace {

/// Number of open files that were listed.
struct Listed {
  std::size_t files = 0;
  std::size_t most = 0;  ///< of one process
  unsigned most_pid = 0;

  void add(unsigned pid, std::size_t more) {
    files += more;
    if (more <= most) return;
    most = more;
    most_pid = pid;
  }
  std::size_t left(std::size_t limit) const { return limit - std::min(files, limit); }
};

struct OfUser {
  Listed listed;
  bool is_unseen = false;
};

std::optional<unsigned> pid_of(std::string_view name) {
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), value);
  return problem == std::errc{} && end == name.data() + name.size() ? std::optional(value) : std::nullopt;
}

/// Returns "nvidia3" for "/dev/nvidia3 (deleted)".
std::string_view last_part(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path.substr(path.rfind('/') + 1);
}

class OpenFileSearch {
 public:
  OpenFileSearch(const Host& host, const DeviceNodes& nodes, const OpenFileLimits& limits,
                 const std::function<void(unsigned, const std::string&)>& found)
      : host_(host), nodes_(nodes), limits_(limits), found_(found) {}

  void at(unsigned pid) {
    const std::string process = fmt::format("/proc/{}", pid);
    const auto owner = host_.info(process);
    if (!owner) return;  // it has just ended
    OfUser& user = users_[owner->uid];
    const std::size_t left = std::min(user.listed.left(limits_.of_user), all_.left(limits_.in_all));
    if (left == 0) {
      user.is_unseen = true;
      return;
    }
    const auto files = host_.list(process + "/fd");
    if (!files) return;
    user.listed.add(pid, files->size());
    all_.add(pid, files->size());
    if (files->size() > left) user.is_unseen = true;
    look_at(pid, process + "/fd/", *files, std::min(files->size(), left));
  }

  std::vector<UnseenFiles> unseen() const {
    std::vector<UnseenFiles> unseen;
    for (const auto& [uid, user] : users_)
      if (user.is_unseen)
        unseen.push_back({uid, user.listed.left(limits_.of_user) == 0 ? user.listed.most_pid : all_.most_pid});
    return unseen;
  }

 private:
  void look_at(unsigned pid, const std::string& folder, const std::vector<std::string>& files, std::size_t count) {
    std::optional<bool> here;
    for (std::size_t i = 0; i < count; ++i) {
      const auto text = host_.read_link(folder + files[i]);
      const auto node = text ? nodes_.find(std::string(last_part(*text))) : nodes_.end();
      if (node == nodes_.end()) continue;
      if (!here) here = is_here(host_, pid);
      if (*here ? is_open_here(pid, files[i], node->second) : *text == node->second.path) found_(pid, node->first);
    }
  }

  static bool is_open_here(unsigned pid, const std::string& file, const DeviceNode& node) {
    const auto behind = file_behind(pid, "fd/" + file);
    return behind && behind->character_device && (!node.number || behind->character_device == node.number);
  }

  const Host& host_;
  const DeviceNodes& nodes_;
  const OpenFileLimits& limits_;
  const std::function<void(unsigned, const std::string&)>& found_;
  std::map<std::uint32_t, OfUser> users_;
  Listed all_;
};

}  // namespace

std::vector<UnseenFiles> find_open_files(const Host& host, const DeviceNodes& nodes, const OpenFileLimits& limits,
                                         const std::function<void(unsigned pid, const std::string& node)>& found) {
  // The kernel lists this machine's processes, which have no device of another machine open.
  if (host.borrows_root() && host.kernel_folder() == "/") return {};
  const auto names = nodes.empty() ? Result<std::vector<std::string>>(std::vector<std::string>()) : host.list("/proc");
  if (!names) return {};
  OpenFileSearch search(host, nodes, limits, found);
  for (const std::string& name : *names)
    if (const auto pid = pid_of(name)) search.at(*pid);
  return search.unseen();
}

}  // namespace slipway::nvidia::drain
