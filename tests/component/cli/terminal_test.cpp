// SPDX-License-Identifier: Apache-2.0
// Progress where standard error is a terminal.
#include <pty.h>
#include <sys/ioctl.h>

#include <slipway/fd.hpp>
#include <slipway/text.hpp>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the output of the teller plugin's tool on a terminal.
std::string on_terminal(unsigned short columns, std::vector<std::string> variables) {
  int master = -1;
  int slave = -1;
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
  const Fd terminal(master);
  std::array<char, 64> name{};
  EXPECT_EQ(::ttyname_r(slave, name.data(), name.size()), 0);
  const testing::TempDir folder;
  variables.insert(variables.end(), {"SLIPWAY_PLUGIN_PATH=" SLIPWAY_TEST_TELLER, "SLIPWAY_LOG_DIR=" + folder.string(),
                                     "SLIPWAY_COLUMNS="});
  const pid_t child = testing::spawn({.words = {SLIPWAY_PROGRAM, "teller", "work"},
                                      .variables = std::move(variables),
                                      .out = folder.at("out").string(),
                                      .err = name.data()});
  ::close(slave);  // so that reading ends with the program
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = ::read(master, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << text;
  return text;
}

const std::vector<std::string> kTerminal{"TERM=xterm", "NO_COLOR="};
constexpr const char* kClear = "\r\x1b[K";

/// Returns its lines without control codes, including overwritten ones.
std::vector<std::string> lines_drawn(std::string text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' || text[i] == '\n')
      lines.emplace_back();
    else if (text[i] == '\x1b')
      i = text.find_first_of("mK", i);
    else
      lines.back() += text[i];
  }
  return lines;
}

TEST(ProgressOnATerminal, IsALineBelowTheLog) {
  const std::string text = on_terminal(100, kTerminal);
  EXPECT_THAT(text, HasSubstr("teller: unpack a layer with a name for which no te... ["));
  EXPECT_THAT(text, HasSubstr("[........................] 0.0 of 300.0 MiB"));
  EXPECT_THAT(text, HasSubstr(std::string(kClear) + "teller: "));
  EXPECT_THAT(text, HasSubstr("[################........] 200.0 of 300.0 MiB"));
  EXPECT_THAT(text, HasSubstr(std::string(kClear) +
                              "teller: unpacked a layer with a name for which no terminal has room: 300.0 MiB"));
  EXPECT_THAT(text, HasSubstr("teller: packing  5.0 MiB"));
  EXPECT_TRUE(text.ends_with(kClear)) << "what did not end leaves no line behind";
  const std::size_t warned = text.find("half way");
  ASSERT_NE(warned, std::string::npos);
  EXPECT_THAT(text.substr(text.rfind(kClear, warned), warned - text.rfind(kClear, warned)), Not(HasSubstr("unpack")));
}

TEST(ProgressOnATerminal, IsNeverWiderThanTheTerminal) {
  for (const unsigned short columns : std::initializer_list<unsigned short>{40, 60, 80, 132})
    for (const std::string& line : lines_drawn(on_terminal(columns, kTerminal)))
      EXPECT_LE(width_of(line), columns) << line;
}

TEST(ProgressOnATerminal, HasNoColourWithNoColorSet) {
  EXPECT_THAT(on_terminal(80, kTerminal), HasSubstr("m"));
  const std::string text = on_terminal(80, {"TERM=xterm", "NO_COLOR=1"});
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b', at + 1))
    EXPECT_EQ(text.substr(at, 3), "\x1b[K");
  EXPECT_THAT(text, HasSubstr("of 300.0 MiB"));
}

// Before the fix, a bar was drawn there with codes that such a terminal prints as text.
TEST(ProgressOnATerminal, IsALogLineOnADumbTerminal) {
  for (const std::string& text :
       {on_terminal(80, {"TERM=dumb", "NO_COLOR="}), on_terminal(0, {"TERM=xterm", "NO_COLOR=1"})})
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("MiB")), HasSubstr("teller: packing\r\n")));
}

// Before the fix, the purpose in a plugin's manifest could set the terminal's title, without running the plugin.
TEST(Terminal, GetsNoEscapeSequencesFromAManifest) {
  const testing::ScratchHost host;
  std::ifstream in(std::string(SLIPWAY_TEST_TELLER) + "/teller.so", std::ios::binary);
  std::string plugin{std::istreambuf_iterator<char>(in), {}};
  const std::string before = "purpose: tells how far its work is\n";
  std::string after = "purpose: \"\\e]0;PWN\\a \\u009b7m\"";
  ASSERT_LT(after.size(), before.size());
  after.resize(before.size() - 1, ' ');
  const std::size_t at = plugin.find(before);
  ASSERT_NE(at, std::string::npos) << "the manifest is in the file as it was written";
  plugin.replace(at, after.size(), after);
  host.folder().file("plugins/teller.so", plugin);
  const std::string folder = host.folder().at("plugins").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"explain", "teller"}, {"explain"}, {"plugin", "list"}}) {
    int status = 0;
    ::waitpid(host.start(words, {"SLIPWAY_PLUGIN_PATH=" + folder}), &status, 0);
    const std::string out = host.text("../out");
    EXPECT_THAT(out, HasSubstr("PWN")) << words.front() << host.error_text();
    EXPECT_THAT(out, Not(HasSubstr("\x1b]"))) << words.front();
    EXPECT_THAT(out, Not(HasSubstr("\xc2\x9b"))) << words.front();
  }
}

}  // namespace
}  // namespace slipway
