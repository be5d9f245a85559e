// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/transform_tool.cpp - `slipway toolkit cdi transform root`: a spec for the same files
// elsewhere.
#include <filesystem>
#include <map>

#include "nvidia/cdi/text.hpp"
#include "nvidia/cdi/transform.hpp"
#include "toolkit/cdi/component/spec_file.hpp"
#include "toolkit/cdi/component/tools.hpp"

namespace slipway::toolkit {
namespace {

Error transform_usage(const std::string& what) {
  return {ErrorCode::usage, what, "command line", "`slipway toolkit cdi transform --help` lists the options", {}};
}

using TransformOptions = std::map<std::string, std::string>;

Result<TransformOptions> read_options(const std::vector<std::string>& words) {
  TransformOptions options{{"--from", ""}, {"--to", ""}, {"--input", ""}, {"--output", ""}, {"--relative-to", "host"}};
  if (words.empty() || words.front() != "root")
    return transform_usage("cdi transform knows the transformation `root` only");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const auto option = options.find(words[i].substr(0, equals));
    if (words[i] == "-o") return transform_usage("-o is no option here: --output FILE.json writes JSON");
    if (option == options.end()) return transform_usage("unknown option '" + words[i] + "'");
    if (equals == std::string::npos && i + 1 == words.size()) return transform_usage(words[i] + " needs a value");
    option->second = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
  }
  for (const char* root : {"--from", "--to"})
    if (!options[root].starts_with('/')) return transform_usage(std::string(root) + " takes an absolute path");
  if (options["--input"].empty() || options["--input"] == "-")
    return transform_usage("name the file that has the spec: --input FILE");
  if (options["--relative-to"] != "host" && options["--relative-to"] != "container")
    return transform_usage("--relative-to takes host or container, not '" + options["--relative-to"] + "'");
  return options;
}

}  // namespace

Result<int> run_transform(const std::vector<std::string>& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(options, read_options(words));
  const std::string input = std::filesystem::absolute(options["--input"]).string();
  SLIPWAY_TRY(text, host.read(input, nvidia::cdi::kMaxSpecBytes));
  SLIPWAY_TRY(spec, nvidia::cdi::parse_and_validate(text, options["--input"]));
  if (options["--relative-to"] == "host")
    nvidia::cdi::move_host_root(spec, options["--from"], options["--to"]);
  else
    nvidia::cdi::move_container_root(spec, options["--from"], options["--to"]);
  spec.version = nvidia::cdi::smallest_version(spec);
  const std::string& output = options["--output"];
  const bool json = output.empty() ? text.starts_with('{') : output.ends_with(".json");
  if (!output.empty()) {
    SLIPWAY_CHECK(write_spec(output, spec, json));
    return 0;
  }
  io.print(spec_text(spec, json));
  return 0;
}

std::string transform_usage() {
  return "usage: slipway toolkit cdi transform root --from DIR --to DIR --input FILE [--output FILE]\n"
         "\n"
         "Writes a CDI spec anew with the paths below one folder moved to another, such as those of a driver root.\n"
         "\n"
         "  --input FILE                  the spec, YAML or JSON\n"
         "  --output FILE                 where to write it (default: standard output)\n"
         "  --relative-to host|container  whose paths move (default: host)\n";
}

}  // namespace slipway::toolkit
