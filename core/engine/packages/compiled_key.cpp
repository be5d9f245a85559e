// SPDX-License-Identifier: Apache-2.0
#include "core/engine/packages/compiled_key.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include <slipway/regular_file.hpp>

#include "base/digest/digest.hpp"
#include "base/write/tree.hpp"
#include "sandbox/sandbox.hpp"

namespace slipway::core {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kCertificateBytes = 1 << 20;
// Of all files of a kernel together; Debian's headers have about 12,000 files with 5 MiB.
constexpr off_t kMostBytes = off_t{512} << 20U;
constexpr unsigned kMostFiles = 100'000;
constexpr std::uint64_t kVersionBytes = 64 << 10;

/// Below /lib/modules/RELEASE. Debian has headers of all flavours of a kernel in a folder of their own, `source`.
constexpr std::array<std::string_view, 5> kKernelFiles{"build/Makefile", "build/.config", "build/Module.symvers",
                                                       "build/include/linux/vermagic.h",
                                                       "source/include/linux/vermagic.h"};
constexpr std::array<std::string_view, 2> kKernelFolders{"build/include/config", "build/include/generated"};
constexpr std::array<std::string_view, 4> kTools{"/usr/bin/as", "/usr/bin/ld", "/usr/bin/ld.lld", "/usr/bin/strip"};

/// What may still be read of a root, whose author may have put any number of files of any size there.
struct ReadLimits {
  off_t bytes = kMostBytes;
  unsigned files = kMostFiles;
};

Result<std::string> digest_of_open(int file, const std::string& path, ReadLimits& limits) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return system_error("read", path, errno);
  if (info.st_size > limits.bytes || limits.files == 0)
    return Error{ErrorCode::unsupported, "the kernel's headers are too large to be compared: " + path, path, {}, {}};
  limits.bytes -= info.st_size;
  --limits.files;
  return base::digest_of_file(file, path);
}

/// Adds the digest of a file that may be missing.
Status add_file(const RootDir& root, const std::string& path, const std::string& name, ReadLimits& limits,
                Json& digests) {
  const auto file = open_regular(root, path);
  if (!file && file.error().code == ErrorCode::not_found) return {};
  if (!file) return file.error();
  SLIPWAY_TRY(digest, digest_of_open(file->get(), path, limits));
  digests[name] = digest;
  return {};
}

/// Adds the digests of the files in a folder that may be missing, and in its folders.
Status add_folder(const RootDir& root, const std::string& path, const std::string& name, ReadLimits& limits,
                  Json& digests) {
  const auto folder = root.open_at(path, O_RDONLY | O_DIRECTORY);
  if (!folder && folder.error().code == ErrorCode::not_found) return {};
  if (!folder) return folder.error();
  return base::walk_tree(folder->get(), path, {.enter = [&](const base::TreeEntry& entry) -> Result<bool> {
                           if (!S_ISREG(entry.info.st_mode)) return true;
                           const std::string below = "/" + entry.path;
                           SLIPWAY_TRY(file, open_regular(entry.folder, entry.name, path + below, O_NOFOLLOW));
                           SLIPWAY_TRY(digest, digest_of_open(file.get(), path + below, limits));
                           digests[name + below] = digest;
                           return true;
                         }});
}

Result<Json> kernel_of(const Json& build, const RootDir& root) {
  const Json identity = build.value("identity", Json::object());
  const std::string release = identity.is_object() ? identity.value("kernel", "") : std::string();
  if (release.empty() || release.find('/') != std::string::npos)
    return Error{ErrorCode::unsupported, "only what is compiled for a kernel is kept", {}, {}, {}};
  const std::string folder = "/lib/modules/" + release + "/";
  Json files = Json::object();
  ReadLimits limits;
  for (const std::string_view each : kKernelFiles)
    SLIPWAY_CHECK(add_file(root, folder + std::string(each), std::string(each), limits, files));
  for (const std::string_view each : kKernelFolders)
    SLIPWAY_CHECK(add_folder(root, folder + std::string(each), std::string(each), limits, files));
  return Json{{"identity", identity}, {"files", files}};
}

Result<std::string> version_of(const std::string& program, const RootDir& root) {
  std::string text;
  sandbox::Sandbox sandbox;
  sandbox.root = root.folder();
  sandbox.read_only = true;
  sandbox.argv = {program, "--version"};
  sandbox.environment = sandbox::sandbox_environment();
  sandbox.limit = std::chrono::seconds(30);
  sandbox.output_bytes = kVersionBytes;
  sandbox.on_output = [&](std::string_view piece) { text += piece; };
  SLIPWAY_TRY(end, sandbox::run_in_sandbox(sandbox));
  if (end.exit_status == 0) return text;
  return Error{ErrorCode::io,
               "`" + program + " --version` ended with status " + std::to_string(end.exit_status),
               program,
               {},
               {}};
}

Result<Json> programs_of(const Json& build, const RootDir& root) {
  Json programs = Json::object();
  ReadLimits limits;
  for (const Json& each : build.value("needs", Json::array())) {
    const auto path = each.get<std::string>();
    SLIPWAY_TRY(real, root.resolve(path));
    SLIPWAY_TRY(look, root.open_at(real, O_PATH));
    struct stat info {};
    if (::fstat(look.get(), &info) != 0) return system_error("read", path, errno);
    if (S_ISDIR(info.st_mode)) continue;
    SLIPWAY_TRY(file, open_regular(root, real));
    SLIPWAY_TRY(digest, digest_of_open(file.get(), path, limits));
    SLIPWAY_TRY(version, version_of(path, root));
    programs[path] = {{"file", real}, {"digest", digest}, {"version", version}};
  }
  return programs;
}

Result<Json> files_of(const Json& build) {
  Json files = Json::array();
  for (const Json& each : build.value("collect", Json::array())) {
    Json file = each;
    file.erase("sign_key");
    file.erase("sign_cert");
    file["signer"] = "unsigned";
    if (!each.value("sign_key", "").empty()) {
      SLIPWAY_TRY(certificate, read_regular(each.value("sign_cert", ""), kCertificateBytes));
      file["signer"] = base::digest_of(certificate);
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

Result<Json> compiled_key(const Json& layer, const RootDir& root, bool live) {
  const Json build = layer.value("build", Json::object());
  const Json descriptor = layer.value("descriptor", Json::object());
  if (!build.is_object() || !descriptor.is_object() || descriptor.value("digest", "").empty())
    return Error{ErrorCode::unsupported, "only what is compiled from a package's source is kept", {}, {}, {}};
  SLIPWAY_TRY(kernel, kernel_of(build, root));
  SLIPWAY_TRY(programs, programs_of(build, root));
  SLIPWAY_TRY(files, files_of(build));
  Json tools = Json::object();
  ReadLimits limits;
  for (const std::string_view tool : kTools)
    SLIPWAY_CHECK(add_file(root, std::string(tool), std::string(tool), limits, tools));
  return Json{{"format", kFormat},
              {"live", live},
              {"source", descriptor.value("digest", "")},
              {"kernel", kernel},
              {"programs", programs},
              {"tools", tools},
              {"make",
               {{"directory", build.value("directory", "")},
                {"argv", build.value("argv", Json::array())},
                {"environment", build.value("environment", Json::array())}}},
              {"files", files}};
}

std::string compiled_name(const Json& key) { return base::digest_hex(base::digest_of(canonical(key))); }

}  // namespace slipway::core
