// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <csignal>
#include <sstream>

#include <slipway/local_host.hpp>

#include "app/image_log.hpp"
#include "app/recorded_apply.hpp"
#include "base/log/lines.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

/// Reads a text. The author of a root may have written any content into its log.
std::string text_of(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? base::printable(found->get<std::string>()) : "";
}

std::string boot_id() {
  HostConfig here;
  here.live = true;
  here.kernel_view = "/";
  const auto host = open_host(here);
  std::string id = host ? (*host)->read("/proc/sys/kernel/random/boot_id").value_or("") : "";
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

/// Describes an entry that has begun and not ended: its process is running, or was interrupted.
std::string without_end(const Json& entry, const std::string& this_boot) {
  const auto pid = entry.find("pid");
  const bool alive = !this_boot.empty() && pid != entry.end() && pid->is_number_integer() &&
                     text_of(entry, "boot_id") == this_boot && (::kill(pid->get<pid_t>(), 0) == 0 || errno == EPERM);
  return alive ? "under way" : "cut off";
}

/// Adds the members of an end (app/recorded_apply.cpp) to its beginning, whatever else they contain.
void add_end(const Json& end, Json& entry) {
  for (const char* key : {"components", "error", "generation", "report", "result", "seconds"})
    if (const auto found = end.find(key); found != end.end()) entry[key] = *found;
  if (const std::string time = text_of(end, "time"); !time.empty()) entry["ended"] = time;
}

/// Combines beginnings and ends, oldest first; each beginning has one end.
/// @param this_boot  empty: none of the processes belongs to this machine
std::vector<Json> entries_of(std::vector<Json> events, const std::string& this_boot) {
  std::vector<Json> entries;
  std::map<std::string, std::size_t> open;  // beginnings without an end, by id
  for (Json& event : events) {
    const std::string id = text_of(event, "id");
    const auto begun = open.find(id);
    if (begun != open.end() && event.value("event", Json()) == "end") {
      add_end(event, entries[begun->second]);
      open.erase(begun);
      continue;
    }
    if (event.value("event", Json()) == "begin" && !id.empty()) open[id] = entries.size();
    entries.push_back(std::move(event));  // an event without an id is complete: it is from an image
  }
  for (Json& entry : entries) {
    if (!entry.contains("result")) entry["result"] = without_end(entry, this_boot);
    if (entry.value("event", Json()) == app::kImageEvent) entry["image"] = true;
    entry.erase("event");
  }
  return entries;
}

Json list_at(const Json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_array() ? *found : Json::array();
}

void append_component(std::ostringstream& text, const Json& component) {
  text << "    " << text_of(component, "name") << ": " << text_of(component, "state");
  if (const std::string why = text_of(component, "reason"); !why.empty()) text << " (" << why << ")";
  text << '\n';
  if (const std::string error = text_of(component, "error"); !error.empty()) text << "      error: " << error << '\n';
  const Json changes = list_at(component, "changes");
  for (const Json& change : changes)
    if (change.is_string()) text << "      " << base::printable(change.get<std::string>()) << '\n';
}

std::string logged_text(const Json& entry) {
  std::ostringstream text;
  const bool of_image = entry.contains("image");
  const std::string time = text_of(entry, "time");
  text << (time.empty() ? "no time" : time) << "  " << text_of(entry, "command");
  const Json arguments = list_at(entry, "arguments");
  for (const Json& word : arguments)
    if (word.is_string()) text << ' ' << base::printable(word.get<std::string>());
  if (const std::string root = text_of(entry, "root"); root != "/" && !of_image) text << " --root " << root;
  text << ": " << text_of(entry, "result");
  const Json generation = entry.value("generation", Json());
  if (generation.is_number_integer() && generation != 0) text << ", generation " << generation.get<int>();
  text << " (slipway " << text_of(entry, "version") << ", "
       << (of_image ? "building the image" : text_of(entry, "user")) << ")\n";
  if (const std::string error = text_of(entry, "error"); !error.empty()) text << "    error: " << error << '\n';
  const Json components = list_at(entry, "components");
  for (const Json& component : components) append_component(text, component);
  return text.str();
}

/// Returns the events of the root that --root names, else of this machine.
Result<std::vector<Json>> events_of(const Options& options, TerminalUi& ui) {
  if (options.session.root == "/") return app::History(log_folder(options)).read();
  SLIPWAY_TRY(root, RootDir::open(options.session.root));
  SLIPWAY_TRY(events, app::read_log_of(root));
  if (events.size() == app::kMostEventsRead)
    ui.log(core::Ui::Level::warning, "",
           "only the newest " + std::to_string(app::kMostEventsRead) +
               " events of a root's log are read; older events are in " + root.folder() + "/var/log/slipway");
  return events;
}

/// Returns the requested number of entries; all without an argument.
Result<std::size_t> wanted(const Options& options, std::size_t all) {
  if (options.arguments.empty()) return all;
  const std::string& text = options.arguments.front();
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem == std::errc{} && end == text.data() + text.size()) return std::min(count, all);
  return Error{
      ErrorCode::usage, "'" + text + "' is not a count", "command line", "`slipway log 5`: the newest five", {}};
}

}  // namespace

Result<int> run_log(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(events, events_of(options, ui));
  const bool is_here = options.session.root == "/";
  std::vector<Json> entries = entries_of(std::move(events), is_here ? boot_id() : "");
  SLIPWAY_TRY(count, wanted(options, entries.size()));
  entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(count));
  if (options.output == "jsonl") {
    for (const Json& entry : entries) print(json_text(envelope("LogEntry", entry), options.output));
    print(json_text(envelope("Log", {{"count", entries.size()}}), options.output));
  } else if (options.output == "json") {
    print(json_text(envelope("Log", {{"count", entries.size()}, {"entries", entries}}), options.output));
  } else {
    for (const Json& entry : entries) print_wrapped(logged_text(entry));
    if (entries.empty())
      print(std::string("Nothing was applied ") + (is_here ? "on this machine" : "in this root") + " yet.\n");
  }
  return core::kExitDone;
}

}  // namespace slipway::cli
