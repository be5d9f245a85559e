// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

/// Commands and options listed by `slipway --help`.
struct Help {
  std::vector<std::string> commands;
  std::vector<std::string> options;
};

Help read_help(const ScratchHost& host) {
  Help help;
  std::istringstream lines(host.slipway({"--help"}).out);
  const std::regex command("^  ([a-z]+) .*");
  const std::regex option("^ .*(--[a-z-]+) .*");
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, command)) help.commands.push_back(found[1]);
    if (std::regex_match(line, found, option)) help.options.push_back(found[1]);
  }
  return help;
}

/// Runs a shell with the completion script at "$1".
Ran shell(const ScratchHost& host, const std::string& shell, const std::string& text) {
  ScratchHost other;
  other.program = "/bin/sh";
  other.folder().file("script", host.slipway({"completion", shell}).out);
  return other.slipway({"-c", text, "sh", other.folder().at("script").string()});
}

/// Empty when there is no completion.
std::string completed(const ScratchHost& host, const std::string& words, int at) {
  const Ran ran =
      shell(host, "bash",
            "exec bash -c 'set -eu; source \"$1\"; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                "; _slipway; ((${#COMPREPLY[@]} == 0)) || printf \"%s\\n\" \"${COMPREPLY[@]}\"' bash \"$1\"");
  EXPECT_EQ(ran.code, 0) << ran.err;
  return ran.out;
}

TEST(Reference, HasEveryCommandAndOptionOfTheHelp) {
  const ScratchHost host;
  const Help help = read_help(host);
  ASSERT_GT(help.commands.size(), 15U);
  ASSERT_GT(help.options.size(), 15U);
  const std::string page = host.slipway({"completion", "man"}).out;
  const std::string bash = host.slipway({"completion", "bash"}).out;
  const std::string zsh = host.slipway({"completion", "zsh"}).out;
  const std::string fish = host.slipway({"completion", "fish"}).out;
  for (const std::string& command : help.commands) {
    EXPECT_THAT(page, HasSubstr("\n.B " + command));
    EXPECT_TRUE(std::regex_search(bash, std::regex("_slipway_words ['\"][a-z ]*\\b" + command + "\\b"))) << command;
    EXPECT_THAT(zsh, HasSubstr("'" + command + ":"));
    EXPECT_THAT(fish, HasSubstr("-a " + command + " "));
  }
  for (const std::string& option : help.options) {
    EXPECT_THAT(page, HasSubstr(std::regex_replace(option, std::regex("-"), "\\-")));
    EXPECT_THAT(bash, ::testing::AnyOf(HasSubstr(" " + option), HasSubstr("'" + option)));
    EXPECT_THAT(zsh, HasSubstr(option + "["));
    EXPECT_THAT(fish, HasSubstr(" -l " + option.substr(2) + " "));
  }
}

TEST(Reference, ForBashCompletesCommandsOptionsAndTheirWords) {
  const ScratchHost host;
  EXPECT_EQ(completed(host, "slipway pl", 1), "plan\nplugin\n");
  EXPECT_EQ(completed(host, "slipway plugin ch", 2), "check\n");
  EXPECT_EQ(completed(host, "slipway plan --lock", 2), "--lock\n--locked\n");
  EXPECT_EQ(completed(host, "slipway plan -o json", 3), "json\njsonl\n");
  EXPECT_THAT(completed(host, "slipway plan --root /us", 3), HasSubstr("/usr\n"));
  EXPECT_EQ(completed(host, "slipway help pl", 2), "plan\nplugin\n");
}

// Before the fix, every command was offered the options of all commands.
TEST(Reference, ForBashCompletesTheOptionsOfACommandOrVerb) {
  const ScratchHost host;
  EXPECT_EQ(completed(host, "slipway version --", 2), "--output\n--verbose\n--help\n");
  EXPECT_EQ(completed(host, "slipway log --", 2), "--root\n--output\n--verbose\n--help\n");
  EXPECT_EQ(completed(host, "slipway plugin new acme --t", 4), "--to\n");
  EXPECT_EQ(completed(host, "slipway plugin list --t", 3), "");
  EXPECT_EQ(completed(host, "slipway version \"\"", 2), "") << "nothing follows it";
}

// Before the fix, compgen -W executed the text of a folder's name.
TEST(Reference, ForBashRunsNoCommandInsideAName) {
  const ScratchHost host;
  const Ran ran = shell(host, "bash",
                        "exec bash -c 'set -eu; source \"$1\"; word=; COMPREPLY=(); "
                        "_slipway_words \"\\$(touch $1.ran) plain \\`id\\` *\"; printf \"%s\\n\" \"${COMPREPLY[@]}\"; "
                        "test ! -e \"$1.ran\"' bash \"$1\"");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("plain\n"));
  EXPECT_THAT(ran.out, HasSubstr("\\`id\\`\n"));
}

// A plugin that is added appears in the completions at once, and a removed one disappears.
TEST(Reference, ForBashCompletesTheComponentsOfInstalledPlugins) {
  const ScratchHost host;
  const std::string slipway = host.program + " ";
  EXPECT_EQ(completed(host, slipway + "explain dr", 2), "driver\n");
  EXPECT_EQ(completed(host, slipway + "verify cdi g", 3), "gfd\n");
  EXPECT_EQ(completed(host, slipway + "service v", 2), "validator\n");
  EXPECT_EQ(completed(host, slipway + "service dr", 2), "") << "it has no service";
  EXPECT_EQ(completed(host, slipway + "gf", 1), "gfd\n") << "a component with tools";
  EXPECT_EQ(completed(host, slipway + "valid", 1), "") << "one without";
  EXPECT_EQ(completed(host, slipway + "plan --only dr", 3), "driver\n");
  EXPECT_EQ(completed(host, slipway + "plan --only cdi,driver,de", 3), "cdi,driver,deviceplugin\n");
}

TEST(Reference, ForBashCompletesTheToolsOfAComponentAndTheirOptions) {
  const ScratchHost host;
  const std::string slipway = host.program + " ";
  EXPECT_EQ(completed(host, slipway + "cdi \"\"", 2), "generate\nlist\ntransform\nvalidate\n");
  EXPECT_EQ(completed(host, slipway + "driver ke", 2), "kernels\n");
  EXPECT_EQ(completed(host, slipway + "driver build --sign", 3), "--sign-key\n--sign-cert\n");
  EXPECT_EQ(completed(host, slipway + "runtime configure --cdi", 3), "--cdi.enabled\n");
  EXPECT_EQ(completed(host, slipway + "gfd labels --h", 3), "--help\n");
  EXPECT_EQ(completed(host, slipway + "gfd labels --si", 3), "--sim\n");
  EXPECT_EQ(completed(host, slipway + "gfd labels --mig-strategy mi", 4), "mixed\n");
  EXPECT_EQ(completed(host, slipway + "toolki", 1), "toolkit\n");
  EXPECT_EQ(completed(host, slipway + "toolkit \"\"", 2), "cdi\nruntime\n");
  EXPECT_EQ(completed(host, slipway + "toolkit cdi g", 3), "generate\n");
  EXPECT_EQ(completed(host, slipway + "toolkit cdi generate --mode nv", 5), "nvml\nnvswitch\n");
}

TEST(Reference, ForBashCompletesProfilesOfSimulatedMachines) {
  const ScratchHost host;
  const std::string slipway = host.program + " ";
  EXPECT_EQ(completed(host, slipway + "plan --sim l40", 3), "l40sx4\n");
  EXPECT_EQ(completed(host, slipway + "gfd labels --sim l40", 4), "l40sx4\n") << "of a tool";
}

TEST(Reference, ForBashCompletesTheGenerationsOfTheRoot) {
  const ScratchHost host;
  host.spec("    gfd: {interval: \"30s\"}\n");
  ASSERT_EQ(host.slipway({"apply", "--sim", "h100x8", "--yes"}).code, 0) << host.error_text();
  host.spec("    gfd: {interval: \"40s\"}\n");
  ASSERT_EQ(host.slipway({"apply", "--sim", "h100x8", "--yes"}).code, 0) << host.error_text();
  const std::string slipway = host.program + " ";
  const std::string root = " --root " + host.folder().at("root").string();
  EXPECT_EQ(completed(host, slipway + "rollback" + root + " \"\"", 4), "1\n2\n");
  EXPECT_EQ(completed(host, slipway + "diff" + root + " 1 2", 5), "2\n");
}

TEST(ManualPage, HasTheToolsOfTheComponents) {
  const ScratchHost host;
  const std::string page = host.slipway({"completion", "man"}).out;
  for (const char* tool : {"cdi generate", "deviceplugin status", "driver build", "gfd labels", "runtime configure"})
    EXPECT_THAT(page, HasSubstr(std::string("\n.B ") + tool + "\n"));
  EXPECT_THAT(page, HasSubstr("\\-\\-sign\\-key FILE"));
  EXPECT_THAT(page, HasSubstr("may be repeated"));
  for (const char* variable : {"SLIPWAY_NVML", "SLIPWAY_COLUMNS"}) EXPECT_THAT(page, HasSubstr(variable));
  EXPECT_THAT(page, HasSubstr("plugin new: a folder"));
}

TEST(Reference, IsAcceptedByTheInstalledShells) {
  const ScratchHost host;
  for (const std::string name : {"bash", "zsh", "fish"}) {
    const Ran ran = shell(host, name, "command -v " + name + " >/dev/null || exit 0; exec " + name + " -n \"$1\"");
    EXPECT_EQ(ran.code, 0) << name << ": " << ran.err;
  }
}

TEST(Reference, OfAnUnknownShellIsRefused) {
  const ScratchHost host;
  const Ran ran = host.slipway({"completion", "tcsh"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_THAT(ran.err, HasSubstr("bash, zsh, fish and man"));
}

TEST(ManualPage, HasNoAccidentalTroffRequests) {
  const ScratchHost host;
  std::istringstream lines(host.slipway({"completion", "man"}).out);
  const std::regex request(R"(^\.(\\"|TH|SH|TP|BR|B|RI|IR|I)( .*)?$)");
  for (std::string line; std::getline(lines, line);) {
    const bool is_request = line.starts_with('.') || line.starts_with('\'');
    EXPECT_TRUE(!is_request || std::regex_match(line, request)) << line;
    EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << line;
  }
}

}  // namespace
}  // namespace slipway
