// SPDX-License-Identifier: Apache-2.0
// slipway-top [OPTIONS]: `slipway top`, a program of its own, since it needs the terminal for itself.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <slipway/text/display.hpp>

#include "base/command_line/read_words.hpp"
#include "base/log/lines.hpp"
#include "base/write/standard_output.hpp"
#include "dcgm/top/line.hpp"
#include "dcgm/top/screen.hpp"
#include "dcgm/top/terminal.hpp"

namespace slipway::dcgm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kError = 1;
constexpr int kUsage = 64;
constexpr int kOfASignal = 128;
constexpr std::chrono::milliseconds kInterval{2000};
constexpr std::chrono::milliseconds kFirst{30000};  // NVML may take seconds to initialize a GPU
constexpr std::chrono::milliseconds kNext{50};      // later data appears in the next frame
constexpr std::chrono::milliseconds kAnswer{1000};  // for the service's answer
constexpr std::chrono::milliseconds kRetry{3000};

/// Supplies the overviews: from the service while it answers, unless another source was requested.
class Sources {
 public:
  Sources(const TopOptions& options, bool once)
      : options_(options), feed_{.interval = options.interval.value_or(kInterval), .sim = options.sim, .once = once} {
    if (options.service) {
      source_ = service_at(options.service->address, options.service->port);
      return;
    }
    const auto place = options.direct || !options.sim.empty() ? std::nullopt : service_place(options.root);
    may_change_ = place.has_value();
    source_ = place ? service_at(place->address, place->port) : own_samples(feed_);
  }

  Result<Overview> read(std::chrono::milliseconds limit) {
    auto overview = source_->read(asks_service() ? kAnswer : limit);
    if (overview || !may_change_) return overview;
    why_ = overview.error().what;
    source_ = own_samples(feed_);
    may_change_ = false;
    return source_->read(limit);
  }
  bool asks_service() const { return options_.service || may_change_; }
  std::string name() const { return source_->name() + (why_.empty() ? "" : ", since " + why_); }

 private:
  const TopOptions& options_;
  FeedOptions feed_;
  std::unique_ptr<OverviewSource> source_;
  bool may_change_ = false;
  std::string why_;  ///< why the service is not asked
};

ScreenLook screen_look(bool live) {
  ScreenLook look{.columns = 100, .rows = 0, .utf8 = locale_is_utf8(), .colour = shows_colour(STDOUT_FILENO)};
  const auto size = terminal_size();
  if (size) look.columns = size->columns;
  if (live && size) look.rows = size->rows;
  return look;
}

Result<int> print_once(const TopOptions& options) {
  Sources sources(options, true);
  SLIPWAY_TRY(overview, sources.read(kFirst));
  if (options.json) {
    base::write_standard_output(terminal_safe(pretty(to_json(overview))));
    return 0;
  }
  std::string text;
  for (const std::string& line : screen_lines(overview, screen_look(false), sources.name())) text += line + "\n";
  base::write_standard_output(text);
  return 0;
}

/// Returns the lines that are drawn while there is no overview. @param error  null: no source has answered yet
std::vector<std::string> message(const Error* error, const ScreenLook& look) {
  Overview nothing;
  nothing.node = "slipway top";
  nothing.time = std::chrono::system_clock::now();
  if (error == nullptr) return screen_lines(nothing, look, "the first sample is being taken; q quits");
  nothing.problem = error->what + (error->next.empty() ? "" : " (do: " + error->next + ")");
  return screen_lines(nothing, look, "q quits");
}

Result<int> show_live(const TopOptions& options) {
  Sources sources(options, false);
  const auto interval = options.interval.value_or(kInterval);
  std::optional<Overview> last;
  std::optional<Error> problem;
  Terminal terminal;
  const auto draw = [&] {
    if (!last) return terminal.draw(message(problem ? &*problem : nullptr, screen_look(true)));
    terminal.draw(screen_lines(*last, screen_look(true), sources.name() + "; q quits"));
  };
  draw();
  Clock::time_point next = Clock::now();
  while (base::standard_output_status()) {
    if (Clock::now() >= next) {
      auto overview = sources.read(kNext);
      const bool waits = !overview && overview.error().code == ErrorCode::timed_out;
      if (overview) {
        last = *overview;
      } else if (!waits) {
        last.reset();
        problem = overview.error();
      }
      next = Clock::now() + (waits ? kNext * 2 : last ? interval : kRetry);
      draw();
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    const Terminal::Event event = terminal.wait(std::max(left, std::chrono::milliseconds(0)));
    if (event.kind == Terminal::Event::Kind::ended) return event.signal == 0 ? 0 : kOfASignal + event.signal;
    if (event.kind == Terminal::Event::Kind::key && (event.key == 'q' || event.key == 'Q')) return 0;
    if (event.kind == Terminal::Event::Kind::resized) draw();
  }
  return kError;
}

int run(const std::vector<std::string>& words) {
  const CommandTable line = top_line();
  const auto read = command_line::read_words(line, words);
  const auto fail = [](const Error& error) {
    std::fputs(base::printable(to_text(error), true).c_str(), stderr);
    return error.code == ErrorCode::usage || error.where == "--interval" ? kUsage : kError;
  };
  if (!read) return fail(read.error());
  if (read->help) {
    base::write_standard_output(help_text(line));
    return 0;
  }
  const bool draws = can_draw();
  const auto options = read_top_options(*read, draws);
  if (!options) return fail(options.error());
  const auto ended = options->once || options->json || !draws ? print_once(*options) : show_live(*options);
  if (!ended) return fail(ended.error());
  const Status written = base::standard_output_status();
  return written ? *ended : fail(written.error());
}

}  // namespace
}  // namespace slipway::dcgm

int main(int count, char** values) {
  slipway::base::begin_program();
  return slipway::dcgm::run({values + (count > 0 ? 1 : 0), values + count});
}
