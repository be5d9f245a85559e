// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/text.hpp>

#include "base/digest/digest.hpp"
#include "base/write/tree.hpp"
#include "core/action/store/store.hpp"
#include "core/host/files.hpp"

namespace slipway::core {
namespace {

constexpr unsigned kPermissionBits = 07777;
constexpr unsigned kMostThreads = 4;

using Entries = std::vector<Json>;

Result<Json> json_of(const base::TreeEntry& found) {
  const struct stat& info = found.info;
  Json entry{{"path", found.path}, {"mode", info.st_mode & kPermissionBits}, {"type", "other"}};
  if (S_ISDIR(info.st_mode)) entry["type"] = "directory";
  if (S_ISREG(info.st_mode)) {
    entry["type"] = "regular";
    entry["size"] = info.st_size;
  }
  if (S_ISLNK(info.st_mode)) {
    SLIPWAY_TRY(target, read_link_name(found.folder, found.name, found.path));
    entry["type"] = "symlink";
    entry["points_to"] = target;
  }
  return entry;
}

/// Fills in the digests of all files, with several threads.
Status hash_files(const RootDir& folder, Entries& entries) {
  std::atomic<std::size_t> next{0};
  std::mutex lock;
  std::optional<Error> failed;
  const auto work = [&] {
    for (std::size_t i = next++; i < entries.size(); i = next++) {
      if (entries[i]["type"] != "regular") continue;
      const auto path = entries[i]["path"].get<std::string>();
      const auto file = open_regular(folder, path, O_NOFOLLOW);
      auto digest = file ? base::digest_of_file(file->get(), path) : Result<std::string>(file.error());
      if (digest) {
        entries[i]["digest"] = *digest;
        continue;
      }
      const std::lock_guard guard(lock);
      failed = digest.error();
    }
  };
  std::vector<std::thread> others;
  const unsigned threads = std::min({kMostThreads, std::max(1U, std::thread::hardware_concurrency())});
  for (unsigned i = 1; i < threads && i < entries.size(); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failed) return *failed;
  return {};
}

std::map<std::string, Json> by_path(const std::string& list) {
  std::map<std::string, Json> entries;
  for (const std::string_view line : lines_of<std::string_view>(list)) {
    Json entry = parse_foreign(line);
    if (!entry.is_object()) continue;
    std::string path = entry.value("path", "");
    entries.emplace(std::move(path), std::move(entry));
  }
  return entries;
}

std::string difference(const Json& wanted, const Json& found) {
  if (wanted["type"] != found["type"]) return "is a " + found.value("type", "") + ", not a " + wanted.value("type", "");
  if (wanted.value("digest", "") != found.value("digest", "")) return "has another content";
  if (wanted.value("points_to", "") != found.value("points_to", ""))
    return "points to " + found.value("points_to", "") + ", not to " + wanted.value("points_to", "");
  return "has another mode";
}

}  // namespace

Result<std::string> list_tree(const RootDir& folder) {
  SLIPWAY_TRY(top, folder.open_at("/", O_RDONLY | O_DIRECTORY));
  Entries entries;
  SLIPWAY_CHECK(
      base::walk_tree(top.get(), folder.folder(), {.enter = [&](const base::TreeEntry& found) -> Result<bool> {
                        SLIPWAY_TRY(entry, json_of(found));
                        entries.push_back(std::move(entry));
                        return true;
                      }}));
  SLIPWAY_CHECK(hash_files(folder, entries));
  std::map<std::string, std::string> sorted;
  for (const Json& entry : entries) sorted[entry["path"].get<std::string>()] = canonical(entry) + "\n";
  std::string list;
  for (const auto& [path, line] : sorted) list += line;
  return list;
}

std::vector<std::string> compare_lists(const std::string& wanted, const std::string& found) {
  std::vector<std::string> problems;
  const auto wanted_entries = by_path(wanted);
  auto found_entries = by_path(found);
  for (const auto& [path, entry] : wanted_entries) {
    const auto match = found_entries.find(path);
    if (match == found_entries.end()) {
      problems.push_back(path + " is missing");
    } else {
      if (match->second != entry) problems.push_back(path + " " + difference(entry, match->second));
      found_entries.erase(match);
    }
  }
  for (const auto& [path, entry] : found_entries)
    problems.push_back(path + " was not in the layer when it was unpacked");
  return problems;
}

}  // namespace slipway::core
