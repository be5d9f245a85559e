// SPDX-License-Identifier: Apache-2.0
// An image may contain a newer libcuda than the host's driver (the CUDA compatibility package). An ELF note in it says
// whether it works with the host's kernel module: a JSON text with `CUDA Version` and `Driver`, the majors.
#include <cerrno>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>

#include <slipway/regular_file.hpp>

#include "elf_note.hpp"
#include "hook.hpp"
#include "ld_conf.hpp"

namespace slipway::hook {
namespace {

constexpr const char* kDefaultFolder = "/usr/local/cuda/compat";
constexpr const char* kSection = ".note.cuda.fwd_compatibility";
constexpr const char* kOwner = "NVIDIA Corporation";
constexpr int kMostEntries = 10'000;

/// Returns the name of the only real libcuda in the folder; empty if not found, or several.
std::string only_libcuda(const RootDir& root, const std::string& folder) {
  auto fd = root.open_at(folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return {};
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd->release()), &::closedir);
  if (!entries) return {};
  std::string found;
  int seen = 0;
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe): one thread
    if (++seen > kMostEntries) return {};
    if (::fnmatch("libcuda.so.*.*", entry->d_name, 0) != 0 || entry->d_type == DT_LNK) continue;
    if (!found.empty()) return {};
    found = entry->d_name;
  }
  return found;
}

}  // namespace

Status enable_cuda_compat(const Arguments& arguments, const Container& container) {
  const HostVersions host{.driver = parse_version(arguments.last("host-driver-version")),
                          .cuda = parse_version(arguments.last("host-cuda-version"))};
  if (!host.driver && !host.cuda) return {};
  const std::string folder = arguments.last("cuda-compat-container-root", kDefaultFolder);
  if (!folder.starts_with('/') || folder.find('\n') != std::string::npos)
    return Error{
        ErrorCode::invalid, "'" + folder + "' is not an absolute path", "--cuda-compat-container-root", {}, {}};
  const std::string name = only_libcuda(container.root, folder);
  if (name.empty()) return {};
  const auto file = open_regular(container.root, folder + "/" + name);
  if (!file) return {};
  const auto note = read_note(file->get(), kSection, kOwner);
  const Version compat = parse_version(name.substr(std::string_view("libcuda.so.").size()));
  if (!note || !is_better_cuda(host, compat, *note)) return {};
  SLIPWAY_CHECK(make_own_folders(container.root, kConfFolder));
  return write_file(container.root, kCompatConf, folder + "\n", 0644);
}

}  // namespace slipway::hook
