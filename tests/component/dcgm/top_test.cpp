// SPDX-License-Identifier: Apache-2.0
// `slipway top`: on a terminal, in a pipe, with and without the service.
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <slipway/fd.hpp>

#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::DcgmNode;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Ran top(std::vector<std::string> words) {
  const ScratchHost host;
  words.insert(words.begin(), "top");
  return host.bare(std::move(words));
}

TEST(Top, PrintsOnceIntoAPipe) {
  const Ran ran = top({"--sim", "h100x8"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("8 x NVIDIA H100 80GB HBM3"), HasSubstr("GPU UTILIZATION"), HasSubstr("700W"),
                             HasSubstr("  ok"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(top({"--once", "--sim", "l4x1"}).code, 0);
}

TEST(Top, IsTheToolOfItsComponentAsWell) {
  const ScratchHost host;
  const Ran ran = host.bare({"dcgm", "top", "--once", "--sim", "l4x1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 x NVIDIA L4"));
  EXPECT_THAT(host.bare({"help", "top"}).out, HasSubstr("Usage: slipway top [options]"));
  EXPECT_THAT(host.bare({"completion", "names", "tools"}).out, HasSubstr("\ntop\n"));
  EXPECT_THAT(host.bare({"completion", "names", "options", "--", "top"}).out, HasSubstr("--interval\n"));
  EXPECT_THAT(host.bare({"completion", "names", "values", "--", "top", "-o"}).out, HasSubstr("json\n"));
  EXPECT_THAT(host.bare({"topp"}).err, HasSubstr("did you mean `slipway top`?"));
}

// Before the fix, completion offered options for plugins' tools, which this program rejects.
TEST(Top, CompletesItsOptions) {
  const ScratchHost host;
  const Ran ran = host.slipway({"completion", "names", "options", "--", "top"});
  EXPECT_THAT(ran.out, HasSubstr("--once\n"));
  for (const char* other : {"--log-format", "--verbose", "-v"}) EXPECT_THAT(ran.out, Not(HasSubstr(other)));
}

TEST(Top, PrintsJsonForPrograms) {
  const Ran ran = top({"-o", "json", "--sim", "h100x2,mig=1g.10gb"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(json["kind"], "GpuOverview");
  EXPECT_EQ(json["gpus"][1]["values"]["mig"]["instances"].size(), 7U);
}

TEST(Top, RefusesInvalidInput) {
  EXPECT_EQ(top({"--once", "--interval", "1s"}).code, 64);
  EXPECT_EQ(top({"--interval", "1s", "--sim", "l4x1"}).code, 64) << "a pipe gets one";
  EXPECT_EQ(top({"--nothing"}).code, 64);
  const Ran none = top({"--sim", "h100x8,driver=none"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("the GPUs cannot be read"), HasSubstr("do: ")));
  EXPECT_EQ(none.out, "");
  const Ran nobody = top({"--service", "127.0.0.1:" + std::to_string(slipway::testing::free_port())});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, AllOf(HasSubstr("does not answer: Connection refused"), HasSubstr("--direct")));
}

using TopOfAService = DcgmNode;

TEST_F(TopOfAService, ShowsTheValuesOfTheService) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Ran ran = top({"--service", "127.0.0.1:" + std::to_string(port_)});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("node-1  "), HasSubstr("from the service at 127.0.0.1:")));
}

TEST_F(TopOfAService, FindsTheServiceOfARoot) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  host_.put("etc/slipway/services/dcgm.json", R"({"spec": {"listen": "127.0.0.1:)" + std::to_string(port_) + R"("}})");
  const std::string root = host_.path("").string();
  const Ran ran = top({"--root", root});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("node-1  "), HasSubstr("from the service at 127.0.0.1:")));
  EXPECT_EQ(top({"--root", root, "--direct"}).code, 64);
  EXPECT_EQ(top({"--root", root, "--sim", "l4x1"}).code, 64);
}

// Before the fix, the GPU behind it got its number, and after a restart of the service no command reported the missing
// one.
TEST_F(TopOfAService, NamesAGpuThatTheDriverNoLongerShows) {
  const auto shown = [&] { return top({"--service", "127.0.0.1:" + std::to_string(port_)}).out; };
  {
    RunningService service(host_, service_words());
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    ASSERT_TRUE(has_gpus(8));
    sim("gpu 3 remove");
    ASSERT_TRUE(slipway::testing::eventually([&] {
      return shown().find("the GPU at 0000:5d:00.0") != std::string::npos;
    })) << shown();
    const std::string text = shown();
    EXPECT_THAT(text, HasSubstr("; 1 is bad"));
    EXPECT_EQ(text.find("\n  3 "), text.rfind("\n  3 ")) << "the row of the GPU that has its number now";
    EXPECT_NE(text.find("\n  3 "), std::string::npos) << text;
    EXPECT_NE(text.find("\n  - "), std::string::npos) << text;
  }
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(slipway::testing::eventually([&] {
    return shown().find("bad: the GPU at 0000:5d:00.0 is on the PCI bus") != std::string::npos;
  })) << shown();
}

TEST_F(TopOfAService, SaysOnceWhyALostGpuCannotBeReadAndWhatToDo) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(8));
  sim("gpu 3 xid 79");
  sim("gpu 3 lost");
  const auto shown = [&] { return top({"--service", "127.0.0.1:" + std::to_string(port_)}).out; };
  ASSERT_TRUE(slipway::testing::eventually([&] { return shown().find("XID 79") != std::string::npos; })) << shown();
  ASSERT_TRUE(slipway::testing::eventually([&] { return shown().find("no values") != std::string::npos; })) << shown();
  EXPECT_THAT(shown(),
              AllOf(HasSubstr("(seen at "), Not(HasSubstr("cannot be read")), Not(HasSubstr("slipway doctor"))));
}

// Before the fix, `slipway top` said that slipway's own service was not slipway's.
TEST_F(TopOfAService, SaysThatTheServiceAsksForTls) {
  const std::string folder = host_.path("etc").string();
  std::filesystem::create_directories(folder);
  ASSERT_EQ(
      std::system(("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=a -keyout " +
                   folder + "/key.pem -out " + folder + "/cert.pem 2>/dev/null")
                      .c_str()),
      0);
  host_.put("etc/web.yaml", "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n");
  spec(", web_config_file: /etc/web.yaml");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Ran ran = top({"--service", "127.0.0.1:" + std::to_string(port_)});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("require TLS"), Not(HasSubstr("is not slipway's"))));
}

/// Runs `slipway top` on its own terminal.
class OnATerminal {
 public:
  explicit OnATerminal(std::vector<std::string> words,
                       std::vector<std::string> variables = {"TERM=xterm", "NO_COLOR="}) {
    int master = -1;
    const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::openpty(&master, &slave_, nullptr, nullptr, &size), 0);
    master_ = Fd(master);
    std::array<char, 64> name{};
    EXPECT_EQ(::ttyname_r(slave_, name.data(), name.size()), 0);
    ::tcgetattr(slave_, &before_);
    words.insert(words.begin(), {SLIPWAY_PROGRAM, "top"});
    variables.insert(variables.end(),
                     {"SLIPWAY_PLUGIN_PATH=" SLIPWAY_TEST_PLUGINS, "LC_ALL=C", "SLIPWAY_LOG_DIR=" + folder_.string()});
    child_ = testing::spawn({.words = std::move(words),
                             .variables = std::move(variables),
                             .in = name.data(),
                             .out = name.data(),
                             .err = folder_.at("err").string()});
  }
  ~OnATerminal() {
    if (child_ > 0) end();
    ::close(slave_);
  }
  OnATerminal(const OnATerminal&) = delete;
  OnATerminal& operator=(const OnATerminal&) = delete;

  /// Reads until the text appears in new output.
  bool shows(const std::string& text) {
    for (const auto end = testing::Clock::now() + std::chrono::seconds(20); testing::Clock::now() < end;) {
      if (const std::size_t found = text_.find(text, seen_); found != std::string::npos) {
        seen_ = found + text.size();
        return true;
      }
      read_more();
    }
    return false;
  }
  void type(char key) const { EXPECT_EQ(::write(master_.get(), &key, 1), 1); }
  void signal(int number) const { ::kill(child_, number); }
  void resize(unsigned short columns, unsigned short rows) const {
    const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(master_.get(), TIOCSWINSZ, &size);
    ::kill(child_, SIGWINCH);  // as the kernel does for the terminal's process group
  }
  /// Waits for its end. @return exit status, as in a shell
  int exit_code() {
    int status = -1;
    for (const auto end = testing::Clock::now() + std::chrono::seconds(20);
         ::waitpid(child_, &status, WNOHANG) == 0 && testing::Clock::now() < end;)
      read_more();
    child_ = -1;
    read_more();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool is_as_before() const {
    termios now{};
    ::tcgetattr(slave_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag;
  }
  bool reads_keys() const {
    termios now{};
    ::tcgetattr(slave_, &now);
    return (now.c_lflag & (ICANON | ECHO)) == 0;
  }
  const std::string& text() const { return text_; }

 private:
  void read_more() {
    pollfd one{master_.get(), POLLIN, 0};
    if (::poll(&one, 1, 20) <= 0) return;
    std::array<char, 65536> piece{};
    if (const ssize_t got = ::read(master_.get(), piece.data(), piece.size()); got > 0)
      text_.append(piece.data(), static_cast<std::size_t>(got));
  }
  void end() const {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  const testing::TempDir folder_;
  Fd master_;
  int slave_ = -1;
  termios before_{};
  pid_t child_ = -1;
  std::string text_;
  std::size_t seen_ = 0;
};

constexpr const char* kOtherScreen = "\x1b[?1049h";
constexpr const char* kFirstScreen = "\x1b[?25h\x1b[?1049l";

TEST(TopOnATerminal, DrawsAgainAndAgainUntilQ) {
  OnATerminal terminal({"--sim", "h100x8", "--interval", "200ms"});
  EXPECT_TRUE(terminal.shows(kOtherScreen));
  EXPECT_TRUE(terminal.shows("8 x NVIDIA H100")) << terminal.text();
  EXPECT_TRUE(terminal.reads_keys());
  EXPECT_TRUE(terminal.shows("\x1b[H")) << "it is drawn once more";
  EXPECT_TRUE(terminal.shows("8 x NVIDIA H100"));
  terminal.type('x');
  terminal.type('q');
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.text().ends_with(kFirstScreen));
  EXPECT_TRUE(terminal.is_as_before());
}

TEST(TopOnATerminal, GivesTheTerminalBackWhenASignalEndsIt) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    OnATerminal terminal({"--sim", "l4x1"});
    ASSERT_TRUE(terminal.shows("GPU UTILIZATION")) << terminal.text();
    terminal.signal(number);
    EXPECT_EQ(terminal.exit_code(), 128 + number);
    EXPECT_TRUE(terminal.text().ends_with(kFirstScreen)) << number;
    EXPECT_TRUE(terminal.is_as_before()) << number;
  }
}

TEST(TopOnATerminal, EndsOnCtrlCAlsoBeforeTheFirstSample) {
  OnATerminal terminal({"--sim", "h100x8"});
  ASSERT_TRUE(terminal.shows(kOtherScreen));
  terminal.signal(SIGINT);
  EXPECT_EQ(terminal.exit_code(), 130);
  EXPECT_TRUE(terminal.is_as_before());
}

TEST(TopOnATerminal, FollowsItsSize) {
  OnATerminal terminal({"--sim", "h100x8", "--interval", "1h"});
  ASSERT_TRUE(terminal.shows("GPU UTILIZATION"));
  EXPECT_THAT(terminal.text(), Not(HasSubstr("LAST 10 MIN")));
  terminal.resize(140, 30);
  EXPECT_TRUE(terminal.shows("LAST 10 MIN"));
  terminal.resize(60, 6);
  EXPECT_TRUE(terminal.shows("more lines"));
  terminal.type('q');
  EXPECT_EQ(terminal.exit_code(), 0);
}

TEST(TopOnATerminal, HasNoColourWithNoColorSet) {
  for (const bool colour : {true, false}) {
    OnATerminal terminal({"--sim", "l4x1"}, {"TERM=xterm", colour ? "NO_COLOR=" : "NO_COLOR=1"});
    ASSERT_TRUE(terminal.shows("GPU UTILIZATION"));
    terminal.type('q');
    EXPECT_EQ(terminal.exit_code(), 0);
    EXPECT_EQ(terminal.text().find("\x1b[32m") != std::string::npos, colour);
  }
}

TEST(TopOnATerminal, PrintsOnceOnADumbTerminal) {
  for (const std::vector<std::string>& variables :
       {std::vector<std::string>{"TERM=dumb", "NO_COLOR="}, std::vector<std::string>{"TERM=", "NO_COLOR=1"}}) {
    OnATerminal terminal({"--sim", "l4x1"}, variables);
    EXPECT_EQ(terminal.exit_code(), 0);
    EXPECT_THAT(terminal.text(), AllOf(HasSubstr("1 x NVIDIA L4"), Not(HasSubstr("\x1b"))));
    EXPECT_TRUE(terminal.is_as_before());
  }
}

TEST(TopOnATerminal, ReportsErrorsAndContinues) {
  OnATerminal terminal({"--sim", "h100x8,driver=none"});
  EXPECT_TRUE(terminal.shows("the GPUs cannot be read")) << terminal.text();
  terminal.type('q');
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_as_before());
}

}  // namespace
}  // namespace slipway
