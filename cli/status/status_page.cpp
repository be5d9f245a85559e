// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>

#include <slipway/text.hpp>

#include "app/machine/facts.hpp"
#include "cli/render/text.hpp"
#include "cli/status/status.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kMostKernels = 3;
constexpr std::size_t kMostReasons = 3;  // for one service
constexpr std::size_t kLongestRemark = 240;

using Texts = std::vector<std::string>;

Toned plain(const std::string& text) { return {Tone::plain, text}; }

/// Shows a file in the working folder by its name alone.
std::string short_path(const std::string& file) {
  std::error_code problem;
  const std::filesystem::path path(file);
  const bool is_here = path.has_parent_path() && path.parent_path() == std::filesystem::current_path(problem);
  return is_here ? path.filename().string() : file;
}

/// Joins the parts that are not empty, with commas.
std::string listing(Texts parts) {
  std::erase(parts, "");
  return joined(parts, ", ");
}

std::string host_text(const Json& host) {
  const std::string kind = host.value("kind", "");
  const std::string root = host.value("root", "");
  const std::string simulated = kind == "simulated" ? " (simulated: " + host.value("sim", "") + ")" : "";
  const bool names_root = kind != "machine" || root != "/";
  return listing({host.value("name", ""), names_root ? root : "", host.value("os", "")}) + simulated;
}

std::string kernel_text(const Json& kernel) {
  const auto installed = kernel.value("installed", Texts{});
  const std::string release = kernel.value("release", "");
  const std::string next = kernel.value("next", "");
  std::string text = release;
  if (release.empty())
    text = installed.empty() ? "none installed" : first_few(installed, kMostKernels) + " are installed";
  return next.empty() || next == release ? text : text + "; " + next + " boots next";
}

/// @param simulated  a machine of --sim, on which the driver from its settings is running, whatever the root has
std::string device_text(const Json& devices, bool simulated) {
  if (devices.empty()) return "none on the PCI bus";
  const auto driver_of = [](const Json& device) { return device.value("driver", ""); };
  const std::string text = joined(devices, "; ", [&](const Json& device) {
    const std::string name = device.value("name", "");
    const std::string id = device.value("pci", "");
    const std::string driver = driver_of(device);
    return std::to_string(device.value("count", 0)) + " x " + (name.empty() ? id : name + " (" + id + ")") +
           (!driver.empty() ? ", driver " + driver
            : simulated     ? ""
                            : ", without a driver");
  });
  const bool lacks = std::ranges::any_of(devices, [&](const Json& device) { return driver_of(device).empty(); });
  return text + (simulated && lacks ? "; no driver runs on this simulated machine" : "");
}

/// Display controllers (PCI class 03) are GPUs.
const char* device_heading(const Json& devices) {
  const bool gpus =
      std::ranges::all_of(devices, [](const Json& each) { return each.value("class", "").starts_with("03"); });
  return gpus ? "GPUs" : "Devices";
}

/// "2026-11-25 14:02 UTC (3 h ago)"
std::string time_text(const std::string& since, std::time_t now) {
  const std::string age = app::age_text(since, now);
  if (age == "-") return {};
  return since.substr(0, 10) + " " + since.substr(11, 5) + " UTC (" + (age == "now" ? "just now" : age + " ago") + ")";
}

std::string generation_text(const Json& status, std::time_t now) {
  const int number = status.value("generation", 0);
  const std::string root = status["host"].value("root", "");
  if (status.contains("without_records")) return "The state of " + root + " can be read only by root.";
  if (number == 0 && !status.value("at_work", "").empty()) return "A first apply of " + root + " is under way.";
  if (number == 0 && status["components"].empty() && status["damaged"].empty())
    return "Nothing is provisioned in " + root + ".";
  if (number == 0)
    return "No generation is active in " + root +
           (status.contains("generation_unreadable") ? " that can be read." : ".");
  const std::string since = time_text(status.value("since", ""), now);
  const std::size_t count = status["generations"].size();
  return "Generation " + std::to_string(number) + " is active, from " + short_path(status.value("spec_file", "")) +
         (since.empty() ? "" : ", since " + since) +
         (count > 1 ? "; `slipway generations` lists " + std::to_string(count) : "") + ".";
}

/// Tells that the active generation waits for a boot that verifies it; empty when it does not.
std::string unproven_text(const Json& status) {
  const Json change = app::member(status, "unproven");
  if (!change.is_object()) return {};
  const std::string number = std::to_string(change.value("generation", 0));
  const std::string before = std::to_string(change.value("before", 0));
  return std::string(change.value("failed", false) ? "A boot could not verify generation " + number + "; it"
                                                   : "Generation " + number) +
         " waits for a boot that verifies it. Until then the layers of generation " + before +
         " stay, and `slipway rollback " + before + "` needs no download.";
}

Tone tone_of_state(const std::string& state) {
  if (state == "applied") return Tone::good;
  if (state == core::to_string(core::ComponentState::failed) ||
      state == core::to_string(core::ComponentState::blocked) || state == "damaged")
    return Tone::bad;
  return state == "left-out" || state == "not-applied" ? Tone::faint : Tone::attention;
}

Tone tone_of_service(const Json& service) {
  const std::string state = service.value("state", "");
  const std::string finding = service.value("finding", "");
  if (state == "not-running" && finding != "fail") return Tone::faint;
  if (state == "working" && service.value("reasons", Texts{}).empty()) return Tone::good;
  return state == "not-running" || state == "no-answer" ? Tone::bad : Tone::attention;
}

/// "version 535.261.03, flavour open"
std::string outputs_text(const Json& outputs) {
  Texts parts;
  for (const auto& [name, value] : outputs.items())
    if (value != Json(""))
      parts.push_back(name + " " + (value.is_string() ? value.get<std::string>() : canonical(value)));
  return joined(parts, ", ");
}

/// Returns the remarks about a component, a line each.
/// @param reported  the reasons of services so far: two services may report the same problem, which is shown once
std::vector<Toned> remarks_of(const Json& component, std::set<std::string>& reported) {
  std::vector<Toned> remarks;
  if (const std::string outputs = outputs_text(component.value("outputs", Json::object())); !outputs.empty())
    remarks.push_back(plain(outputs));
  if (component.contains("plugin")) {
    remarks.push_back({Tone::bad, component["plugin"].value("problem", "")});
  } else if (component.contains("failing")) {
    const Json& record = component["failing"];
    const std::string state = record.value("state", "");
    const std::string when = record.value("removal", false) ? "could not be removed" : state + " at the last apply";
    remarks.push_back({tone_of_state(state), when + ": " + core::failing_text(record)});
  }
  if (component.contains("service")) {
    const Json& service = component["service"];
    remarks.push_back({tone_of_service(service), "service: " + cut_at_word(service.value("text", ""), kLongestRemark)});
    Texts reasons = service.value("reasons", Texts{});
    const std::string line = service.value("status", "");
    std::erase_if(reasons, [&](const std::string& reason) {
      return line.find(reason) != std::string::npos || !reported.insert(reason).second;
    });
    for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i)
      remarks.push_back({Tone::attention, cut_at_word(reasons[i], kLongestRemark)});
    if (reasons.size() > kMostReasons)
      remarks.push_back({Tone::attention, "and " + std::to_string(reasons.size() - kMostReasons) + " more"});
  }
  if (component.contains("put_back")) {
    const Json& put_back = component["put_back"];
    const int times = put_back.value("times", 0);
    const std::string last = put_back.value("last", "");
    remarks.push_back({Tone::attention, "changes by other programs were undone " +
                                            (times == 1 ? "once" : std::to_string(times) + " times") +
                                            " since the machine booted" +
                                            (last.size() < 16 ? "" : ", last at " + last.substr(11, 5) + " UTC") +
                                            ": " + listed(put_back["changes"], "and")});
  }
  if (component.contains("edits"))
    remarks.push_back({Tone::attention, "kept edits: " + listed(component["edits"], "and")});
  if (component.contains("accepted"))
    remarks.push_back(plain("accepted edits: " + listed(component["accepted"], "and")));
  return remarks;
}

std::vector<TableRow> rows_of(const Json& components, std::time_t now) {
  std::set<std::string> reported;
  std::vector<TableRow> rows{{{Tone::heading, "COMPONENT"}, {Tone::heading, "STATE"}, {Tone::heading, "AGE"}, {}}};
  for (const auto& [name, component] : components.items()) {
    const std::string state = component.value("state", "");
    TableRow row{
        plain(name), {tone_of_state(state), state}, plain(app::age_text(component.value("since", ""), now)), {}};
    for (const Toned& remark : remarks_of(component, reported)) {
      row.back() = remark;
      rows.push_back(row);
      row = {{}, {}, {}, {}};
    }
    if (!row.front().text.empty()) rows.push_back(row);
  }
  return rows;
}

}  // namespace

Page status_page(const Json& status, std::time_t now) {
  Page page;
  for (const Json& each : app::member(status, "gpu_problems"))
    page << Toned{Tone::bad, cut_at_word(each.value("problem", ""), kLongestRemark)} << '\n';
  if (const Json expect = app::member(status, "expect"); expect.is_object() && expect.value("status", "") == "fail")
    page << Toned{Tone::bad, "GPUs are not as expected: " + expect.value("text", "")} << '\n';
  std::vector<TableRow> head{{{Tone::heading, status["host"].value("kind", "") == "image" ? "Image" : "Host"},
                              plain(host_text(status["host"]))},
                             {{Tone::heading, "Kernel"}, plain(kernel_text(status["kernel"]))}};
  if (!status["devices"].is_null())
    head.push_back({{Tone::heading, device_heading(status["devices"])},
                    plain(device_text(status["devices"], status["host"].value("kind", "") == "simulated"))});
  page.table(head) << generation_text(status, now) << '\n';
  if (const std::string text = unproven_text(status); !text.empty()) page << Toned{Tone::attention, text} << '\n';
  if (!status["components"].empty()) page.table(rows_of(status["components"], now), 2);
  for (const Json& file : status["damaged"])
    page << Toned{Tone::bad, "Damaged: "} << file.value("path", "") << ": " << file.value("problem", "") << '\n';
  if (status["next"].empty()) {
    page << "Nothing of the last apply is left to do.\n"
            "Status does not compare the devices with the spec: `slipway plan` does.\n";
    return page;
  }
  page << Toned{Tone::heading, "Next"} << '\n';
  for (const Json& step : status["next"])
    page << "  " << step.value("problem", "") << ": " << step.value("do", "") << '\n';
  return page;
}

}  // namespace slipway::cli
