// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/error.hpp - an error for users: what failed, where, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <slipway/json.hpp>

namespace slipway {

/// The reason of a failure, coarse enough to branch on. The wire name is the enumerator's.
enum class ErrorCode {
  invalid,          ///< the input is wrong: spec, option, package, file format
  usage,            ///< the command line or a SLIPWAY_ variable is wrong
  not_found,        ///< a file, device, package, kernel or tool is missing
  unsupported,      ///< this host, root or plugin cannot do that
  denied,           ///< permission or policy refuses it
  io,               ///< reading or writing failed (errno text in `what`)
  no_space,         ///< ENOSPC or EDQUOT
  read_only,        ///< EROFS
  timed_out,        ///< a deadline passed
  busy,             ///< another process holds it
  locked,           ///< another slipway is working there
  offline,          ///< needs the live machine, and this root is not live
  conflict,         ///< two desired states exclude each other; a user's edit is in the way
  corrupt,          ///< a digest, signature or stored state does not match
  unreachable,      ///< the network or registry did not answer
  needs_catalogue,  ///< the partial catalogue is not enough for plan(): read the whole one and call again
  build_failed,     ///< compiling failed; `details` has the compiler's first error
  cancelled,        ///< a signal asked to stop
  plugin_defect,    ///< the plugin broke its contract (crash, unstable plan, output against its schema)
  internal,         ///< slipway broke its own contract
};

std::string_view to_string(ErrorCode code);

/// A failure, described for the user at the terminal.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string what;   ///< what happened, to which thing, and why; no trailing full stop
  std::string where;  ///< file:line:column, spec key, path, device or URL; may be empty
  std::string next;   ///< what to do, with a command that works; may be empty
  /// Further lines, label and text ("held", "python3 (pid 20417)"), printed in this order.
  std::vector<std::pair<std::string, std::string>> details;
};

Json to_json(const Error& error);

/// The inverse of to_json(); a value that is not an error object becomes an `internal` error that quotes it.
Error error_from_json(const Json& value);

/// Returns the text form: `error: what`, then indented `at:`, the details and `do:` lines, each ended by a newline.
std::string to_text(const Error& error);

/// Returns an Error for a failed system call, with errno's text and the matching code (`no_space`, `denied`,
/// `not_found`, …).
/// @param doing  the attempted operation, for example "write"
/// @param thing  the path that it was attempted on; becomes `where`
/// @param number the errno value
Error system_error(std::string_view doing, std::string_view thing, int number);

}  // namespace slipway
