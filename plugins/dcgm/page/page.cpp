// SPDX-License-Identifier: Apache-2.0
#include "dcgm/page/page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <slipway/service/metrics.hpp>

namespace slipway::dcgm {
namespace {

constexpr const char* kNone = "&#8211;";  // a dash
constexpr std::chrono::seconds kSlowestRefresh{60};
constexpr std::chrono::seconds kFastestRefresh{2};

long long refresh_of(const Overview& overview) {
  const auto every = std::chrono::duration_cast<std::chrono::seconds>(overview.interval);
  return std::clamp(every, kFastestRefresh, kSlowestRefresh).count();
}

/// Wraps a name that comes from outside of slipway, so that its direction of writing does not affect the rest.
std::string named(const std::string& text) { return "<bdi>" + html_text(text) + "</bdi>"; }

std::string with_unit(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.0f}{}", *value, unit) : kNone;
}

std::string memory_text(std::uint64_t used, std::uint64_t total) {
  if (total == 0) return kNone;
  return fmt::format("{:.1f} / {}", static_cast<double>(used) / (1024.0 * 1024 * 1024), gibibytes(total));
}

std::string power_text(const GpuDetails& details) {
  if (!details.power) return kNone;
  return fmt::format("{:.0f}", *details.power) +
         (details.power_limit ? fmt::format(" / {:.0f} W", *details.power_limit) : " W");
}

std::string clock_text_of(const GpuDetails& details) {
  if (!details.clock) return kNone;
  return fmt::format("{:.0f}", *details.clock) +
         (details.clock_most ? fmt::format(" / {:.0f} MHz", *details.clock_most) : " MHz");
}

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole * 100, 0.0, 100.0) : 0; }

/// Draws a bar without a label: the value is printed beside it.
std::string bar(double percent) {
  return fmt::format(
      "<svg class=\"bar\" aria-hidden=\"true\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\"><rect "
      "class=\"track\" width=\"100\" height=\"8\"/><rect class=\"fill\" width=\"{:.0f}\" height=\"8\"/></svg>",
      percent);
}

std::string row(const char* what, const std::string& value, std::optional<double> percent = {}) {
  return std::string("<dt>") + what + "</dt><dd>" + (percent ? bar(*percent) : "") + "<span>" + value +
         "</span></dd>\n";
}

std::string level_mark(Level level) {
  constexpr std::array kMarks{"&#10003; ok", "&#8505; note", "&#9650; attention", "&#10007; bad"};
  constexpr std::array kClasses{"good", "note", "attention", "bad"};
  const auto i = static_cast<std::size_t>(level);
  return std::string("<span class=\"level ") + kClasses[i] + "\">" + kMarks[i] + "</span>";
}

std::string title_of(const GpuOverview& gpu) {
  return gpu.is_listed ? "GPU " + std::to_string(gpu.gpu.index) : std::string("GPU that is missing");
}

std::string values(const GpuDetails& details) {
  std::string text = "<dl>\n";
  text += row("Utilization", with_unit(details.utilization, " %"), details.utilization);
  text += row("Memory", memory_text(details.memory_used, details.memory_total),
              share(static_cast<double>(details.memory_used), static_cast<double>(details.memory_total)));
  text += row("Power", power_text(details), share(details.power.value_or(0), details.power_limit.value_or(0)));
  text += row("Clock", clock_text_of(details), share(details.clock.value_or(0), details.clock_most.value_or(0)));
  text += row("Temperature", with_unit(details.temperature, " &#176;C"));
  return text + "</dl>\n";
}

std::string line(const GpuOverview& gpu) {
  const bool by_memory = gpu.details && !gpu.details->utilization;
  const std::string what = by_memory ? "Memory in use" : "Utilization";
  const auto last = std::ranges::find_if(gpu.line.rbegin(), gpu.line.rend(), [](const auto& each) { return !!each; });
  const std::string now = last == gpu.line.rend() ? "no values" : "now " + std::to_string(**last) + " %";
  return line_svg(gpu.line, what + " of the last ten minutes, " + now) + "<div class=\"axis\"><span>" + what +
         ", 10 min ago</span><span>now</span></div>\n";
}

std::string mig(const GpuDetails& details) {
  if (!details.mig_enabled && !details.mig_pending) return {};
  std::string text = "<h3>MIG</h3>\n";
  if (details.mig_pending)
    text += std::string("<p class=\"attention\">MIG will be ") + (details.mig_enabled ? "disabled" : "enabled") +
            " at the next reset of the GPU.</p>\n";
  if (!details.mig_enabled) return text;
  text += slices_svg(details);
  if (details.instances.empty()) return text + "<p class=\"faint\">There is no GPU instance.</p>\n";
  text +=
      "<table class=\"mid\"><thead><tr><th scope=\"col\">Instance</th><th scope=\"col\" class=\"n\">Memory</th><th "
      "scope=\"col\" class=\"n\">Active</th></tr></thead><tbody>\n";
  for (const InstanceDetails& each : details.instances)
    text += "<tr><td>" + std::to_string(each.id) + ": " + named(each.profile) + "</td><td class=\"n\">" +
            memory_text(each.memory_used, each.memory_total) + "</td><td class=\"n\">" + with_unit(each.active, " %") +
            "</td></tr>\n";
  return text + "</tbody></table>\n";
}

std::string on_instance(const std::optional<unsigned>& instance) {
  return instance ? " <span class=\"faint\">on instance " + std::to_string(*instance) + "</span>" : "";
}

std::string processes(const GpuDetails& details) {
  if (details.processes.empty()) return {};
  std::string text =
      "<h3>Processes</h3>\n<table class=\"mid\"><thead><tr><th scope=\"col\">PID</th><th scope=\"col\">Name</th><th "
      "scope=\"col\" class=\"n\">Memory</th></tr></thead><tbody>\n";
  for (const ProcessDetails& each : details.processes)
    text += "<tr><td>" + std::to_string(each.pid) + "</td><td>" + named(each.name) + on_instance(each.instance) +
            "</td><td class=\"n\">" + (each.memory ? gibibytes(*each.memory) : kNone) + "</td></tr>\n";
  text += "</tbody></table>\n";
  if (details.more_processes != 0)
    text += "<p class=\"faint\">and " + std::to_string(details.more_processes) + " more</p>\n";
  return text;
}

std::string pods(const std::vector<PodOnGpu>& pods) {
  if (pods.empty()) return {};
  std::string text = "<h3>Pods</h3>\n<ul>\n";
  for (const PodOnGpu& each : pods)
    text += "<li>" + named(each.name_space + "/" + each.pod) + " <span class=\"faint\">container</span> " +
            named(each.container) + on_instance(each.instance) + "</li>\n";
  return text + "</ul>\n";
}

std::string reasons(const std::vector<HealthReason>& reasons) {
  if (reasons.empty()) return {};
  constexpr std::array kClasses{"good", "note", "attention", "bad"};
  std::string text = "<h3>Health</h3>\n<ul>\n";
  for (const HealthReason& each : reasons)
    text += std::string("<li><span class=\"") + kClasses[static_cast<std::size_t>(each.level)] + "\">" +
            word_of(each.level) + "</span> " + html_text(each.text) +
            (each.remedy.empty() ? "" : "<br><span class=\"faint\">do: " + html_text(each.remedy) + "</span>") +
            "</li>\n";
  return text + "</ul>\n";
}

std::string tile(const GpuOverview& gpu) {
  const std::string id = "gpu" + (gpu.is_listed ? std::to_string(gpu.gpu.index) : "-" + html_text(gpu.gpu.bus_id));
  const char* const edge = gpu.level == Level::bad         ? " bad-tile"
                           : gpu.level == Level::attention ? " attention-tile"
                                                           : "";
  std::string text = "<section class=\"tile" + std::string(edge) + "\" aria-labelledby=\"" + id + "\">\n";
  text += "<div class=\"head\"><h2 id=\"" + id + "\">" + title_of(gpu) + "</h2>" + level_mark(gpu.level) + "</div>\n";
  text += "<p class=\"faint\">" + named(gpu.gpu.model) + " &#183; " + html_text(gpu.gpu.bus_id) + "</p>\n";
  if (gpu.details) text += values(*gpu.details);
  text += line(gpu) + reasons(gpu.reasons);
  if (gpu.details) text += mig(*gpu.details) + processes(*gpu.details);
  return text + pods(gpu.pods) + "</section>\n";
}

std::string table(const Overview& overview) {
  std::string text =
      "<h2>All GPUs</h2>\n<div class=\"scroll\" role=\"region\" aria-label=\"All GPUs as a table\" tabindex=\"0\">"
      "<table><thead><tr>";
  for (const char* head : {"GPU", "Health"}) text += std::string("<th scope=\"col\">") + head + "</th>";
  for (const char* head : {"Utilization", "Memory", "Temperature", "Power", "Clock", "MIG", "Processes"})
    text += std::string("<th scope=\"col\" class=\"n\">") + head + "</th>";
  text += "</tr></thead><tbody>\n";
  for (const GpuOverview& gpu : overview.gpus) {
    const GpuDetails none;
    const GpuDetails& details = gpu.details ? *gpu.details : none;
    text += "<tr><th scope=\"row\">" + (gpu.is_listed ? std::to_string(gpu.gpu.index) : kNone) + "</th><td>" +
            level_mark(gpu.level) + "</td>";
    const std::string mig_text = !details.mig_enabled ? std::string(kNone)
                                 : details.instances.size() == 1
                                     ? std::string("1 instance")
                                     : std::to_string(details.instances.size()) + " instances";
    const std::size_t count = details.processes.size() + details.more_processes;
    for (const std::string& cell :
         {with_unit(details.utilization, " %"), memory_text(details.memory_used, details.memory_total),
          with_unit(details.temperature, " &#176;C"), power_text(details), clock_text_of(details), mig_text,
          overview.shows_processes && gpu.details ? std::to_string(count) : std::string(kNone)})
      text += "<td class=\"n\">" + cell + "</td>";
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string summary(const Overview& overview) {
  std::string text = "<div id=\"summary\">\n<p>" + named(models_text(overview)) +
                     (levels_text(overview).empty() ? "" : "; " + html_text(levels_text(overview))) +
                     "</p>\n<p class=\"faint\">driver " +
                     html_text(overview.driver_version.empty() ? "unknown" : overview.driver_version) +
                     " &#183; slipway " + html_text(overview.slipway_version) + " &#183; values of " +
                     clock_text(overview.time) + "</p>\n";
  for (const std::string& address : overview.missing)
    text += "<p class=\"banner bad\" role=\"alert\">" + html_text(missing_text(address)) + "</p>\n";
  if (!overview.problem.empty())
    text += "<p class=\"banner bad\" role=\"alert\">" + html_text("The GPUs cannot be read: " + overview.problem) +
            "</p>\n";
  return text + "</div>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = utf8_character_size(text.substr(i));
    const std::string_view one = text.substr(i, std::max<std::size_t>(size, 1));
    i += one.size();
    const auto first = static_cast<unsigned char>(one.front());
    const bool control =
        first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<unsigned char>(one.back()) < 0xa0);
    if (size == 0 || control)
      safe += "\xef\xbf\xbd";  // U+FFFD
    else if (one == "&")
      safe += "&amp;";
    else if (one == "<")
      safe += "&lt;";
    else if (one == ">")
      safe += "&gt;";
    else if (one == "\"")
      safe += "&quot;";
    else if (one == "'")
      safe += "&#39;";
    else
      safe += one;
  }
  return safe;
}

std::string page_policy() {
  return std::string("default-src 'none'; script-src '") + kPageScriptDigest + "'; style-src '" + kPageStyleDigest +
         "'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

std::string page_html(const Overview& overview) {
  const std::string every = std::to_string(refresh_of(overview));
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"robots\" content=\"noindex\">\n<noscript><meta "
      "http-equiv=\"refresh\" content=\"" +
      every + "\"></noscript>\n<title>GPUs of " + html_text(overview.node) + "</title>\n<style>" + kPageStyle +
      "</style>\n</head>\n<body data-every=\"" + every + "\">\n<header>\n<h1>GPUs of " + named(overview.node) +
      "</h1>\n";
  text += summary(overview);
  text +=
      "<p id=\"stale\" class=\"banner bad\" role=\"alert\" hidden>The service does not answer: these values are "
      "old.</p>\n</header>\n<main id=\"gpus\">\n<div class=\"tiles\">\n";
  for (const GpuOverview& gpu : overview.gpus) text += tile(gpu);
  text += "</div>\n";
  if (!overview.gpus.empty()) text += table(overview);
  text += "</main>\n<footer class=\"faint\"><p>";
  if (!overview.shows_processes) text += "Processes are left out here (page_processes). ";
  text += "The same for programs: /metrics, /overview.json. In a terminal: slipway top.</p></footer>\n<script>";
  return text + kPageScript + "</script>\n</body>\n</html>\n";
}

}  // namespace slipway::dcgm
