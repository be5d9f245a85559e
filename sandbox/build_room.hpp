// SPDX-License-Identifier: Apache-2.0
// sandbox/build_room.hpp - the scratch folder of a build, the sandbox that its programs run in, what comes out of it,
// and what went wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/error.hpp>

#include "sandbox/build.hpp"
#include "sandbox/sandbox.hpp"

namespace slipway::core {

/// Where the source lies inside, always.
constexpr const char* kBuildFolder = "/usr/src/slipway-build";

/// On the disk beside the request's source while it lives.
class BuildRoom {
 public:
  /// Copies the source. Errors: `no_space`, `io`; `invalid` when the root has no /usr.
  static Result<BuildRoom> open(const BuildRequest& request);
  BuildRoom(BuildRoom&& other) noexcept;
  BuildRoom& operator=(BuildRoom&&) = delete;
  ~BuildRoom();

  /// A sandbox in which the source is the one thing that can be written. argv, output and needs are left to the caller.
  const Sandbox& sandbox() const { return sandbox_; }
  /// Host path of the copy of the source. What lies there is the build's: it may be links to anywhere.
  std::string source_folder() const { return folder_ + "/source"; }

 private:
  BuildRoom() = default;
  std::string folder_;
  Sandbox sandbox_;
};

/// Fills the folder `request.into` with what `collect` of the build names. Errors: `build_failed` when a file is not
/// there, no module, or for another kernel; `not_found` without strip; `io`, `no_space`; those of ModuleSigner.
Status collect_results(const BuildRequest& request, const BuildRoom& room);

struct BuildProblem {
  std::string line;     ///< "nvidia/nv-pci.c:223:9: error: too few arguments to function 'f'"
  std::string context;  ///< that line with what the compiler showed around it
  /// build_failed; no_space or io (out of memory) for what another attempt may not meet
  ErrorCode code = ErrorCode::build_failed;
};

/// How much of a line of a build's output is looked at; some tools print no ends of lines.
constexpr std::size_t kLogLineBytes = 4096;

/// The first error of a compiler; else of a linker or modpost; else of make. Nothing when none is recognised.
/// Lines beyond kLogLineBytes are none. @param folder  where the source lay: taken off the front of paths
std::optional<BuildProblem> find_problem(const std::string& log, const std::string& folder);

/// The file that a line of make's output is about: "nvidia/nv.o" of "  CC [M]  FOLDER/nvidia/nv.o", "nv.c" of
/// "gcc -c nv.c"; empty when it is about none.
std::string compiled_file(const std::string& line, const std::string& folder);

}  // namespace slipway::core
