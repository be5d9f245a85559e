// SPDX-License-Identifier: Apache-2.0
// sandbox/build_room.hpp - the scratch folder of a build, its sandbox, the collection of its results, and the error
// from its log.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/error.hpp>

#include "sandbox/build.hpp"
#include "sandbox/sandbox.hpp"

namespace slipway::sandbox {

/// The path of the source inside, always the same.
constexpr const char* kBuildFolder = "/usr/src/slipway-build";

/// The build's folder, on the disk beside the request's source, removed with this object.
class BuildRoom {
 public:
  /// Copies the source. Errors: `no_space`, `io`; `invalid` when the root has no /usr.
  static Result<BuildRoom> open(const BuildRequest& request);
  BuildRoom(BuildRoom&& other) noexcept;
  BuildRoom& operator=(BuildRoom&&) = delete;
  ~BuildRoom();

  /// Returns a sandbox in which only the source is writable. The caller sets argv, output and needs.
  const Sandbox& sandbox() const { return sandbox_; }
  /// Returns the host path of the copy of the source. Its contents are the build's: links in it may lead anywhere.
  std::string source_folder() const { return folder_ + "/source"; }

 private:
  BuildRoom() = default;
  std::string folder_;
  Sandbox sandbox_;
};

/// Fills the folder `request.into` with the build's `collect` files. Errors: `build_failed` when a file is missing, is
/// not a module, or is for another kernel; `not_found` without strip; `io`, `no_space`; those of ModuleSigner.
Status collect_results(const BuildRequest& request, const BuildRoom& room);

struct BuildProblem {
  std::string line;     ///< "nvidia/nv-pci.c:223:9: error: too few arguments to function 'f'"
  std::string context;  ///< that line with the compiler's output around it
  /// build_failed; no_space or io (out of memory) for errors that may not happen in another attempt
  ErrorCode code = ErrorCode::build_failed;
};

/// The number of bytes that are used of one line of a build's output; some tools print no line ends.
constexpr std::size_t kLogLineBytes = 4096;

/// Returns the first error of a compiler; else of a linker or modpost; else of make. Nothing when none is recognised.
/// Lines beyond kLogLineBytes do not count. @param folder  the folder of the source: removed from paths
std::optional<BuildProblem> find_problem(const std::string& log, const std::string& folder);

/// Returns the file that a line of make's output is about: "nvidia/nv.o" for "  CC [M]  FOLDER/nvidia/nv.o", "nv.c" for
/// "gcc -c nv.c"; empty for any other line.
std::string compiled_file(const std::string& line, const std::string& folder);

}  // namespace slipway::sandbox
