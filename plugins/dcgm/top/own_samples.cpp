// SPDX-License-Identifier: Apache-2.0
// A child that samples, and prints an overview a line.
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <slipway/fd.hpp>
#include <slipway/process/child_process.hpp>
#include <slipway/process/start_program.hpp>
#include <slipway/text.hpp>

#include "dcgm/top/source.hpp"

namespace slipway::dcgm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOfALine = 4 << 20;
constexpr std::size_t kMostErrors = 4096;
// If this process is killed, the child notices the closed pipe. With --sim the child does not notice it, so it ends
// after this many overviews.
constexpr const char* kMostOverviews = "900";

/// Returns the path of `slipway`: beside this program, or in the prefix that contains it.
std::string slipway_program() {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path own = fs::read_symlink("/proc/self/exe", problem).parent_path();
  for (const char* place : {"slipway", "../../bin/slipway"})
    if (const fs::path path = own / place;
        !own.empty() && ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path))
      return path.lexically_normal().string();
  return "slipway";
}

class OwnSamples final : public OverviewSource {
 public:
  explicit OwnSamples(FeedOptions options) : options_(std::move(options)) {}
  ~OwnSamples() override { stop(); }
  OwnSamples(const OwnSamples&) = delete;
  OwnSamples& operator=(const OwnSamples&) = delete;

  std::string name() const override {
    return options_.sim.empty() ? "own samples" : "own samples of the simulated machine " + options_.sim;
  }

  Result<Overview> read(std::chrono::milliseconds limit) override {
    if (child_.pid < 0) SLIPWAY_CHECK(start());
    const auto end = Clock::now() + limit;
    while (true) {
      if (const auto line = last_line()) return overview_from_json(parse_foreign(*line));
      if (!take(end)) {
        if (!over_) return Error{ErrorCode::timed_out, "there has been no sample yet", {}, {}, {}};
        const Error error = ended();
        stop();
        return error;
      }
    }
  }

 private:
  Status start() {
    SLIPWAY_TRY(output, make_pipe());
    SLIPWAY_TRY(errors, make_pipe());
    ChildProgram program{.argv = {slipway_program(), "dcgm", "overview"},
                         .environment = own_environment(),
                         .descriptors = {kDevNull, output.write.get(), errors.write.get()},
                         .own_session = true};
    if (!options_.once) {
      const std::string interval = std::to_string(options_.interval.count()) + "ms";
      program.argv.insert(program.argv.end(), {"--interval", interval, "--count", kMostOverviews});
    }
    if (!options_.sim.empty()) program.argv.insert(program.argv.end(), {"--sim", options_.sim});
    SLIPWAY_TRY(pid, start_program(program));
    child_ = {.pid = pid, .output = std::move(output.read), .errors = std::move(errors.read), .leads_group = true};
    for (const int fd : {child_.output.get(), child_.errors.get()}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    over_ = false;
    text_.clear();
    errors_.clear();
    return {};
  }

  void stop() {
    if (child_.pid < 0) return;
    ::kill(-child_.pid, SIGTERM);
    if (!child_ended(child_.pid, std::chrono::seconds(2))) {
      ::kill(-child_.pid, SIGKILL);
      child_ended(child_.pid, std::chrono::seconds(2));
    }
    child_ = {};
  }

  /// Returns the last complete line; older lines are dropped.
  std::optional<std::string> last_line() {
    const std::size_t end = text_.rfind('\n');
    if (end == std::string::npos) return std::nullopt;
    const std::size_t before = end == 0 ? std::string::npos : text_.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    std::string line = text_.substr(begin, end - begin);
    text_.erase(0, end + 1);
    return line;
  }

  /// @return false: no data came before the end, or the stream is over
  bool take(Clock::time_point end) {
    std::array<pollfd, 2> fds{{{child_.output.get(), POLLIN, 0}, {child_.errors.get(), POLLIN, 0}}};
    const auto left = time_left(end);
    if (left.count() <= 0 || over_ || ::poll(fds.data(), fds.size(), static_cast<int>(left.count())) <= 0) return false;
    if (fds[1].revents != 0 && errors_.size() < kMostErrors) (void)append(child_.errors.get(), errors_);
    if (fds[0].revents != 0 && !append(child_.output.get(), text_)) {
      over_ = true;
      while (errors_.size() < kMostErrors && append(child_.errors.get(), errors_)) continue;
      return false;
    }
    if (text_.size() > kMostOfALine) text_.clear();
    if (fds[0].revents == 0 && fds[1].revents != 0 && (fds[1].revents & POLLIN) == 0) return quiet_errors();
    return true;
  }

  /// Handles the end of the child's standard error: it is no longer polled.
  bool quiet_errors() {
    child_.errors.reset();
    return true;
  }

  /// @return false at the end of the stream
  static bool append(int fd, std::string& text) {
    std::array<char, 65536> piece{};
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }

  /// Returns the error that the child printed before it ended.
  Error ended() const {
    Error error{ErrorCode::not_found,
                "the program that samples the GPUs has ended",
                {},
                "run `slipway dcgm overview` to see its error",
                {}};
    for (const std::string& line : lines_of(errors_)) {
      if (line.starts_with("error: ")) error.what = line.substr(7);
      const std::string_view rest = trimmed(line);
      if (rest.starts_with("do:")) error.next = trimmed(rest.substr(3));
    }
    return error;
  }

  FeedOptions options_;
  Child child_;
  bool over_ = false;
  std::string text_;
  std::string errors_;
};

}  // namespace

std::unique_ptr<OverviewSource> own_samples(const FeedOptions& options) {
  return std::make_unique<OwnSamples>(options);
}

}  // namespace slipway::dcgm
