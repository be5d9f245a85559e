// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fcntl.h>

#include "app/install/elf_file.hpp"
#include "app/install/install.hpp"
#include "core/host/files.hpp"

namespace slipway::app {
namespace {

constexpr std::size_t kLargestLibrary = std::size_t{256} << 20U;
constexpr const char* kCLibrary = "libc.so.6";
constexpr std::array kFolders{"/usr/lib/x86_64-linux-gnu",
                              "/lib/x86_64-linux-gnu",
                              "/usr/lib/aarch64-linux-gnu",
                              "/lib/aarch64-linux-gnu",
                              "/usr/lib64",
                              "/lib64",
                              "/usr/lib",
                              "/lib"};

/// True for libraries of the C library's package: they cannot be mixed.
bool is_of_c_library(const std::string& name) {
  constexpr std::array kNames{kCLibrary,        "libm.so.6",    "libdl.so.2",  "libpthread.so.0", "librt.so.1",
                              "libresolv.so.2", "libutil.so.1", "libanl.so.1", "libmvec.so.1"};
  return name.starts_with("ld-") || std::ranges::count(kNames, name) != 0;
}

struct Library {
  std::string path;
  OfferedLibrary has;
};

/// Returns the first library of that name for the processor in the usual folders; empty if not found.
/// @param machine  0: any
std::optional<Library> find_library(const RootDir& root, const std::string& name, unsigned machine,
                                    const std::string& first = {}) {
  std::vector<std::string> folders(kFolders.begin(), kFolders.end());
  if (!first.empty()) folders.insert(folders.begin(), first);
  for (const std::string& folder : folders) {
    Library found{folder + "/" + name, {}};
    const auto file = open_regular(root, found.path);
    auto has = file ? read_offered(file->get()) : Result<OfferedLibrary>(file.error());
    if (!has || (machine != 0 && has->machine != machine)) continue;
    found.has = std::move(*has);
    return found;
  }
  return std::nullopt;
}

/// Returns a version that is required of the library and that it lacks; empty when it has all.
std::string lacking(const ElfFile& user, const std::string& name, const OfferedLibrary& library) {
  const auto wanted = user.wanted.find(name);
  if (wanted != user.wanted.end())
    for (const std::string& version : wanted->second)
      if (!library.offered.contains(version)) return version;
  return {};
}

Error unusable(const RootDir& root, const std::string& what) {
  return {ErrorCode::unsupported,
          what,
          root.folder(),
          "install a slipway that is built for this root, or unpack the portable folder in it (docs/portability.md)",
          {}};
}

class Search {
 public:
  Search(const RootDir& root, const RootDir& here, std::string own) : root_(root), here_(here), own_(std::move(own)) {}

  Status add(const std::string& name, std::string& content) {
    if (!is_elf(content)) return {};
    SLIPWAY_TRY(elf, read_elf(content, name));
    for (const std::string& library : elf.needed) SLIPWAY_CHECK(need(name, elf, library));
    return {};
  }
  FileContents take() { return std::move(missing_); }

 private:
  Status need(const std::string& user, const ElfFile& elf, const std::string& name) {
    if (missing_.contains(name)) return {};
    const auto [at, is_new] = in_root_.try_emplace(name);
    if (is_new) at->second = find_library(root_, name, elf.machine);
    const std::optional<Library>& existing = at->second;
    if (is_of_c_library(name)) return check_c_library(user, elf, name, existing);
    if (existing && lacking(elf, name, existing->has).empty()) return {};
    auto found = find_library(here_, name, elf.machine, own_);
    if (!found)
      return Error{ErrorCode::not_found,
                   "this machine has no library " + name + ", which " + user + " needs",
                   name,
                   "install the package that has this library",
                   {}};
    SLIPWAY_TRY(content, read_regular(here_, found->path, kLargestLibrary));
    std::string& kept = missing_[name] = std::move(content);
    return add(name, kept);
  }

  Status check_c_library(const std::string& user, const ElfFile& elf, const std::string& name,
                         const std::optional<Library>& existing) {
    if (!existing) {
      const auto other = find_library(root_, kCLibrary, 0);
      if (other && other->has.machine != elf.machine)
        return unusable(root_, "this root is for " + machine_name(other->has.machine) + ", and this slipway is for " +
                                   machine_name(elf.machine));
      return unusable(root_, "this root has no C library of glibc (" + name + "), which slipway needs to run there");
    }
    const std::string version = lacking(elf, name, existing->has);
    if (version.empty()) return {};
    return unusable(root_, "the C library of this root is too old: " + user + " needs " + version + ", which " +
                               existing->path + " does not have");
  }

  const RootDir& root_;
  const RootDir& here_;
  std::string own_;
  FileContents missing_;
  std::map<std::string, std::optional<Library>> in_root_;
};

}  // namespace

Result<FileContents> missing_libraries(const RootDir& root, FileContents& programs, const std::string& own) {
  SLIPWAY_TRY(here, RootDir::open("/"));
  Search search(root, here, own);
  for (auto& [name, content] : programs) SLIPWAY_CHECK(search.add(name, content));
  return search.take();
}

}  // namespace slipway::app
