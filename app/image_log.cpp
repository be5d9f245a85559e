// SPDX-License-Identifier: Apache-2.0
#include "app/image_log.hpp"

#include <algorithm>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "core/engine/root_lock.hpp"
#include "core/host/files.hpp"
#include "core/journal/state_folder.hpp"

namespace slipway::app {
namespace {

constexpr const char* kLogFolder = "/var/log/slipway";
constexpr const char* kNewestLog = "/var/log/slipway/history.jsonl";
constexpr int kLogFiles = 4;                               // the same number as on a machine
constexpr std::size_t kFullBytes = std::size_t{1} << 20U;  // the size of a full file on a machine
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;  // a machine's last line may be long
constexpr const char* kMade = "made";

Result<std::string> text_of(const RootDir& root, int age) {
  auto text = read_regular(root, kNewestLog + (age == 0 ? "" : "." + std::to_string(age)), kMostBytes, O_NOFOLLOW);
  return text || text.error().code != ErrorCode::not_found ? text : Result<std::string>(std::string());
}

/// Adds the newest events of a log, newest first, at most `most`.
void add_newest(std::string_view text, std::size_t most, std::vector<Json>& events) {
  while (!text.empty() && events.size() < most) {
    const std::size_t start = text.rfind('\n') + 1;  // 0 when there is no line end
    const std::string_view line = text.substr(start);
    if (Json event = line.empty() ? Json() : parse_foreign(line); event.is_object()) events.push_back(std::move(event));
    text = text.substr(0, start == 0 ? 0 : start - 1);
  }
}

/// Keeps as many of the newest lines as a machine's log has room for, and always the last one. Every line ends with a
/// newline.
void drop_oldest(std::string& text) {
  if (text.size() <= kFullBytes) return;
  const std::size_t least = text.size() - kFullBytes;  // bytes to drop
  const std::size_t next = text.find('\n', least - 1) + 1;
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;  // 0 when it is the only line
  text.erase(0, std::min(next, last));
}

bool is_of_an_image(const Json& event) { return event.value("event", Json()) == kImageEvent; }

/// Returns the folders down to the log that slipway creates, outermost first.
Json folders_to_make(core::Session& session) {
  const auto origin = session.state().origin();
  const auto ours = origin ? core::path_image_from_json(*origin).missing_parents : std::vector<std::string>{};
  Json made = Json::array();
  for (const char* folder : {"/var", "/var/log", kLogFolder})
    if (std::ranges::count(ours, folder) != 0 || !session.root().root().open_at(folder, O_PATH | O_DIRECTORY))
      made.push_back(folder);
  return made;
}

/// True when the root has no records any more, and no machine wrote to its log.
bool is_of_removed(core::Session& session, const std::vector<Json>& events) {
  return session.state().is_gone() && std::ranges::all_of(events, is_of_an_image);
}

/// True when the folder contains only the log.
Result<bool> holds_only_log(const RootDir& root) {
  SLIPWAY_TRY(folder, root.open_at(kLogFolder, O_RDONLY | O_DIRECTORY));
  SLIPWAY_TRY(names, core::folder_names(folder.get(), kLogFolder));
  return std::ranges::all_of(names, [](const std::string& name) { return name.starts_with("history.jsonl"); });
}

/// Removes the log in one step with the folders that its first event names and that contain nothing else: without the
/// log it is unknown which of them slipway created.
Status take_away(core::RootFs& root, const Json& first) {
  const Json made = first.value(kMade, Json::array());
  std::vector<std::string> own;
  for (const char* folder : {"/var", "/var/log", kLogFolder})
    if (std::ranges::count(made, Json(folder)) != 0) own.emplace_back(folder);
  SLIPWAY_TRY(alone, holds_only_log(root.root()));
  if (!alone || own.empty() || own.back() != kLogFolder)
    return root.restore(kNewestLog, core::to_json(core::PathImage{"absent"}));
  return core::take_folders(root, own);
}

}  // namespace

Result<std::vector<Json>> read_log_of(const RootDir& root) {
  std::vector<Json> events;
  for (int age = 0; age < kLogFiles; ++age) {
    SLIPWAY_TRY(text, text_of(root, age));
    add_newest(text, kMostEventsRead, events);
  }
  std::ranges::reverse(events);
  return events;
}

Status log_in_image(core::Session& session, Json event) {
  core::RootFs& root = session.root();
  SLIPWAY_TRY(lock, core::RootLock::take(session.host_config().root, session.host_config().live));
  SLIPWAY_TRY(text, text_of(root.root(), 0));
  std::vector<Json> events;
  add_newest(text, std::numeric_limits<std::size_t>::max(), events);
  if (is_of_removed(session, events)) {
    if (!events.empty()) SLIPWAY_CHECK(take_away(root, events.back()));
    return root.settle_directory_times();
  }
  if (events.empty()) event[kMade] = folders_to_make(session);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += canonical(event) + "\n";
  drop_oldest(text);
  if (!root.root().open_at(kLogFolder, O_PATH | O_DIRECTORY)) SLIPWAY_CHECK(root.make_directory(kLogFolder, 0750));
  SLIPWAY_CHECK(root.stage_file(kNewestLog, text, 0640, ::geteuid(), ::getegid()));
  SLIPWAY_CHECK(root.switch_in(kNewestLog));
  (void)lock;
  return root.settle_directory_times();
}

Status drop_log_of_removed(core::Session& session) {
  core::RootFs& root = session.root();
  if (!session.state().is_gone()) return {};
  SLIPWAY_TRY(lock, core::RootLock::take(session.host_config().root, session.host_config().live));
  SLIPWAY_CHECK(core::sweep_folders(root, kLogFolder));
  SLIPWAY_TRY(events, read_log_of(root.root()));
  if (events.empty() || !is_of_removed(session, events)) return {};
  SLIPWAY_CHECK(take_away(root, events.front()));
  (void)lock;
  return root.settle_directory_times();
}

}  // namespace slipway::app
