// SPDX-License-Identifier: Apache-2.0
#include "base/write/paused_commands.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "base/write/lock_file.hpp"
#include "base/write/new_file.hpp"

namespace slipway::base {
namespace {

using Moment = std::chrono::steady_clock::time_point;

constexpr const char* kPausedFolder = "/run/slipway";
constexpr const char* kPausedName = "paused.json";
constexpr std::size_t kMostCommands = 64;
constexpr std::size_t kLongestCommand = 4096;
constexpr std::size_t kMostPausedBytes = std::size_t{1} << 20U;

std::int64_t milliseconds_of(Moment moment) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(moment.time_since_epoch()).count();
}

Json to_json(const PausedCommand& command) {
  return {{"words", command.words}, {"exitCode", command.exit_code}, {"endedMs", milliseconds_of(command.ended)}};
}

std::optional<PausedCommand> command_from_json(const Json& json) {
  PausedCommand command;
  if (!json.is_object() || !json.contains("words") || !json["words"].is_array()) return std::nullopt;
  for (const Json& word : json["words"]) {
    if (!word.is_string()) return std::nullopt;
    command.words.push_back(word.get<std::string>());
  }
  const Json code = json.value("exitCode", Json());
  const Json ended = json.value("endedMs", Json());
  if (!code.is_number_integer() || !ended.is_number_integer()) return std::nullopt;
  command.exit_code = code.get<int>();
  // A time in the future is invalid.
  const std::int64_t now = milliseconds_of(std::chrono::steady_clock::now());
  const std::int64_t when = ended.get<std::int64_t>();
  if (when < 0 || when > now) return std::nullopt;
  command.ended = Moment(std::chrono::milliseconds(when));
  return command;
}

}  // namespace

std::string this_boot() {
  constexpr std::size_t kMost = 128;
  return std::string(trimmed(read_regular("/proc/sys/kernel/random/boot_id", kMost).value_or("")));
}

std::vector<PausedCommand> read_paused_commands(const RootDir& root) {
  std::vector<PausedCommand> commands;
  const Json file = parse_foreign(read_trusted(root, kPausedFile, kMostPausedBytes).value_or(""));
  if (!file.is_object() || file.value("boot", Json()) != this_boot()) return commands;
  const Json listed = file.value("commands", Json());
  if (!listed.is_array()) return commands;
  for (const Json& each : listed) {
    if (commands.size() >= kMostCommands) break;
    if (auto command = command_from_json(each)) commands.push_back(*std::move(command));
  }
  return commands;
}

Status record_paused_command(const RootDir& root, const PausedCommand& command) {
  std::size_t bytes = 0;
  for (const std::string& word : command.words) bytes += word.size() + 1;
  if (bytes > kLongestCommand) return {};
  const auto lock = LockFile::take(root, "/run/slipway/lock", "paused.lock");
  if (!lock) return lock.error();
  Json commands = Json::array();
  const auto before = read_paused_commands(root);
  const std::size_t dropped = before.size() < kMostCommands ? 0 : before.size() - kMostCommands + 1;
  for (std::size_t i = dropped; i < before.size(); ++i) commands.push_back(to_json(before[i]));
  commands.push_back(to_json(command));
  SLIPWAY_TRY(folder, root.open_at(kPausedFolder, O_RDONLY | O_DIRECTORY));
  constexpr unsigned kForRoot = 0600;
  return write_and_rename(folder.get(), std::string(kPausedName) + kNewSuffix, kPausedName, kPausedFile,
                          NewFile::ours(kForRoot), [&commands](int fd) {
                            const Json file{{"apiVersion", "slipway.dev/v1"},
                                            {"kind", "PausedCommands"},
                                            {"boot", this_boot()},
                                            {"commands", commands}};
                            return write_all(fd, pretty(file), kPausedFile);
                          });
}

}  // namespace slipway::base
