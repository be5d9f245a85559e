// SPDX-License-Identifier: Apache-2.0
#include "toolkit/programs/slipway-runtime/bundle.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <sys/stat.h>

#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"
#include "toolkit/requests/document.hpp"
#include "toolkit/requests/request.hpp"
#include "toolkit/requests/require/machine.hpp"
#include "toolkit/requests/specs.hpp"

namespace slipway::shim {
namespace {

constexpr std::size_t kMaxBundle = 16U << 20U;  // engines add whole environments and annotations

/// Replaces the file atomically. It is not flushed to the disk: a bundle does not outlive the boot.
Status replace_file(const std::string& path, const std::string& text) {
  struct stat before {};
  if (::stat(path.c_str(), &before) != 0) return system_error("look at", path, errno);
  base::NewFile wanted = base::NewFile::ours(before.st_mode & 07777U);
  wanted.uid = before.st_uid;
  wanted.gid = before.st_gid;
  return base::put_file(path, text, wanted, false);
}

/// Returns the configuration's path with links followed, so that the rename replaces the file and not a link to it.
Result<std::string> config_of(const CommandLine& line) {
  const bool absolute = line.config_name.starts_with('/');
  const std::string path = absolute ? line.config_name : line.bundle + "/" + line.config_name;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (!real) return system_error("open", path, errno);
  return std::string(real.get());
}

}  // namespace

Result<Edited> prepare_bundle(const CommandLine& line, const Config& config) {
  SLIPWAY_TRY(path, config_of(line));
  SLIPWAY_TRY(text, read_regular(path, kMaxBundle));
  SLIPWAY_TRY(bundle, parse_document(text, path));
  SLIPWAY_TRY(request, read_request(bundle, config, path, {.pod_namespace = pod_namespace_of(bundle)}));
  if (request.empty()) return Edited{{}, {}, std::move(request.warnings), {}};
  SLIPWAY_TRY(specs, config.mode == "jit-cdi" ? specs_made_now(request, config)
                                              : Result<Specs>(Specs::read(config.spec_folders)));
  SLIPWAY_TRY(edits, specs.resolve(request, config));
  SLIPWAY_TRY(unchecked, check_requirements(request, edits, config, "", path));
  leave_out_unwanted(edits, config);
  request.warnings.insert(request.warnings.end(), unchecked.begin(), unchecked.end());
  SLIPWAY_CHECK(apply_edits(bundle, edits, read_host_node, path, !config.no_cgroups));
  SLIPWAY_CHECK(replace_file(path, canonical(bundle)));
  if (request.driver_only) request.devices = {config.default_kind + "=none"};
  return Edited{std::move(request.devices), std::move(request.source), std::move(request.warnings), described(edits)};
}

}  // namespace slipway::shim
