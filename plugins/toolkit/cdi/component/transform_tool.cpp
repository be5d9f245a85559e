// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/transform_tool.cpp - `slipway cdi transform root`: a spec for the same files
// elsewhere.
#include <filesystem>

#include "nvidia/cdi/text.hpp"
#include "toolkit/cdi/component/tools.hpp"
#include "toolkit/cdi/transform.hpp"

namespace slipway::toolkit {
namespace {

Status check_transform(const CommandWords& words) {
  const CommandTable line = transform_line();
  if (words.given("o")) return line.wrong("-o is not an option here: --output FILE.json writes JSON");
  if (words.arguments != std::vector<std::string>{"root"})
    return line.wrong("cdi transform has only the transformation `root`");
  for (const char* root : {"from", "to"})
    if (!words.text(root).starts_with('/')) return line.wrong(std::string("--") + root + " takes an absolute path");
  if (words.text("input", "-").empty() || words.text("input", "-") == "-")
    return line.wrong("name the file that has the spec: --input FILE");
  return {};
}

}  // namespace

Result<int> run_transform(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_CHECK(check_transform(words));
  const std::string input = std::filesystem::absolute(words.text("input")).string();
  SLIPWAY_TRY(text, host.read(input, nvidia::cdi::kMaxSpecBytes));
  SLIPWAY_TRY(spec, nvidia::cdi::parse_and_validate(text, words.text("input")));
  if (words.text("relative-to", "host") == "host")
    move_host_root(spec, words.text("from"), words.text("to"));
  else
    move_container_root(spec, words.text("from"), words.text("to"));
  spec.version = nvidia::cdi::smallest_version(spec);
  const std::string output = words.text("output");
  const bool json = output.empty() ? text.starts_with('{') : output.ends_with(".json");
  if (!output.empty()) {
    SLIPWAY_CHECK(write_spec(output, spec, json));
    return 0;
  }
  io.print(spec_text(spec, json));
  return 0;
}

CommandTable transform_line() {
  return {
      .call = "slipway cdi transform",
      .usage = "root --from DIR --to DIR --input FILE [--output FILE]",
      .about =
          "Writes a CDI spec again with the paths below one folder moved to another, such as those of a driver "
          "root.",
      .options = {{"from", "DIR", "the folder that the paths are in now"},
                  {"to", "DIR", "the folder that they are moved to"},
                  {"input", "FILE", "the spec, YAML or JSON"},
                  {"output", "FILE", "where to write it, a .json as JSON (default: standard output)"},
                  {"relative-to", "host|container", "whose paths move (default: host)"},
                  {"o", "FORM"}},
      .most_arguments = 1,
      .examples = {"slipway cdi transform root --from /run/nvidia/driver --to / --input /etc/cdi/nvidia.yaml",
                   "slipway cdi transform root --from /usr/lib64 --to /opt/lib --relative-to container --input a.yaml"},
      .last_counts = true};
}

}  // namespace slipway::toolkit
