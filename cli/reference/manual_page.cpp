// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/component_tools.hpp"

namespace slipway::cli {
namespace {

/// Escapes text so that troff prints it unchanged: no requests, and dashes that can be copied.
std::string troff_plain(std::string text) {
  text = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  text = replaced(text, "…", "...");
  if (text.starts_with('.') || text.starts_with('\'')) text.insert(0, "\\&");
  return text;
}

constexpr const char* kHead = R"(.SH NAME
slipway \- provision a host with NVIDIA GPUs, and keep it so
.SH SYNOPSIS
.B slipway
.I COMMAND
.RI [ OPTION .\|.\|.]
.SH DESCRIPTION
A host spec says what should be there: driver, container engines, device plugin and the like.
.B slipway plan
shows what is missing,
.B slipway apply
makes it so, and
.B slipway remove
brings back what was there before.
Results go to standard output, logs and progress to standard error.
.SH COMMANDS
)";

constexpr const char* kTail = R"(.SH EXIT STATUS
.TP
.B 0
done;
.BR plan :
nothing to do;
.BR verify ", " doctor :
nothing fails
.TP
.B 1
an error;
.BR verify ", " doctor :
something does not pass
.TP
.B 2
.BR plan :
there are changes
.TP
.B 3
.BR apply :
something is in use, or an artifact source does not answer; try again later
.TP
.B 4
.BR apply :
done except for a reboot
.TP
.B 64
the command line is wrong, or one of slipway's environment variables
.TP
.B 75
another slipway is at work on this root;
.BR service :
it runs already
.SH FILES
.TP
.I /etc/slipway/host.yaml
the host spec, unless
.B \-f
names another
.TP
.I /var/lib/slipway
what slipway owns, and its generations; removed with the last component
.TP
.I /var/cache/slipway
downloads and build results
.TP
.I /usr/lib/slipway/store
unpacked packages
.TP
.I /var/log/slipway
what
.B slipway log
shows
.SH ENVIRONMENT
.TP
.B SLIPWAY_PLUGIN_PATH
folders of plugins, separated by colons, for commands that are started by hand
.TP
.B SLIPWAY_LOG
the lowest level that is logged: error, warning, info (default) or debug;
.B \-v
shows all
.TP
.B NO_COLOR
no colour on a terminal
.TP
.B SLIPWAY_COLUMNS
the width of text output, where the terminal does not report one
.TP
.B SLIPWAY_NVML
the library of NVML that plugins load, in the place of the driver's
.TP
.B SLIPWAY_LOG_DIR
folder of the log, in the place of /var/log/slipway; as root on the machine itself for
.B slipway log
alone
.TP
.B SOURCE_DATE_EPOCH
the time of everything that is written, for reproducible images
)";

constexpr const char* kSeeAlso = R"(.SH SEE ALSO
.BR slipway\-runtime (1),
.BR slipway\-cdi\-hook (1),
.BR slipway\-sim (1)
)";

/// Returns "; options: --file SPEC, --root DIR", to follow the purpose of a command or tool.
std::string options_line(const std::vector<CommandOption>& options) {
  const auto shown = [](const CommandOption& option) {
    return long_name(option) + (option.value.empty() ? "" : " " + option.value);
  };
  return options.empty() ? "" : ";\n" + troff_plain("options: " + joined(options, ", ", shown));
}

/// @param before  text in front of the help: the command, when only it has the option
std::string option_entry(const CommandOption& option, const std::string& before) {
  std::string text = ".TP\n.BR " + (option.letter == 0 ? "" : troff_plain(short_name(option)) + " \", \" ");
  text += troff_plain(long_name(option));
  if (may_lack_value(option))
    text += "\\fI" + troff_plain(option.value) + "\\fR";
  else if (!option.value.empty())
    text += " \" \\fI" + troff_plain(option.value) + "\\fR\"";
  return text + "\n" + troff_plain(before + option.help + (option.repeats ? "; may be repeated" : "")) + "\n";
}

}  // namespace

std::string manual_page(const std::vector<ComponentTool>& tools) {
  std::ostringstream text;
  text << ".\\\" Made by `slipway completion man`.\n.TH SLIPWAY 1 \"\" \"slipway " << SLIPWAY_VERSION
       << "\" \"User Commands\"\n"
       << kHead;
  for (const Call& call : all_calls()) {
    text << ".TP\n.B " << troff_plain(call.command->usage) << '\n' << troff_plain(call.command->purpose);
    text << options_line(options_of(*call.command)) << '\n';
  }
  text << ".TP\n.IR \"NAME TOOL\" \" ...\"\n"
       << troff_plain("a component's own tool, for example `slipway driver build`") << "\n.SH OPTIONS\n";
  for (const CommandOption& option : all_options()) text << option_entry(option, "");
  for (const Call& call : all_calls())
    for (const CommandOption& option : call.command->own_options) text << option_entry(option, call.words + ": ");
  if (!tools.empty()) text << ".SH TOOLS OF COMPONENTS\n";
  for (const ComponentTool& tool : tools) {
    text << ".TP\n.B " << troff_plain(tool.component + " " + tool.name) << '\n' << troff_plain(tool.purpose);
    text << options_line(tool.options) << '\n';
  }
  text << kTail << ".SH EXAMPLES\n";
  for (const Call& call : all_calls())
    for (const std::string& example : call.command->examples) text << ".TP\n.B " << troff_plain(example) << '\n';
  text << kSeeAlso;
  return text.str();
}

}  // namespace slipway::cli
