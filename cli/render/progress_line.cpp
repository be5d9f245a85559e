// SPDX-License-Identifier: Apache-2.0
#include "cli/render/progress_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <slipway/text.hpp>

#include "base/log/lines.hpp"

namespace slipway::cli {
namespace {

using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr milliseconds kWindow{4000};  // the rate is measured over this time
constexpr milliseconds kSampleStep{100};
constexpr milliseconds kLeastTime{500};  // before this, a rate would be random
constexpr double kLongestTimeLeft = 100 * 3600.0;
constexpr std::size_t kLeastLabel = 24;
constexpr std::array<std::size_t, 3> kBarWidths{24, 12, 0};

std::string formatted(const char* format, double number) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// A unit of bytes that makes a number short.
struct Scale {
  double bytes;
  const char* name;
  std::string number(double amount) const { return formatted(bytes == 1 ? "%.0f" : "%.1f", amount / bytes); }
};

Scale scale_of(double bytes) {
  static constexpr std::array<Scale, 4> kScales{{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}};
  return *std::ranges::find_if(kScales, [&](const Scale& scale) { return bytes >= scale.bytes || scale.bytes == 1; });
}

/// "120.0 of 345.0 MiB"
std::string amount_of(const core::Progress& progress) {
  const auto done = static_cast<double>(progress.done), total = static_cast<double>(progress.total);
  const bool counts_bytes = progress.unit == core::Progress::Unit::bytes;
  const Scale scale = counts_bytes ? scale_of(std::max(done, total))
                                   : Scale{1, progress.done == 1 && progress.total <= 1 ? "file" : "files"};
  return scale.number(done) + (progress.done < progress.total ? " of " + scale.number(total) : "") + " " + scale.name;
}

std::string rate_text(double rate, core::Progress::Unit unit) {
  if (unit == core::Progress::Unit::files) return formatted(rate < 10 ? "%.1f files/s" : "%.0f files/s", rate);
  const Scale scale = scale_of(rate);
  return scale.number(rate) + " " + scale.name + "/s";
}

/// "4 s", "2 min 05 s", "1 h 05 min"
std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  std::array<char, 48> text{};
  if (whole < 60)
    std::snprintf(text.data(), text.size(), "%d s", static_cast<int>(whole));
  else if (whole < 3600)
    std::snprintf(text.data(), text.size(), "%d min %02d s", static_cast<int>(whole / 60),
                  static_cast<int>(whole % 60));
  else
    std::snprintf(text.data(), text.size(), "%d h %02d min", static_cast<int>(whole / 3600),
                  static_cast<int>(whole / 60 % 60));
  return text.data();
}

std::string bar(const core::Progress& progress, std::size_t width) {
  const double part = std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total));
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

/// Returns "unpacked x" for "unpack x" and "unpacking x"; adds "done" to other labels.
std::string completed_label(const std::string& step) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kVerbs{{{"download", "downloaded"},
                                                                                        {"unpack", "unpacked"},
                                                                                        {"unpacking", "unpacked"},
                                                                                        {"copy", "copied"},
                                                                                        {"push", "pushed"},
                                                                                        {"packing", "packed"},
                                                                                        {"compiling", "compiled"},
                                                                                        {"building", "built"}}};
  const std::size_t end = std::min(step.find(' '), step.size());
  for (const auto& [verb, past] : kVerbs)
    if (step.compare(0, end, verb) == 0) return std::string(past) + step.substr(end);
  return step + " done";
}

/// Returns the positions where characters begin, and the text's end.
std::vector<std::size_t> characters_of(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80) begins.push_back(i);
  begins.push_back(text.size());
  return begins;
}

}  // namespace

std::string step_of(const std::string& label) { return label.substr(0, label.find(": ")); }

std::string shortened(const std::string& text, std::size_t columns) {
  constexpr std::string_view kLeftOut = "...";
  const std::vector<std::size_t> characters = characters_of(text);
  const std::size_t width = characters.size() - 1;
  if (width <= columns) return text;
  if (columns <= kLeftOut.size()) return std::string(kLeftOut.substr(0, columns));
  return text.substr(0, characters[columns - kLeftOut.size()]).append(kLeftOut);
}

void ProgressMeter::report(core::Progress progress, Time now) {
  // A smaller value means that the data is read again, or that this is another attempt.
  if (!first_ || progress.done < first_->done) first_ = Sample{now, progress.done};
  if (progress.done < last_.done) recent_.clear();
  if (recent_.empty() || now - recent_.back().time >= kSampleStep) recent_.push_back({now, progress.done});
  while (recent_.size() > 1 && recent_[1].time <= now - kWindow) recent_.pop_front();
  last_ = std::move(progress);
  last_time_ = now;
}

std::optional<double> ProgressMeter::rate_since(const Sample& sample) const {
  const auto time = last_time_ - sample.time;
  if (time < kLeastTime || last_.done < sample.done) return std::nullopt;
  return static_cast<double>(last_.done - sample.done) / Seconds(time).count();
}

std::vector<std::string> ProgressMeter::numbers() const {
  std::vector<std::string> parts{amount_of(last_)};
  if (const auto rate = recent_.empty() ? std::nullopt : rate_since(recent_.front())) {
    parts.push_back(rate_text(*rate, last_.unit));
    const double left = last_.done<last_.total&& * rate> 0 ? static_cast<double>(last_.total - last_.done) / *rate : 0;
    if (left > 0 && left < kLongestTimeLeft) parts.push_back(duration_text(std::ceil(left)) + " left");
  }
  return parts;
}

std::string ProgressMeter::progress_text() const {
  return base::printable(last_.label) + ": " + joined(numbers(), ", ");
}

std::string ProgressMeter::line(std::size_t columns) const {
  const std::string label = base::printable((component_.empty() ? "" : component_ + ": ") + last_.label);
  std::vector<std::string> parts = numbers();
  const std::size_t least = std::min(width_of(label), kLeastLabel);
  // Uses a narrower bar first, then none; then leaves out the time and the rate.
  for (;;) {
    const std::string numbers = joined(parts, "  ");
    for (const std::size_t width : kBarWidths) {
      const bool has_bar = width > 0 && last_.total > 0;
      const std::string tail = (has_bar ? " " + bar(last_, width) + " " : "  ") + numbers;
      const bool fits = least + width_of(tail) <= columns;
      if (fits) return shortened(label, columns - width_of(tail)) + tail;
    }
    if (parts.size() == 1) return shortened(label + "  " + numbers, columns);
    parts.pop_back();
  }
}

std::string ProgressMeter::summary() const {
  std::string text = completed_label(step_of(last_.label)) + ": " + amount_of(last_);
  const double seconds = first_ ? Seconds(last_time_ - first_->time).count() : 0;
  if (seconds >= 0.1) text += " in " + (seconds < 10 ? formatted("%.1f s", seconds) : duration_text(seconds));
  if (const auto rate = first_ ? rate_since(*first_) : std::nullopt) text += ", " + rate_text(*rate, last_.unit);
  return text;
}

}  // namespace slipway::cli
