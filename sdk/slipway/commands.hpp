// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/commands.hpp - tools that a component adds to the command line: `slipway NAME TOOL …`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <slipway/command_line.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway {

/// The means that a running tool may use besides the Host.
class ToolIo {
 public:
  virtual ~ToolIo() = default;
  /// Writes text to the user's standard output.
  virtual void print(std::string_view text) = 0;
  /// Logs a line (to standard error), which is shown with -v.
  virtual void log(std::string_view text) = 0;
  /// Writes a line to standard error that is always shown.
  virtual void warn(std::string_view text) { log(text); }
  /// Reports the progress of one named step, in bytes; `total` is 0 while it is unknown, and equals `done` at the end.
  virtual void progress(std::string_view label, std::uint64_t done, std::uint64_t total) = 0;
  /// Calls an operation of the core:
  ///   "pkg.build"  {directory, output, tags}  packs a package folder into an OCI layout (docs/package-format.md)
  ///   "build.run"  {build, source: DIR, root, headers?: DIR, into: DIR}  compiles as for an unpack action
  ///   "source.read"  {root, file?: SPEC, key, tags: [PREFIX…]}  the component's section of the root's spec, or of
  ///   SPEC,
  ///     and what the artifact source at that key holds now: {"spec": {…}, "catalogues": {KEY: …}} as plan() gets them
  ///   "build.check"  {root}  whether programs of that root can run here as build.run runs them: else `unsupported`
  /// Errors: those of the operation; `unsupported` when this slipway does not have it.
  virtual Result<Json> core(std::string_view op, const Json& request) = 0;
};

struct ToolInfo {
  std::string name;     ///< "build": lower-case letters, digits and '-'
  std::string purpose;  ///< one sentence
  /// slipway uses it to read the words of the tool and to make its help. The defaults of `call`, `usage` and `about`
  /// are "slipway COMPONENT TOOL", "[options]", and the purpose.
  CommandTable line = {};
};

class Commands {
 public:
  virtual ~Commands() = default;
  virtual std::vector<ToolInfo> list() const = 0;
  /// @param tool   one of list()
  /// @param words  read by its table, including environment variables; never --help
  /// @return the exit status, 0-255
  virtual Result<int> run(std::string_view tool, const CommandWords& words, const Host& host, ToolIo& io) const = 0;
};

/// A tool with the function that runs it; null: a separate program (`tool_programs` of the manifest).
struct Tool {
  std::string name;     ///< as ToolInfo has it
  std::string purpose;  ///< one sentence
  CommandTable line;
  std::function<Result<int>(const CommandWords& words, const Host& host, ToolIo& io)> run;
};

class ToolTable : public Commands {
 public:
  explicit ToolTable(std::vector<Tool> tools) : tools_(std::move(tools)) {}
  std::vector<ToolInfo> list() const override;
  Result<int> run(std::string_view tool, const CommandWords& words, const Host& host, ToolIo& io) const override;

 private:
  std::vector<Tool> tools_;
};

}  // namespace slipway
