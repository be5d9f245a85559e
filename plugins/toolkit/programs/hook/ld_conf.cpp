// SPDX-License-Identifier: Apache-2.0
#include "ld_conf.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <slipway/regular_file.hpp>

#include "hook.hpp"

namespace slipway::hook {
namespace {

constexpr const char* kConf = "/etc/ld.so.conf";
constexpr std::size_t kLargestConf = 1U << 20;
// Limits for an image's configuration, because its lists are kept in this process's memory.
constexpr std::size_t kMostFiles = 1000;
constexpr std::size_t kMostIncludes = 1000;
constexpr std::size_t kMostFolders = 10'000;
constexpr std::size_t kMostNames = 100'000;  // over all folders that includes search
constexpr std::size_t kMostBytes = 16U << 20;
constexpr std::size_t kLongestPattern = 4096;  // of a path

#if defined(__x86_64__)
constexpr const char* kTriplet = "x86_64-linux-gnu";
constexpr const char* kMuslPath = "/etc/ld-musl-x86_64.path";
#elif defined(__aarch64__)
constexpr const char* kTriplet = "aarch64-linux-gnu";
constexpr const char* kMuslPath = "/etc/ld-musl-aarch64.path";
#else
#error "name this architecture's library folders"
#endif

bool is_there(const RootDir& root, const std::string& path) { return root.open_at(path, O_PATH).ok(); }

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

std::string text_of(const RootDir& root, const std::string& path) {
  return read_regular(root, path, kLargestConf).value_or("");
}

/// Returns the files that "include PATTERN" matches, in ldconfig's order. Only file names may have wildcards. `entries`
/// counts the names read; beyond kMostNames reading stops.
std::vector<std::string> included_files(const RootDir& root, std::string pattern, std::size_t& entries) {
  if (pattern.size() > kLongestPattern) return {};
  if (!pattern.starts_with('/')) pattern = "/etc/" + pattern;
  const std::string folder = pattern.substr(0, pattern.rfind('/'));
  const std::string name = pattern.substr(pattern.rfind('/') + 1);
  std::vector<std::string> files;
  auto fd = root.open_at(folder.empty() ? "/" : folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return files;
  const std::unique_ptr<DIR, int (*)(DIR*)> open_folder(::fdopendir(fd->release()), &::closedir);
  if (!open_folder) return files;
  while (const dirent* entry = ::readdir(open_folder.get())) {  // NOLINT(concurrency-mt-unsafe): one thread
    if (++entries > kMostNames) break;
    if (::fnmatch(name.c_str(), entry->d_name, FNM_PERIOD) == 0) files.push_back(folder + "/" + entry->d_name);
    if (files.size() > kMostFiles) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Rejects a FIFO as a configuration file, because ldconfig would wait for it forever.
Status refuse_special_files(const RootDir& root) {
  std::size_t entries = 0;
  std::vector<std::string> files = included_files(root, std::string(kConfFolder) + "/*.conf", entries);
  files.emplace_back(kConf);
  for (const std::string& file : files) {
    const auto fd = root.open_at(file, O_PATH);
    struct stat info {};
    if (!fd || ::fstat(fd->get(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) continue;
    return Error{ErrorCode::invalid,
                 file + " in the container is not a regular file, and ldconfig would wait for it",
                 file,
                 "remove it from the image",
                 {}};
  }
  return {};
}

std::string lines(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) text += folder + "\n";
  return text;
}

/// Adds folders that a musl path file lacks; it is a single list, separated by newlines or colons.
Status extend_musl_path(const RootDir& root, const std::vector<std::string>& folders) {
  std::string text = text_of(root, kMuslPath);
  std::string known = "\n" + text + "\n";
  std::replace(known.begin(), known.end(), ':', '\n');
  std::string added;
  for (const std::string& folder : folders)
    if (known.find("\n" + folder + "\n") == std::string::npos) added += folder + "\n";
  if (added.empty()) return {};
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return write_file(root, kMuslPath, text + added, 0644);
}

}  // namespace

std::vector<std::string> system_folders(const RootDir& root) {
  if (!is_there(root, "/etc/debian_version")) return {"/lib", "/usr/lib", "/lib64", "/usr/lib64"};
  const std::string triplet(kTriplet);
  return {"/lib/" + triplet, "/usr/lib/" + triplet, "/lib", "/usr/lib"};
}

std::vector<std::string> configured_folders(const RootDir& root) {
  std::vector<std::string> folders;
  std::vector<std::string> files{kConf};
  std::set<std::string> known{kConf};
  std::size_t includes = 0;
  std::size_t entries = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < files.size() && i < kMostFiles && bytes < kMostBytes; ++i) {
    std::istringstream text(text_of(root, files[i]));
    bytes += text.view().size();
    for (std::string line; folders.size() < kMostFolders && std::getline(text, line);) {
      line = line.substr(0, line.find('#'));
      std::istringstream words(line);
      std::string first;
      std::string second;
      words >> first >> second;
      if (first == "include") {
        if (++includes > kMostIncludes || files.size() > kMostFiles) continue;
        for (std::string& file : included_files(root, second, entries))
          if (known.insert(file).second) files.push_back(std::move(file));
      } else if (first.starts_with('/')) {
        folders.push_back(first);
      }
    }
  }
  return folders;
}

Result<std::vector<std::string>> configure_linker(const RootDir& root, const std::vector<std::string>& folders) {
  SLIPWAY_CHECK(refuse_special_files(root));
  const std::vector<std::string> system = system_folders(root);
  const std::vector<std::string> configured = configured_folders(root);
  std::vector<std::string> missing;
  for (const std::string& folder : folders)
    if (!contains(system, folder) && !contains(configured, folder) && !contains(missing, folder))
      missing.push_back(folder);
  SLIPWAY_CHECK(make_own_folders(root, kConfFolder));
  if (!is_there(root, kConf))
    SLIPWAY_CHECK(write_file(root, kConf, std::string("include ") + kConfFolder + "/*.conf\n", 0644));
  if (!missing.empty())
    SLIPWAY_CHECK(write_file(root, std::string(kConfFolder) + "/00-slipway.conf", lines(missing), 0644));
  SLIPWAY_CHECK(write_file(root, std::string(kConfFolder) + "/zz-slipway.conf", lines(system), 0644));
  if (is_there(root, "/etc/alpine-release")) {
    std::vector<std::string> all = system;
    all.insert(all.end(), missing.begin(), missing.end());
    SLIPWAY_CHECK(extend_musl_path(root, all));
  }
  // The file of the previous hook may not be included either.
  const std::string compat = text_of(root, kCompatConf);
  if (compat.starts_with('/')) missing.insert(missing.begin(), compat.substr(0, compat.find('\n')));
  const std::vector<std::string> included = configured_folders(root);
  std::erase_if(missing, [&](const std::string& folder) { return contains(included, folder); });
  return missing;
}

}  // namespace slipway::hook
