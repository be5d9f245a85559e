// SPDX-License-Identifier: Apache-2.0
#include "base/log/log.hpp"

#include <array>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/stat.h>

#include "journal_socket.hpp"

namespace slipway::base {
namespace {

using slipway::testing::fields_of;
using slipway::testing::JournalSocket;
using slipway::testing::TempDir;
using ::testing::MatchesRegex;

/// Replaces standard error by another descriptor during its lifetime.
class StandardErrorIs {
 public:
  explicit StandardErrorIs(int descriptor) : before_(::dup(STDERR_FILENO)) { ::dup2(descriptor, STDERR_FILENO); }
  StandardErrorIs(const StandardErrorIs&) = delete;
  StandardErrorIs& operator=(const StandardErrorIs&) = delete;
  ~StandardErrorIs() { ::dup2(before_.get(), STDERR_FILENO); }
  /// Returns the form that systemd writes into JOURNAL_STREAM.
  static std::string stream() {
    struct stat info {};
    ::fstat(STDERR_FILENO, &info);
    return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  }

 private:
  Fd before_;
};

LogEvent of_mig(LogLevel level, std::string message) { return {level, "mig", "plan", 7, std::move(message), {}, {}}; }

class LogTest : public ::testing::Test {
 protected:
  /// Returns the log with these settings, written to a file as standard error.
  std::string written(const LogSettings& settings, const LogPlace& place, const std::vector<LogEvent>& events) const {
    const std::string path = folder_.at("err").string();
    {
      const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      const StandardErrorIs standard_error(file.get());
      Log log(settings, place);
      for (const LogEvent& each : events) log.write(each);
    }
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  /// Returns the log as written to a terminal.
  static std::string drawn(const LogEvent& shown) {
    int master = -1;
    int slave = -1;
    EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    const Fd terminal(master);
    const Fd end(slave);
    {
      const StandardErrorIs standard_error(slave);
      Log({LogFormat::text, LogLevel::debug}, {.journal_stream = nullptr}).write(shown);
    }
    // A terminal delivers the text piece by piece; the line's end comes last.
    std::string text;
    std::array<char, 1024> piece{};
    while (!text.ends_with('\n')) {
      const ssize_t got = ::read(master, piece.data(), piece.size());
      if (got <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  TempDir folder_;
};

TEST_F(LogTest, SkipsEventsBelowItsLevel) {
  const std::vector<LogEvent> all{of_mig(LogLevel::debug, "a"), of_mig(LogLevel::info, "b"),
                                  of_mig(LogLevel::warning, "c"), of_mig(LogLevel::error, "d")};
  const LogPlace place{.journal_stream = nullptr};
  EXPECT_EQ(written({LogFormat::text, LogLevel::error}, place, all), "mig: error: d\n");
  EXPECT_EQ(written({LogFormat::text, LogLevel::warning}, place, all), "mig: warning: c\nmig: error: d\n");
  EXPECT_EQ(written({}, place, all), "mig: b\nmig: warning: c\nmig: error: d\n");
  EXPECT_EQ(written({LogFormat::text, LogLevel::debug}, place, all),
            "mig: a\nmig: b\nmig: warning: c\nmig: error: d\n");
}

TEST_F(LogTest, WritesALineOfJsonForAnEvent) {
  const std::string text = written({LogFormat::json, LogLevel::info}, {.journal_stream = nullptr},
                                   {of_mig(LogLevel::info, "one\ntwo"), of_mig(LogLevel::warning, "three")});
  std::istringstream lines(text);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const Json first = Json::parse(line);
  EXPECT_EQ(first["message"], "one\ntwo");
  EXPECT_THAT(first["time"].get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\....Z"));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(Json::parse(line)["level"], "warning");
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(LogTest, WrapsOnlyLinesForUsers) {
  const LogPlace place{.journal_stream = nullptr, .fit = [](const std::string& text) { return "[" + text + "]"; }};
  EXPECT_EQ(written({}, place, {of_mig(LogLevel::info, "x")}), "[mig: x]\n");
  EXPECT_TRUE(written({LogFormat::json, LogLevel::info}, place, {of_mig(LogLevel::info, "x")}).starts_with("{"));
}

TEST_F(LogTest, HasColourOnlyOnATerminal) {
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(drawn(of_mig(LogLevel::warning, "busy")), "mig: \x1b[33m\x1b[1mwarning:\x1b[m busy\r\n");
  EXPECT_EQ(drawn(of_mig(LogLevel::info, "load")), "mig: load\r\n");
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(drawn(of_mig(LogLevel::warning, "busy")), "mig: warning: busy\r\n");
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(written({}, {.journal_stream = nullptr}, {of_mig(LogLevel::warning, "busy")}), "mig: warning: busy\n");
}

/// The inner function's standard error is the one that JOURNAL_STREAM names.
class JournaledLogTest : public LogTest {
 protected:
  std::string written_under_systemd(LogFormat format, const std::string& socket, const LogEvent& shown) const {
    const std::string path = folder_.at("stream").string();
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    {
      const StandardErrorIs standard_error(file.get());
      const std::string stream = StandardErrorIs::stream();
      Log({format, LogLevel::info}, {.journal_socket = socket, .journal_stream = stream.c_str()}).write(shown);
    }
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(JournaledLogTest, WritesEntriesWithFieldsAndNothingToStandardError) {
  const JournalSocket socket;
  EXPECT_EQ(written_under_systemd(LogFormat::text, socket.path(), of_mig(LogLevel::warning, "busy")), "");
  const auto fields = fields_of(socket.entry());
  EXPECT_EQ(fields.at("MESSAGE"), "mig: busy");
  EXPECT_EQ(fields.at("PRIORITY"), "4");
  EXPECT_EQ(fields.at("SLIPWAY_COMPONENT"), "mig");
  EXPECT_EQ(fields.at("SLIPWAY_PHASE"), "plan");
  EXPECT_EQ(fields.at("SLIPWAY_GENERATION"), "7");
}

TEST_F(JournaledLogTest, WritesLinesWithTheirPriorityWithoutAJournal) {
  EXPECT_EQ(written_under_systemd(LogFormat::text, folder_.at("nobody").string(), of_mig(LogLevel::warning, "a\nb")),
            "<4>mig: a\\nb\n");
}

TEST_F(JournaledLogTest, WritesJsonWhereThatWasRequested) {
  const JournalSocket socket;
  const std::string text = written_under_systemd(LogFormat::json, socket.path(), of_mig(LogLevel::info, "x"));
  EXPECT_EQ(Json::parse(text)["message"], "x");
  EXPECT_EQ(socket.entry(), "");
}

}  // namespace
}  // namespace slipway::base
