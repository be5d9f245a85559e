// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <boost/program_options.hpp>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

namespace po = boost::program_options;

po::options_description visible_options(Options& options) {
  po::options_description table("Options", 110);
  auto add = table.add_options();
  add("file,f", po::value(&options.spec)->value_name("SPEC"), "host spec (default /etc/slipway/host.yaml)");
  add("root", po::value(&options.session.root)->value_name("DIR"), "root filesystem to act on (default /)");
  add("kernel", po::value(&options.session.kernels)->value_name("RELEASE"),
      "kernel to provision for; may be repeated, for several at once");
  add("only", po::value<std::string>()->value_name("A,B"), "only these components");
  add("output,o", po::value(&options.output)->value_name("text|json|jsonl"), "form of the result (default text)");
  add("sim", po::value(&options.session.sim)->value_name("PROFILE"), "a simulated GPU host, for example h100x8");
  add("live", "act on the running kernel and init system although --root is not /, or / looks like an image's");
  add("image", "/ is an image that is being built, as by RUN in a Dockerfile: no part of a running machine");
  add("lock", po::value(&options.lock)->value_name("FILE"),
      "pin artifacts by this file; it is made or brought up to date");
  add("locked", "fail rather than take anything that the lock does not pin");
  add("update", "choose anew what the lock pins: the newest that the spec allows; with --lock the file follows");
  add("without-slipway", "units may be planned for an image in which slipway is not installed (yet)");
  add("cache", po::value(&options.session.cache)->value_name("DIR"), "where downloads and builds are kept");
  add("boot", "apply: the generation in force, as slipway-boot.service does; service: as its unit runs it");
  add("condition",
      "service, with --boot: only says whether its device is there, by 0 or 1 (ExecCondition= of its unit)");
  add("deep", "verify: hash every file");
  add("all", "remove: everything that slipway owns");
  add("dry-run", "only says what would be done; apply, remove and rollback then exit as `slipway plan` does");
  add("schema", "explain: the JSON Schema of host.yaml; `explain --schema output`: of what -o json and jsonl print");
  add("yes,y", "do not ask");
  add("to", po::value(&options.destination)->value_name("TARGET"),
      "pkg: layout folder or oci:// repository to write; plugin new: folder; bugreport: file");
  add("tag", po::value(&options.tags)->value_name("TAG"), "pkg: tag to read or write, may be repeated");
  add("insecure", "pkg: plain HTTP to a host that is not loopback");
  add("trust", po::value(&options.trust)->value_name("unsigned"), "pkg: take an unsigned source");
  add("ca", po::value(&options.ca)->value_name("PEM"), "pkg: a private CA");
  add("log-format", po::value(&options.log_format)->value_name("text|json"),
      "form of the log on standard error (default text; under systemd, entries of its journal)");
  add("verbose,v", "say more, and log down to debug");
  add("help,h", "this text");
  return table;
}

bool is_release(const std::string& text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '+' || c == '~';
  });
}

Status check(const Options& options) {
  if (options.output != "text" && options.output != "json" && options.output != "jsonl")
    return Error{ErrorCode::usage,
                 "-o " + options.output + " is no form of output",
                 "command line",
                 "use text, json or jsonl",
                 {}};
  if (!options.trust.empty() && options.trust != "unsigned")
    return Error{ErrorCode::usage, "--trust takes only the word 'unsigned'", "command line", "", {}};
  if (options.condition && !options.boot)
    return Error{ErrorCode::usage, "--condition is about a service with --boot", "command line", "add --boot", {}};
  if (options.dry_run && options.yes)
    return Error{
        ErrorCode::usage, "--dry-run asks nothing that --yes could answer", "command line", "leave one out", {}};
  if (options.locked && options.update)
    return Error{ErrorCode::usage, "--locked and --update exclude each other", "command line", "leave one out", {}};
  if (options.image && (options.session.live.value_or(false) || !options.session.sim.empty()))
    return Error{ErrorCode::usage,
                 std::string("--image and ") + (options.session.sim.empty() ? "--live" : "--sim") +
                     " exclude each other: an image does not run, and has no devices",
                 "command line",
                 "leave one out",
                 {}};
  const auto& kernels = options.session.kernels;
  for (const std::string& kernel : kernels)
    if (!kernel.empty() && !is_release(kernel))
      return Error{ErrorCode::usage,
                   "--kernel '" + kernel + "' is no kernel release",
                   "command line",
                   "write it as `uname -r` prints it, for example 6.1.0-50-amd64",
                   {}};
  for (auto kernel = kernels.begin(); kernel != kernels.end(); ++kernel)
    if (std::count(kernels.begin(), kernel, *kernel) != 0)
      return Error{ErrorCode::usage, "--kernel names " + *kernel + " twice", "command line", "leave one out", {}};
  if (options.session.root.empty())
    return Error{ErrorCode::usage, "--root is empty", "command line", "name a folder; --root / is this machine", {}};
  return {};
}

}  // namespace

Result<Options> read_options(const std::vector<std::string>& words, bool is_tool) {
  Options options;
  if (is_tool) {
    options.arguments = words;
    return options;
  }
  po::options_description all = visible_options(options);
  all.add_options()("arguments", po::value(&options.arguments));
  po::positional_options_description positions;
  positions.add("arguments", -1);
  try {
    po::variables_map values;
    const auto style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(words).options(all).positional(positions).style(style).run(), values);
    po::notify(values);
    std::erase(options.session.kernels, "");
    if (values.count("only") != 0) options.only = split_list(values["only"].as<std::string>());
    options.locked = values.count("locked") != 0;
    options.update = values.count("update") != 0;
    options.without_slipway = values.count("without-slipway") != 0;
    options.yes = values.count("yes") != 0;
    options.boot = values.count("boot") != 0;
    options.condition = values.count("condition") != 0;
    options.deep = values.count("deep") != 0;
    options.all = values.count("all") != 0;
    options.dry_run = values.count("dry-run") != 0;
    options.schema = values.count("schema") != 0;
    options.verbose = values.count("verbose") != 0;
    options.help = values.count("help") != 0;
    options.insecure = values.count("insecure") != 0;
    options.image = values.count("image") != 0;
    if (values.count("live") != 0) options.session.live = true;
    if (options.image && !options.session.live) options.session.live = false;
    for (const auto& [name, value] : values)
      if (name != "arguments") options.given.push_back(name);
  } catch (const po::error& problem) {
    return Error{ErrorCode::usage, problem.what(), "command line", "`slipway --help` shows commands and options", {}};
  }
  SLIPWAY_CHECK(check(options));
  return options;
}

std::string output_of(const std::vector<std::string>& words) {
  std::string form;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if ((words[i] == "-o" || words[i] == "--output") && i + 1 < words.size()) form = words[++i];
    if (words[i].starts_with("--output=")) form = words[i].substr(sizeof("--output=") - 1);
    if (words[i].starts_with("-o") && words[i].size() > 2) form = words[i].substr(2);
  }
  return form == "json" || form == "jsonl" ? form : "text";
}

std::vector<OptionEntry> option_entries() {
  Options unused;
  std::vector<OptionEntry> entries;
  const po::options_description table = visible_options(unused);
  for (const auto& option : table.options()) {
    const std::string letter = option->canonical_display_name(po::command_line_style::allow_dash_for_short);
    const bool takes_value = option->semantic()->max_tokens() > 0;
    entries.push_back({"--" + option->long_name(), letter.starts_with('-') && letter.size() == 2 ? letter : "",
                       takes_value ? option->semantic()->name() : "", option->description()});
  }
  return entries;
}

std::string options_help(const std::vector<std::string>& names) {
  Options unused;
  const po::options_description all = visible_options(unused);
  po::options_description table("Options", 110);
  for (const auto& option : all.options())
    if (names.empty() || std::ranges::count(names, option->long_name()) != 0) table.add(option);
  std::ostringstream text;
  text << table;
  return text.str();
}

}  // namespace slipway::core
