// SPDX-License-Identifier: Apache-2.0
#include "dcgm/top/screen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/nvml/device.hpp"

namespace slipway::dcgm {
namespace {

enum class Tone { plain, heading, faint, good, attention, bad };

constexpr std::size_t kBar = 8;
constexpr std::size_t kWideLine = 24;  // columns of the last ten minutes
constexpr std::size_t kColumnsForLine = 108;
constexpr std::size_t kMigColumns = 64;

/// Process and pod names are not trusted: characters other than printable ASCII could move the cursor.
std::string ascii(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c >= ' ' && c <= '~' ? c : '?';
  return safe;
}

std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return width < 4 ? text.substr(0, width) : text.substr(0, width - 3) + "...";
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

/// A line that is cut at the terminal's width.
class Line {
 public:
  explicit Line(const ScreenLook& look) : look_(look), left_(look.columns) {}

  /// ASCII.
  Line& put(const std::string& text, Tone tone = Tone::plain) {
    const std::string shown = text.size() > left_ ? cut(text, left_) : text;
    left_ -= shown.size();
    text_ += painted(shown, tone);
    return *this;
  }
  /// Appends one-column signs from a list such as "_" or block characters.
  Line& signs(const std::vector<std::string>& all, Tone tone) {
    std::string shown;
    for (const std::string& each : all)
      if (left_ > 0) shown += each, --left_;
    text_ += painted(shown, tone);
    return *this;
  }
  std::size_t left() const { return left_; }
  std::string text() const {
    std::string whole = text_;
    while (whole.ends_with(' ')) whole.pop_back();
    return whole;
  }

 private:
  std::string painted(const std::string& text, Tone tone) const {
    constexpr std::array kCodes{"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[31m"};
    const std::string code = kCodes[static_cast<std::size_t>(tone)];
    return !look_.colour || code.empty() || text.empty() ? text : code + text + "\x1b[0m";
  }

  const ScreenLook& look_;
  std::size_t left_;
  std::string text_;
};

Tone tone_of(Level level) {
  constexpr std::array kTones{Tone::good, Tone::plain, Tone::attention, Tone::bad};
  return kTones[static_cast<std::size_t>(level)];
}

Tone tone_of_share(double percent) { return percent >= 95 ? Tone::attention : Tone::good; }

std::vector<std::string> bar(double percent, std::size_t width, bool utf8) {
  const auto full = std::min(
      width, static_cast<std::size_t>(std::lround(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(width))));
  std::vector<std::string> signs(full, utf8 ? "\u2588" : "#");
  signs.resize(width, utf8 ? "\u2591" : ".");
  return signs;
}

/// Draws the last ten minutes in the given number of columns.
std::vector<std::string> spark(const std::vector<std::optional<unsigned>>& line, std::size_t width, bool utf8) {
  constexpr std::array kBlocks{"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  constexpr std::array kAscii{"_", ".", "-", "=", "+", "*", "%", "#"};
  std::vector<std::string> signs;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t begin = line.size() * i / width;
    const std::size_t end = line.size() * (i + 1) / width;
    std::optional<unsigned> most;
    for (std::size_t k = begin; k < end; ++k)
      if (line[k]) most = std::max(most.value_or(0), *line[k]);
    const std::size_t step = most ? std::min<std::size_t>(*most * 8 / 100, 7) : 0;
    signs.emplace_back(!most ? " " : utf8 ? kBlocks[step] : kAscii[step]);
  }
  return signs;
}

std::string number(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.0f}{}", *value, unit) : "-";
}

std::string memory_text(std::uint64_t used, std::uint64_t total) {
  if (total == 0) return "-";
  return fmt::format("{:.1f}/{}", static_cast<double>(used) / (1024.0 * 1024 * 1024), gibibytes(total));
}

double share(std::uint64_t used, std::uint64_t total) {
  return total == 0 ? 0 : 100.0 * static_cast<double>(used) / static_cast<double>(total);
}

std::string power_text(const GpuDetails& details) {
  if (!details.power) return "-";
  return fmt::format("{:.0f}", *details.power) +
         (details.power_limit ? fmt::format("/{:.0f}W", *details.power_limit) : "W");
}

class Screen {
 public:
  Screen(const Overview& overview, const ScreenLook& look) : overview_(overview), look_(look) {
    has_line_ = look.columns >= kColumnsForLine;
  }

  std::vector<std::string> lines(const std::string& note) {
    head(note);
    if (!overview_.gpus.empty()) columns();
    for (const GpuOverview& gpu : overview_.gpus) this->gpu(gpu);
    processes();
    pods();
    if (look_.rows == 0 || lines_.size() <= look_.rows) return std::move(lines_);
    const std::size_t hidden = lines_.size() - look_.rows + 1;
    lines_.resize(look_.rows - 1);
    add(Line(look_).put("... and " + std::to_string(hidden) + " more lines", Tone::faint));
    return std::move(lines_);
  }

 private:
  void add(const Line& line) { lines_.push_back(line.text()); }

  /// Adds text, wrapped over as many lines as it needs.
  void paragraph(const std::string& before, const std::string& text, Tone tone) {
    const std::size_t room = look_.columns - std::min(before.size(), look_.columns / 2);
    std::string line;
    bool first = true;
    const auto flush = [&] {
      add(Line(look_)
              .put(first ? before : std::string(before.size(), ' '), tone)
              .put(line, first ? tone : Tone::plain));
      first = false;
      line.clear();
    };
    for (const std::string& word : split(ascii(text), ' ')) {
      if (!line.empty() && line.size() + 1 + word.size() > room) flush();
      line += (line.empty() ? "" : " ") + word;
    }
    flush();
  }

  void head(const std::string& note) {
    Line line(look_);
    line.put(cut(ascii(overview_.node), 30), Tone::heading).put("  " + clock_text(overview_.time));
    add(line.put("  driver " + ascii(overview_.driver_version.empty() ? "unknown" : overview_.driver_version)));
    if (!overview_.gpus.empty()) {
      const std::string levels = levels_text(overview_);
      add(Line(look_).put(ascii(models_text(overview_))).put(levels.empty() ? "" : "; " + levels, Tone::attention));
    }
    for (const std::string& address : overview_.missing) paragraph("bad: ", missing_text(address), Tone::bad);
    if (!note.empty()) add(Line(look_).put(ascii(note), Tone::faint));
    if (!overview_.problem.empty()) paragraph("bad: ", "the GPUs cannot be read: " + overview_.problem, Tone::bad);
    lines_.emplace_back();
  }

  void columns() {
    Line line(look_);
    line.put(padded("GPU", 4)).put(padded("UTILIZATION", kBar + 7)).put(padded("MEMORY", kBar + 17));
    line.put(right("TEMP", 5)).put(right("POWER", 10)).put(right("CLOCK", 9));
    if (has_line_) line.put("  " + padded("LAST 10 MIN", kWideLine));
    add(line.put("  HEALTH"));
  }

  void gpu(const GpuOverview& gpu) {
    Line line(look_);
    line.put(padded(right(gpu.is_listed ? std::to_string(gpu.gpu.index) : "-", 3), 4), Tone::heading);
    if (gpu.details) {
      const GpuDetails& now = *gpu.details;
      const double busy = now.utilization.value_or(0);
      line.signs(bar(busy, kBar, look_.utf8), tone_of_share(0)).put(right(number(now.utilization, "%"), 5)).put("  ");
      const double used = share(now.memory_used, now.memory_total);
      line.signs(bar(used, kBar, look_.utf8), tone_of_share(used));
      line.put(right(memory_text(now.memory_used, now.memory_total), 15)).put("  ");
      line.put(right(number(now.temperature, "C"), 5)).put(right(power_text(now), 10));
      line.put(right(number(now.clock, "MHz"), 9));
    } else {
      line.put(padded("no values", kBar + 7 + kBar + 17 + 5 + 10 + 9), Tone::faint);
    }
    if (has_line_) line.put("  ").signs(spark(gpu.line, kWideLine, look_.utf8), Tone::faint);
    add(line.put("  ").put(word_of(gpu.level), tone_of(gpu.level)));
    if (!gpu.is_listed)
      paragraph("      ", "the GPU at " + nvidia::nvml::sysfs_address(gpu.gpu.bus_id), Tone::attention);
    for (const HealthReason& each : gpu.reasons) {
      paragraph(std::string("      ") + word_of(each.level) + ": ", each.text, tone_of(each.level));
      if (!each.remedy.empty() && each.level > Level::note) paragraph("      do: ", each.remedy, Tone::faint);
    }
    if (gpu.details) mig(*gpu.details);
  }

  void mig(const GpuDetails& details) {
    if (details.mig_pending)
      paragraph("      ",
                std::string("MIG will be ") + (details.mig_enabled ? "disabled" : "enabled") +
                    " at the next reset of the GPU",
                Tone::attention);
    if (!details.mig_enabled) return;
    drawn(details);
    for (const InstanceDetails& each : details.instances) {
      const double used = share(each.memory_used, each.memory_total);
      Line line(look_);
      line.put("    MIG " + padded(std::to_string(each.id), 3)).put(padded(cut(ascii(each.profile), 14), 15));
      line.signs(bar(used, kBar, look_.utf8), tone_of_share(used));
      line.put(right(memory_text(each.memory_used, each.memory_total), 15));
      add(line.put(each.active ? "  active " + number(each.active, "%") : ""));
    }
    if (details.instances.empty()) add(Line(look_).put("    no GPU instance", Tone::faint));
  }

  /// Draws "|3g.40gb        |1g.10gb|...|" on one line, in the form of `slipway mig show`.
  void drawn(const GpuDetails& details) {
    const std::size_t unit = std::max<std::size_t>(2, std::min(kMigColumns, look_.columns - 6) / details.slices);
    std::string text = "|";
    unsigned next = 0;
    const auto leave_free = [&](unsigned end) {
      for (; next < end; ++next) text += std::string(unit - 1, '.') + "|";
    };
    for (const InstanceDetails& each : details.instances) {
      if (each.start < next) continue;
      leave_free(each.start);
      const std::string name = ascii(each.profile);
      const std::size_t width = unit * each.size - 1;
      text += padded(name.size() <= width ? name : name.substr(0, std::min(name.find('.'), width)), width) + "|";
      next = each.start + each.size;
    }
    leave_free(details.slices);
    add(Line(look_).put("    ").put(text));
  }

  static std::string place_of(const GpuOverview& gpu, const std::optional<unsigned>& instance) {
    return std::to_string(gpu.gpu.index) + (instance ? ":" + std::to_string(*instance) : "");
  }

  void processes() {
    if (!overview_.shows_processes) {
      lines_.emplace_back();
      add(Line(look_).put("the service leaves processes out (page_processes); --direct shows them", Tone::faint));
      return;
    }
    bool begun = false;
    for (const GpuOverview& gpu : overview_.gpus) {
      if (!gpu.details || gpu.details->processes.empty()) continue;
      if (!std::exchange(begun, true)) {
        lines_.emplace_back();
        add(Line(look_).put(right("PID", 8) + "  " + padded("GPU", 6) + right("MEMORY", 11) + "  NAME"));
      }
      for (const ProcessDetails& each : gpu.details->processes)
        add(Line(look_).put(right(std::to_string(each.pid), 8) + "  " + padded(place_of(gpu, each.instance), 6) +
                            right(each.memory ? gibibytes(*each.memory) : "-", 11) + "  " + ascii(each.name)));
      if (gpu.details->more_processes != 0)
        add(Line(look_).put("          " + std::to_string(gpu.gpu.index) + ": and " +
                                std::to_string(gpu.details->more_processes) + " more processes",
                            Tone::faint));
    }
  }

  void pods() {
    bool begun = false;
    for (const GpuOverview& gpu : overview_.gpus)
      for (const PodOnGpu& each : gpu.pods) {
        if (!std::exchange(begun, true)) {
          lines_.emplace_back();
          add(Line(look_).put(padded("GPU", 8) + "POD"));
        }
        add(Line(look_).put(padded(place_of(gpu, each.instance), 8) + ascii(each.name_space + "/" + each.pod) +
                            ", container " + ascii(each.container)));
      }
  }

  const Overview& overview_;
  const ScreenLook& look_;
  bool has_line_ = false;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> screen_lines(const Overview& overview, const ScreenLook& look, const std::string& note) {
  ScreenLook shown = look;
  shown.columns = std::max(look.columns, ScreenLook::kNarrowest);
  if (look.rows != 0) shown.rows = std::max<std::size_t>(look.rows, 2);
  return Screen(overview, shown).lines(note);
}

}  // namespace slipway::dcgm
