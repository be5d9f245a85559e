// SPDX-License-Identifier: Apache-2.0
#include "core/journal/state_dir.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/trusted_owner.hpp>

#include "core/host/files.hpp"
#include "core/host/originals.hpp"
#include "core/journal/state_folder.hpp"

namespace slipway::core {
namespace {

constexpr int kFormat = 2;
constexpr int kOldestFormat = 1;
constexpr std::string_view kWriter = SLIPWAY_VERSION;
constexpr std::string_view kFormatFile = "format";
constexpr std::string_view kOrigin = "origin.json";
constexpr std::string_view kJournal = "journal.sqlite";

std::string state_path(std::string_view rest) { return std::string(kStateDir) + "/" + std::string(rest); }

constexpr std::size_t kMaxStateBytes = 64 << 20;  // a record of a driver with all its links has some 100 KiB

Result<std::string> read_text(const RootDir& root, const std::string& path) {
  SLIPWAY_CHECK(check_only_ours(root, path));
  auto text = read_regular(root, path, kMaxStateBytes);
  if (text || (text.error().code != ErrorCode::invalid && text.error().code != ErrorCode::io)) return text;
  Error error = text.error();
  error.next = "slipway made no such thing: remove it, or restore that file from a backup";
  return error;
}

Error damaged(const std::string& path, const std::string& how) {
  const std::string next = "restore that file from a backup; nothing was changed";
  return Error{ErrorCode::corrupt, "the recorded state is " + how, path, next, {}};
}

Result<Json> read_json(const RootDir& root, const std::string& path) {
  SLIPWAY_TRY(text, read_text(root, path));
  Json value = parse_foreign(text);
  if (value.is_discarded()) return damaged(path, "no JSON, or nests too deep");
  return value;
}

/// As slipway writes it. Errors: those of read_json(); `corrupt` a member is of another type.
template <class T>
Result<T> read_record(const RootDir& root, const std::string& path, T (*made_of)(const Json&)) try {
  SLIPWAY_TRY(value, read_json(root, path));
  return made_of(value);
} catch (const Json::exception& problem) {
  return damaged(path, std::string("none of slipway's: ") + problem.what());
}

/// The names in a state folder without their ".json", sorted; none when the folder is missing.
Result<std::vector<std::string>> names_in(const RootDir& root, const std::string& folder) {
  auto fd = root.open_at(folder, O_RDONLY | O_DIRECTORY);
  if (!fd && fd.error().code == ErrorCode::not_found) return std::vector<std::string>{};
  if (!fd) return fd.error();
  DIR* dir = ::fdopendir(fd->get());
  if (dir == nullptr) return system_error("read", folder, errno);
  fd->release();
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".json")) names.push_back(name.substr(0, name.size() - 5));
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

/// An image's author may have left any number of records: all of them are in memory at once.
Status check_size(const RootDir& root, const std::string& folder, const std::vector<std::string>& names) {
  constexpr std::size_t kMostRecords = 1000;
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    const auto file = root.open_at(folder + "/" + name + ".json", O_PATH);
    struct stat info {};
    if (file && ::fstat(file->get(), &info) == 0) bytes += static_cast<std::uint64_t>(info.st_size);
  }
  if (names.size() <= kMostRecords && bytes <= kMaxStateBytes) return {};
  return damaged(folder, std::to_string(names.size()) + " records of " + std::to_string(bytes) + " bytes, too many");
}

std::optional<int> to_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number <= 0) return std::nullopt;
  return number;
}

/// The file `format`: "2 0.1.0\n".
struct WrittenFormat {
  int number = 0;  ///< 0: not to be read
  std::string version;
};

std::string own_format() { return std::to_string(kFormat) + " " + std::string(kWriter) + "\n"; }

WrittenFormat parse_format(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t blank = text.find(' ');
  const int number = to_number(text.substr(0, blank)).value_or(0);
  return {number, blank == std::string::npos ? "" : text.substr(blank + 1)};
}

Error unknown_format(const WrittenFormat& found) {
  const std::string writer = found.version.empty() ? "another slipway" : "slipway " + found.version;
  const std::string format =
      found.number == 0 ? "a format that is no number" : "format " + std::to_string(found.number);
  return Error{
      ErrorCode::unsupported,
      "the state of this root was written by " + writer + " (" + format + "; this slipway, " + std::string(kWriter) +
          ", knows " + std::to_string(kOldestFormat) + " to " + std::to_string(kFormat) + ")",
      state_path(kFormatFile),
      found.version.empty() ? "install the slipway that provisioned this root, or a later one; nothing was changed"
                            : "install slipway " + found.version + " or a later one; nothing was changed",
      {}};
}

}  // namespace

bool StateDir::exists() const { return root_.root().open_at(state_path(kFormatFile), O_PATH | O_NOFOLLOW).ok(); }

Status StateDir::check_format() const {
  auto text = read_text(root_.root(), state_path(kFormatFile));
  if (!text && text.error().code == ErrorCode::not_found) return {};
  if (!text) return std::move(text).error();
  const WrittenFormat found = parse_format(*text);
  if (found.number >= kOldestFormat && found.number <= kFormat) return {};
  return unknown_format(found);
}

Result<std::map<std::string, Ownership>> StateDir::ownerships() const {
  std::map<std::string, Ownership> all;
  SLIPWAY_TRY(names, names_in(root_.root(), state_path("components")));
  SLIPWAY_CHECK(check_size(root_.root(), state_path("components"), names));
  for (const std::string& name : names) {
    const std::string path = state_path("components/" + name + ".json");
    SLIPWAY_TRY(ownership, read_record(root_.root(), path, ownership_from_json));
    all.emplace(name, std::move(ownership));
  }
  return all;
}

Status StateDir::write_json(const std::string& path, const Json& value) { return write_text(path, pretty(value)); }

/// The new name gets its content on the disk first: a power cut must not leave an empty file of that name.
Status StateDir::write_text(const std::string& path, const std::string& text) {
  SLIPWAY_CHECK(root_.stage_file(path, text, 0600, 0, 0));
  SLIPWAY_CHECK(root_.sync());
  return root_.switch_in(path);
}

Status StateDir::keep_private() {
  if (!check_format()) return {};  // it is not ours to change
  const auto folder = root_.root().open_at(kStateDir, O_RDONLY | O_DIRECTORY);
  struct stat info {};
  if (!folder || ::fstat(folder->get(), &info) != 0 || (info.st_mode & kPermissionBits) == kStateMode) return {};
  if (::fchmod(folder->get(), kStateMode) == 0 || errno == EROFS) return {};
  return system_error("close to other users", kStateDir, errno);
}

Status StateDir::prepare() {
  SLIPWAY_CHECK(check_only_ours(root_.root(), kStateDir));  // else what is written now would not be believed later
  SLIPWAY_CHECK(keep_private());
  if (exists()) {
    SLIPWAY_CHECK(check_format());
    SLIPWAY_TRY(text, read_text(root_.root(), state_path(kFormatFile)));
    const WrittenFormat found = parse_format(std::move(text));
    return found.number == kFormat && found.version == kWriter ? Status{}
                                                               : write_text(state_path(kFormatFile), own_format());
  }
  SLIPWAY_CHECK(leave());  // what an earlier try has begun
  SLIPWAY_TRY(origin, root_.capture(kStateDir));
  if (!is_absent(origin)) return write_text(state_path(kFormatFile), own_format());
  const Status begun = bring_state_folder(
      root_, origin, {{std::string(kOrigin), pretty(origin)}, {std::string(kFormatFile), own_format()}});
  if (!begun) (void)sweep_state_folder(root_).ok();  // the first error is the one to tell
  return begun;
}

Status StateDir::write(const Ownership& ownership) {
  return write_json(state_path("components/" + ownership.component + ".json"), to_json(ownership));
}

Result<std::map<std::string, Product>> StateDir::products() const {
  auto products = read_record(root_.root(), state_path("products.json"), products_from_json);
  return products || products.error().code != ErrorCode::not_found ? products : std::map<std::string, Product>{};
}

Status StateDir::write_products(const std::map<std::string, Product>& products) {
  if (products.empty()) return root_.remove(state_path("products.json"));
  return write_json(state_path("products.json"), to_json(products));
}

Result<Json> StateDir::failing() const {
  auto value = read_json(root_.root(), state_path("failing.json"));
  if (!value && value.error().code == ErrorCode::not_found) return Json(Json::object());
  if (value ? value->is_object() : value.error().code != ErrorCode::corrupt) return value;
  return Error{ErrorCode::corrupt,
               "the record of the components that did not work is damaged",
               state_path("failing.json"),
               "remove that file; `slipway verify` then says what does not work",
               {}};
}

Status StateDir::write_failing(const Json& failing) {
  if (failing.empty()) return root_.remove(state_path("failing.json"));
  return write_json(state_path("failing.json"), failing);
}

Status StateDir::forget(const std::string& component) {
  return root_.remove(state_path("components/" + component + ".json"));
}

Result<std::vector<int>> StateDir::generations() const {
  SLIPWAY_TRY(names, names_in(root_.root(), state_path("generations")));
  std::vector<int> numbers;
  for (const std::string& name : names)
    if (const auto number = to_number(name)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<Generation> StateDir::generation(int number) const {
  const std::string path = state_path("generations/" + std::to_string(number) + ".json");
  auto found = read_record(root_.root(), path, generation_from_json);
  if (found || found.error().code != ErrorCode::not_found) return found;
  return Error{ErrorCode::not_found,
               "there is no generation " + std::to_string(number),
               state_path("generations"),
               "`slipway status -o json` lists those that there are",
               {}};
}

Result<std::optional<Generation>> StateDir::current() const {
  auto text = read_text(root_.root(), state_path("generations/current"));
  if (!text && text.error().code == ErrorCode::not_found) return std::optional<Generation>{};
  if (!text) return std::move(text).error();
  while (!text->empty() && text->back() == '\n') text->pop_back();
  const auto number = to_number(*text);
  if (!number)
    return Error{ErrorCode::corrupt,
                 "the record of the generation in force is no number",
                 state_path("generations/current"),
                 "write the number of the last file beside it there",
                 {}};
  SLIPWAY_TRY(found, generation(*number));
  return std::optional<Generation>(std::move(found));
}

Status StateDir::write_current(const Generation& generation) {
  SLIPWAY_CHECK(
      write_json(state_path("generations/" + std::to_string(generation.number) + ".json"), to_json(generation)));
  return write_text(state_path("generations/current"), std::to_string(generation.number) + "\n");
}

Status StateDir::forget_generation(int number) {
  return root_.remove(state_path("generations/" + std::to_string(number) + ".json"));
}

Status StateDir::forget_current() { return root_.remove(state_path("generations/current")); }

Status StateDir::tidy() {
  SLIPWAY_TRY(all, ownerships());
  std::set<std::string> digests;
  for (const auto& [name, ownership] : all)
    for (const Owned& item : ownership.items)
      for (const Json& images : {item.original, item.replaced}) collect_digests(images, digests);
  return Originals(root_).drop_unused(digests);
}

Status StateDir::leave() {
  SLIPWAY_CHECK(sweep_state_folder(root_));
  const auto folder = root_.root().open_at(kStateDir, O_RDONLY | O_DIRECTORY);
  if (!folder) return folder.error().code == ErrorCode::not_found ? Status{} : Status(folder.error());
  SLIPWAY_TRY(all, ownerships());
  SLIPWAY_TRY(entries, folder_names(folder->get(), kStateDir));
  if (!all.empty() || std::ranges::count(entries, kJournal) != 0) return {};
  const auto read = read_json(root_.root(), state_path(kOrigin));
  // One that is there and cannot be read today still says which folders above are to go as well.
  if (!read && read.error().code != ErrorCode::not_found && read.error().code != ErrorCode::corrupt)
    return read.error();
  const Json origin = read.value_or(Json{});
  SLIPWAY_CHECK(take_state_folder(root_, origin.is_object() ? origin : Json::object()));
  return origin.is_object() ? root_.restore(kStateDir, origin) : Status{};
}

namespace {

/// A rollback journal that ends so names another one, which SQLite would open and remove wherever it is (SQLite's file
/// format, "The Rollback Journal"; its pager's readSuperJournal()). Slipway attaches no database, so its own never
/// does.
Status names_no_other(const Fd& file, const std::string& path) {
  constexpr std::string_view kEnd("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  struct stat info {};
  std::array<char, kEnd.size()> end{};
  const auto size = static_cast<off_t>(end.size());
  if (::fstat(file.get(), &info) != 0 || info.st_size < size) return {};
  if (::pread(file.get(), end.data(), end.size(), info.st_size - size) != size)
    return system_error("read", path, errno);
  if (std::string_view(end.data(), end.size()) != kEnd) return {};
  return damaged(path, "a journal that names a file elsewhere");
}

}  // namespace

Status StateDir::check_journal() const {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {  // SQLite reads each of them
    const std::string path = state_path(std::string(kJournal) + ending);
    SLIPWAY_CHECK(check_only_ours(root_.root(), path));
    const auto file = open_regular(root_.root(), path, O_NOFOLLOW);
    if (!file && file.error().code != ErrorCode::not_found) return file.error();
    if (file) SLIPWAY_CHECK(names_no_other(*file, path));
  }
  return {};
}

std::string StateDir::journal_path() const {
  const std::string inside = root_.root().resolve(kStateDir).value_or(std::string(kStateDir));
  return (root_.root().folder() == "/" ? "" : root_.root().folder()) + inside + "/" + std::string(kJournal);
}

}  // namespace slipway::core
