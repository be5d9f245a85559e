// SPDX-License-Identifier: Apache-2.0
#include "app/recorded_apply.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>

#include <unistd.h>

#include "app/image_log.hpp"
#include "app/report/redactor.hpp"
#include "core/exit_code.hpp"
#include "core/service/service_ui.hpp"

namespace slipway::app {
namespace {

constexpr const char* kFolder = "/var/log/slipway";

std::string in_utc(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string utc_now() { return in_utc(std::time(nullptr)); }

std::string user() {
  const char* const before_sudo = ::secure_getenv("SUDO_USER");
  return before_sudo != nullptr ? before_sudo : "uid " + std::to_string(::getuid());
}

/// The file's absolute path: an entry of the log may be read in another folder.
std::string absolute_path(const std::string& file) {
  std::error_code problem;
  const auto path = std::filesystem::absolute(file, problem);
  return problem || file.empty() || file == "-" ? file : path.lexically_normal().string();
}

std::string boot_id(const Host& host) {
  std::string id = host.read("/proc/sys/kernel/random/boot_id").value_or("");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

Json begun(const core::Session& session, const ChangeRequest& request, const std::string& spec, const std::string& id) {
  Json event{{"event", "begin"},
             {"id", id},
             {"time", utc_now()},
             {"command", request.command},
             {"arguments", request.arguments},
             {"root", session.host_config().root},
             {"spec", absolute_path(spec)},
             {"version", request.version},
             {"user", user()},
             {"pid", ::getpid()},
             {"boot_id", boot_id(session.host())}};
  if (!request.only.empty()) event["only"] = request.only;
  if (request.boot) event["boot"] = true;
  if (!session.options().sim.empty()) event["sim"] = session.options().sim;
  return event;
}

std::string result_word(const core::ApplyResult& result) {
  switch (apply_exit_code(result)) {
    case core::kExitDone:
      return result.changed ? "done" : "nothing to do";
    case core::kExitWaiting:
      return "waiting";
    case core::kExitReboot:
      return "reboot required";
    default:
      return "failed";
  }
}

/// Returns the components that were not left unchanged, each with its planned changes.
Json changed_components(const core::PlannedRun& run) {
  Json components = Json::array();
  for (const core::PlannedComponent& component : run.components) {
    Json changes = Json::array();
    for (const core::PlannedItem& item : component.items)
      if (item.changes()) changes.push_back(item.check.summary);
    if (changes.empty() && component.state == core::ComponentState::ready) continue;
    Json entry{{"name", component.name}, {"state", core::to_string(component.state)}, {"changes", std::move(changes)}};
    if (!component.reason.empty()) entry["reason"] = component.reason;
    if (component.error) entry["error"] = component.error->what;
    components.push_back(std::move(entry));
  }
  return components;
}

void add_result(const Result<core::ApplyResult>& result, Json& event) {
  if (!result) {
    event["result"] = result.error().code == ErrorCode::locked ? "another slipway was running" : "failed";
    event["error"] = result.error().what;
    return;
  }
  event["result"] = result_word(*result);
  event["generation"] = result->generation;
  event["components"] = changed_components(result->run);
  if (!result->report.empty()) event["report"] = result->report;
  if (result->error) event["error"] = result->error->what;
}

bool was_removed(const core::PlannedRun& run) {
  return std::ranges::any_of(run.components, [](const core::PlannedComponent& component) {
    return component.state == core::ComponentState::removed;
  });
}

/// Returns an event that equal builds share: it contains nothing about the machine of the build, and no error texts,
/// which name its folders.
Json image_event(core::Session& session, const ChangeRequest& request, const std::string& spec,
                 const core::ApplyResult& result) {
  Json event{{"event", kImageEvent},
             {"command", request.command},
             {"spec", std::filesystem::path(spec).filename().string()},
             {"version", request.version},
             {"result", result_word(result)},
             {"generation", result.generation}};
  if (const auto epoch = session.root().source_date_epoch()) event["time"] = in_utc(*epoch);
  if (!request.only.empty()) event["only"] = request.only;
  event["components"] = changed_components(result.run);
  for (Json& component : event["components"]) {
    component.erase("reason");
    component.erase("error");
  }
  return event;
}

/// An apply without changes does not add to the image's log.
Result<core::ApplyResult> applied_to_image(core::Session& session, const ChangeRequest& request,
                                           const std::string& spec,
                                           const std::function<Result<core::ApplyResult>()>& change) {
  const auto before = core::generation_in_force(session.root().root());
  auto result = change();
  if (!result) return result;
  const bool counts =
      result->changed && (result->generation != before.value_or(0) || was_removed(result->run) ||
                          std::ranges::any_of(result->run.components, [](const core::PlannedComponent& component) {
                            return component.state == core::ComponentState::changed;
                          }));
  const auto log = [&] {
    if (!counts) return drop_log_of_removed(session);
    return log_in_image(session,
                        parse_foreign(Redactor().redact(canonical(image_event(session, request, spec, *result)))));
  };
  if (const Status written = log(); !written)
    session.ui().log(core::Ui::Level::warning, "", "the image's log could not be written: " + written.error().what);
  return result;
}

}  // namespace

Result<std::string> noted_time(const core::SessionOptions& options, bool image) {
  std::error_code problem;
  const bool is_image = image || !options.live.value_or(std::filesystem::canonical(options.root, problem) == "/");
  if (!is_image) return utc_now();
  SLIPWAY_TRY(epoch, core::source_date_epoch());
  return epoch ? in_utc(static_cast<std::time_t>(*epoch)) : std::string();
}

std::string machine_log_folder(bool own_environment) {
  const char* const given = own_environment ? nullptr : ::secure_getenv("SLIPWAY_LOG_DIR");
  return given == nullptr || *given == '\0' ? kFolder : given;
}

std::vector<Json> logged_of_root(const core::Session& session, const std::string& log_folder) {
  std::set<std::string> others;  // events of other roots, by id; an end names no root
  std::vector<Json> events = History(log_folder).read().value_or({});
  for (const Json& event : events)
    if (event.value("event", Json()) == "begin" && event.value("root", Json()) != session.host_config().root)
      others.insert(canonical(event.value("id", Json())));
  std::erase_if(events, [&](const Json& event) { return others.contains(canonical(event.value("id", Json()))); });
  return events;
}

namespace {

/// The newest change of the session's root in this machine's log: its begin event and its end event.
struct LoggedChange {
  Json begin;
  Json end;  ///< empty while it runs, or when it was cut off
};

std::optional<LoggedChange> newest_change(const core::Session& session, const std::string& log_folder) {
  const HostConfig& host = session.host_config();
  if (!host.live && host.root != "/") return std::nullopt;
  const std::vector<Json> events = logged_of_root(session, log_folder);
  const auto is = [](const Json& event, const char* kind) { return event.value("event", Json()) == kind; };
  const auto begin =
      std::find_if(events.rbegin(), events.rend(), [&](const Json& event) { return is(event, "begin"); });
  if (begin == events.rend()) return std::nullopt;
  LoggedChange change{*begin, Json::object()};
  for (const Json& event : events)
    if (is(event, "end") && event.value("id", Json()) == begin->value("id", Json())) change.end = event;
  return change;
}

}  // namespace

Result<std::string> spec_of_last_apply(core::Session& session, const std::string& log_folder) {
  SLIPWAY_TRY(failing, session.state().failing());
  for (const auto& [name, record] : failing.items())
    if (const std::string file = record.value("spec_file", ""); !file.empty() && file != "-") return file;
  const auto change = newest_change(session, log_folder);
  const Json file = change ? change->begin.value("spec", Json()) : Json();
  const std::string path = file.is_string() ? file.get<std::string>() : std::string();
  return path.starts_with('/') && ::access(path.c_str(), R_OK) == 0 ? path : std::string("SPEC");
}

std::string failure_of_last_apply(const core::Session& session, const std::string& log_folder) {
  const auto change = newest_change(session, log_folder);
  if (!change || change->begin.value("command", Json()) != "apply" || change->end.value("result", Json()) != "failed")
    return {};
  std::string text;
  const Json components = change->end.value("components", Json::array());
  for (const Json& component : components) {
    const Json error = component.is_object() ? component.value("error", Json()) : Json();
    const Json name = component.is_object() ? component.value("name", Json()) : Json();
    if (!error.is_string() || !name.is_string()) continue;
    text += (text.empty() ? "" : "; ") + name.get<std::string>() + ": " + error.get<std::string>();
  }
  const Json error = change->end.value("error", Json());
  return text.empty() && error.is_string() ? error.get<std::string>() : text;
}

int apply_exit_code(const core::ApplyResult& result) {
  int code = result.error ? core::kExitError : core::kExitDone;
  for (const core::PlannedComponent& component : result.run.components) {
    if (component.state == core::ComponentState::failed || component.state == core::ComponentState::blocked)
      return core::kExitError;
    if (component.state == core::ComponentState::waiting) code = std::max<int>(code, core::kExitWaiting);
    if (component.state == core::ComponentState::reboot_required && code == core::kExitDone) code = core::kExitReboot;
  }
  return code;
}

Result<core::ApplyResult> recorded(core::Session& session, const ChangeRequest& request, const std::string& spec,
                                   const std::function<Result<core::ApplyResult>()>& change) {
  const bool of_this_machine = session.host_config().live || (session.host_config().root == "/" && !request.image);
  if (!of_this_machine) return applied_to_image(session, request, spec, change);
  const History history(request.log_folder);
  const auto start = std::chrono::steady_clock::now();
  const auto nanoseconds = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string id = std::to_string(nanoseconds) + "-" + std::to_string(::getpid());
  Redactor redactor;
  const auto write = [&](const Json& event) {
    const Json shown = parse_foreign(redactor.redact(canonical(event)));
    if (const Status written = history.append(shown); !written)
      session.ui().log(core::Ui::Level::warning, "",
                       "the history of `slipway log` could not be written: " + written.error().what);
  };
  write(begun(session, request, spec, id));
  auto result = change();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  Json event{{"event", "end"}, {"id", id}, {"time", utc_now()}, {"seconds", static_cast<double>(took.count()) / 1000}};
  add_result(result, event);
  write(event);
  return result;
}

}  // namespace slipway::app
