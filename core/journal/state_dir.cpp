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

constexpr int kFormat = 3;
constexpr int kOldestFormat = 1;
constexpr std::string_view kWriter = SLIPWAY_VERSION;
constexpr std::string_view kFormatFile = "format";
constexpr std::string_view kOrigin = "origin.json";
constexpr std::string_view kProducts = "products.json";
constexpr std::string_view kFailing = "failing.json";
constexpr std::string_view kUnproven = "unproven.json";
constexpr std::string_view kCurrent = "generations/current";
constexpr std::string_view kJournal = "journal.sqlite";

std::string state_path(std::string_view rest) { return std::string(kStateDir) + "/" + std::string(rest); }
std::string component_file(const std::string& name) { return "components/" + name + ".json"; }
std::string generation_file(int number) { return "generations/" + std::to_string(number) + ".json"; }

constexpr std::size_t kMaxStateBytes = 16 << 20;  // a driver's record with all its links has about 100 KiB
constexpr std::size_t kMostNames = 1000;          // for components, and for records
constexpr int kLastGeneration = 1'000'000'000;    // numbering may continue after it

/// True for a file with invalid content: nothing is lost when it is set aside.
bool is_damage(const Error& error) {
  return error.code == ErrorCode::corrupt || error.code == ErrorCode::invalid || error.code == ErrorCode::io;
}

Result<std::string> read_text(const RootDir& root, const std::string& path) {
  SLIPWAY_CHECK(check_only_ours(root, path));
  auto text = read_regular(root, path, kMaxStateBytes);
  if (text || !is_damage(text.error())) return text;
  Error error = text.error();
  error.next = std::string(kRepairAdvice);
  return error;
}

Error damaged(const std::string& path, const std::string& how) {
  return Error{ErrorCode::corrupt, "the recorded state is " + how, path, std::string(kRepairAdvice), {}};
}

Result<Json> read_json(const RootDir& root, const std::string& path) {
  SLIPWAY_TRY(text, read_text(root, path));
  Json value = parse_foreign(text);
  if (!value.is_object()) return damaged(path, "not a JSON object, or nested too deep");
  return value;
}

/// Reads a member in the form that slipway writes. Errors: those of read_json(); `corrupt` for a member of another
/// type.
template <class T>
Result<T> read_record(const RootDir& root, const std::string& path, T (*made_of)(const Json&)) try {
  SLIPWAY_TRY(value, read_json(root, path));
  return made_of(value);
} catch (const Json::exception& problem) {
  return damaged(path, std::string("none of slipway's: ") + problem.what());
}

using Is = bool (*)(const Json&);

bool is_text(const Json& value) { return value.is_string(); }
bool is_number(const Json& value) { return value.is_number_integer(); }
bool is_flag(const Json& value) { return value.is_boolean(); }
bool is_list_of(const Json& value, Is is) { return value.is_array() && std::ranges::all_of(value, is); }
bool is_texts(const Json& value) { return is_list_of(value, is_text); }
bool is_objects(const Json& value) {
  return is_list_of(value, [](const Json& each) { return each.is_object(); });
}
bool is_keys(const Json& value) {
  return is_list_of(value, [](const Json& each) { return each.is_object() && is_texts(each.value("key", Json())); });
}

struct Member {
  const char* name;
  Is is;
};

/// True for an object whose listed members have the right types.
template <std::size_t N>
bool fits(const Json& value, const Member (&members)[N]) {
  return value.is_object() && std::ranges::all_of(members, [&](const Member& member) {
           const auto found = value.find(member.name);
           return found == value.end() || member.is(*found);
         });
}

/// The members of an action, a record and an image that the kinds of actions read (sdk/slipway/action.hpp,
/// core/action).
constexpr Member kOfActions[]{{"content", is_text},  {"owner", is_text},       {"group", is_text},
                              {"on_drift", is_text}, {"points_to", is_text},   {"format", is_text},
                              {"because", is_text},  {"mode", is_number},      {"minor", is_number},
                              {"enabled", is_flag},  {"started", is_flag},     {"triggers", is_texts},
                              {"argv", is_texts},    {"parameters", is_texts}, {"layers", is_objects}};
constexpr Member kOfRecords[]{{"links", is_texts}, {"keys", is_keys}, {"mode", is_number}, {"digest", is_text}};
constexpr Member kOfImages[]{
    {"type", is_text}, {"mode", is_number}, {"uid", is_number}, {"gid", is_number}, {"keys", is_objects}};
constexpr Member kOfFailures[]{{"state", is_text},       {"error", is_text},      {"reason", is_text},
                               {"unreachable", is_flag}, {"blocked_by", is_text}, {"findings", is_objects},
                               {"do", is_text}};
constexpr Member kOfFindings[]{{"name", is_text}, {"text", is_text}, {"remedy", is_text}, {"status", is_text}};

/// Returns an ownership without a component when a member has a form that slipway does not write.
Ownership whole_ownership(const Json& value) {
  Ownership owned = ownership_from_json(value);
  for (const Owned& item : owned.items)
    if (item.action.kind().empty() || item.action.target().empty() || !fits(item.action.json(), kOfActions) ||
        !(item.record.is_null() || fits(item.record, kOfRecords)) || !fits(item.original, kOfImages))
      return {};
  return owned.outputs.is_object() ? owned : Ownership{};
}

/// Names and versions appear in messages and in suggested commands. A hostile image may contain arbitrary text.
bool is_plain(std::string_view text, std::size_t most) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~-";
  return text.size() <= most && text.find_first_not_of(kPlain) == std::string_view::npos;
}

bool has_plain_names(const Json& by_component) {
  for (const auto& [name, value] : by_component.items())
    if (!is_plain(name, 64)) return false;
  return true;
}

bool is_whole(const Generation& generation) {
  const Json spec = generation.spec.is_object() ? generation.spec.value("spec", Json::object()) : Json();
  const Json components = spec.is_object() ? spec.value("components", Json::object()) : Json();
  constexpr Member kOfPlugins[]{{"version", is_text}, {"digest", is_text}};
  return components.is_object() && generation.plugins.is_object() && generation.plugins.size() <= kMostNames &&
         generation.left_out.size() <= kMostNames && generation.before >= 0 && has_plain_names(components) &&
         has_plain_names(generation.plugins) && std::ranges::all_of(generation.plugins, [&](const Json& each) {
           return fits(each, kOfPlugins) && is_plain(each.value("version", ""), 128);
         });
}

bool is_failure(const Json& value) {
  return fits(value, kOfFailures) && std::ranges::all_of(value.value("findings", Json::array()),
                                                         [](const Json& each) { return fits(each, kOfFindings); });
}

Image image_of(const Json& value) { return to_json(path_image_from_json(value)); }

/// Returns the names in a state folder without their ".json", sorted; empty when the folder is missing.
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

/// The author of an image may have left any number of records, and all of them are loaded into memory at once.
Status check_size(const RootDir& root, const std::string& folder, const std::vector<std::string>& names) {
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    const auto file = root.open_at(folder + "/" + name + ".json", O_PATH);
    struct stat info {};
    if (file && ::fstat(file->get(), &info) == 0) bytes += static_cast<std::uint64_t>(info.st_size);
  }
  if (names.size() <= kMostNames && bytes <= kMaxStateBytes) return {};
  return Error{ErrorCode::corrupt,
               "the recorded state has " + std::to_string(names.size()) + " records of " + std::to_string(bytes) +
                   " bytes, which is too much",
               folder,
               "move away the files there that slipway has not made",
               {}};
}

std::optional<int> to_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number <= 0 || number > kLastGeneration || std::to_string(number) != text)
    return std::nullopt;
  return number;
}

/// The file `format`: "3 0.1.0\n".
struct WrittenFormat {
  int number = 0;  ///< 0: unreadable
  std::string version;
};

WrittenFormat parse_format(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t blank = text.find(' ');
  const int number = to_number(text.substr(0, blank)).value_or(0);
  return {number, blank == std::string::npos ? "" : text.substr(blank + 1)};
}

Error unknown_format(const WrittenFormat& found) {
  const std::string writer = found.version.empty() ? "another slipway" : "slipway " + found.version;
  return Error{ErrorCode::unsupported,
               "the state of this root was written by " + writer + " (format " + std::to_string(found.number) +
                   "; this slipway, " + std::string(kWriter) + ", knows " + std::to_string(kOldestFormat) + " to " +
                   std::to_string(kFormat) + ")",
               state_path(kFormatFile),
               found.version.empty()
                   ? "install the slipway that provisioned this root, or a later one; nothing was changed"
                   : "install slipway " + found.version + " or a later one; nothing was changed",
               {}};
}

}  // namespace

std::string StateDir::own_format() { return std::to_string(kFormat) + " " + std::string(kWriter) + "\n"; }

bool StateDir::exists() const {
  return !closed_ && root_.root().open_at(state_path(kFormatFile), O_PATH | O_NOFOLLOW).ok();
}

bool StateDir::is_gone() const { return !exists() && !needs_sweep(root_, kStateDir); }

void StateDir::go_without_closed() {
  const auto folder = root_.root().open_at(kStateDir, O_RDONLY | O_DIRECTORY);
  closed_ = !folder && folder.error().code == ErrorCode::denied;
}

Status StateDir::check_format() const {
  if (closed_) return {};
  auto text = read_text(root_.root(), state_path(kFormatFile));
  if (!text && text.error().code == ErrorCode::not_found) return {};
  if (!text) return std::move(text).error();
  const WrittenFormat found = parse_format(*text);
  if (found.number >= kOldestFormat && found.number <= kFormat) return {};
  if (found.number != 0) return unknown_format(found);
  return leaves_out(kFormatFile) ? Status{} : damaged(state_path(kFormatFile), "written in an unknown format");
}

Result<std::map<std::string, Error>> StateDir::damage() const {
  std::map<std::string, Error> found;
  if (closed_) return found;
  const auto is_dangling = [&](std::string_view name) {  // a dangling link, which is in the way too
    return root_.root().open_at(state_path(name), O_PATH | O_NOFOLLOW).ok();
  };
  const auto look = [&](std::string_view name, const auto& read) -> Status {
    if (!read && read.error().code == ErrorCode::not_found && is_dangling(name))
      found.emplace(name, damaged(state_path(name), "a link to nothing"));
    if (read || read.error().code == ErrorCode::not_found) return {};
    if (!is_damage(read.error())) return read.error();
    found.emplace(name, read.error());
    return {};
  };
  SLIPWAY_CHECK(look(kFormatFile, check_format()));
  SLIPWAY_CHECK(look(kOrigin, origin()));
  SLIPWAY_CHECK(look(kProducts, products()));
  SLIPWAY_CHECK(look(kFailing, failing()));
  SLIPWAY_CHECK(look(kUnproven, unproven()));
  for (const char* folder : {"components", "generations"}) {
    SLIPWAY_TRY(names, names_in(root_.root(), state_path(folder)));
    SLIPWAY_CHECK(check_size(root_.root(), state_path(folder), names));
    for (const std::string& name : names) {
      const int number = folder[0] == 'g' ? to_number(name).value_or(0) : 0;
      if (folder[0] == 'c') SLIPWAY_CHECK(look(component_file(name), ownership(name)));
      if (number != 0) SLIPWAY_CHECK(look(generation_file(number), generation(number)));
    }
  }
  SLIPWAY_CHECK(look(kCurrent, current()));
  return found;
}

Status StateDir::check_whole() const {
  SLIPWAY_TRY(found, damage());
  for (const auto& [name, error] : found)  // an error of the active generation counts for `current` as well
    if (!leaves_out(name) && (name == kCurrent || !name.starts_with("generations/"))) return error;
  return {};
}

Status StateDir::go_around_damage() {
  left_out_.clear();
  SLIPWAY_TRY(found, damage());
  left_out_ = std::move(found);
  return {};
}

bool StateDir::leaves_out(std::string_view begin) const {
  const auto at = left_out_.lower_bound(std::string(begin));
  return at != left_out_.end() && at->first.starts_with(begin);
}

Result<std::map<std::string, Ownership>> StateDir::ownerships() const {
  std::map<std::string, Ownership> all;
  if (closed_) return all;
  SLIPWAY_TRY(names, names_in(root_.root(), state_path("components")));
  SLIPWAY_CHECK(check_size(root_.root(), state_path("components"), names));
  for (const std::string& name : names) {
    if (leaves_out(component_file(name))) continue;
    SLIPWAY_TRY(read, ownership(name));
    all.emplace(name, std::move(read));
  }
  return all;
}

Result<Ownership> StateDir::ownership(const std::string& component) const {
  const std::string path = state_path(component_file(component));
  SLIPWAY_TRY(read, read_record(root_.root(), path, whole_ownership));
  return read.component == component ? Result<Ownership>(std::move(read)) : damaged(path, "not of " + component);
}

Status StateDir::write_json(const std::string& name, const Json& value) {
  return leaves_out(name) ? Status{} : write_text(state_path(name), pretty(value));
}

Status StateDir::drop(std::string_view name) { return leaves_out(name) ? Status{} : root_.remove(state_path(name)); }

/// The new file gets its content on the disk before its name: a power cut must not leave an empty file of that name.
Status StateDir::write_text(const std::string& path, const std::string& text) {
  SLIPWAY_CHECK(root_.stage_file(path, text, 0600, 0, 0));
  SLIPWAY_CHECK(root_.sync());
  return root_.switch_in(path);
}

Status StateDir::keep_private() {
  if (!check_format()) return {};  // a later slipway's folder is not changed
  const auto folder = root_.root().open_at(kStateDir, O_RDONLY | O_DIRECTORY);
  struct stat info {};
  if (!folder || ::fstat(folder->get(), &info) != 0 || (info.st_mode & kPermissionBits) == kStateMode) return {};
  if (::fchmod(folder->get(), kStateMode) == 0 || errno == EROFS) return {};
  return system_error("close to other users", kStateDir, errno);
}

Status StateDir::prepare() {
  SLIPWAY_CHECK(check_only_ours(root_.root(), kStateDir));  // else the data written now would not be trusted later
  SLIPWAY_CHECK(keep_private());
  if (exists()) {
    SLIPWAY_CHECK(check_format());
    SLIPWAY_TRY(text, read_text(root_.root(), state_path(kFormatFile)));
    const WrittenFormat found = parse_format(std::move(text));
    return found.number == kFormat && found.version == kWriter ? Status{}
                                                               : write_text(state_path(kFormatFile), own_format());
  }
  SLIPWAY_CHECK(leave());  // completes an earlier attempt
  SLIPWAY_TRY(origin, root_.capture(kStateDir));
  if (!is_absent(origin)) return write_text(state_path(kFormatFile), own_format());
  const Status begun = bring_state_folder(
      root_, origin, {{std::string(kOrigin), pretty(origin)}, {std::string(kFormatFile), own_format()}});
  if (!begun) (void)sweep_folders(root_, kStateDir).ok();  // the first error is the one to report
  return begun;
}

Status StateDir::write(const Ownership& ownership) {
  return write_json(component_file(ownership.component), to_json(ownership));
}

Result<Json> StateDir::origin() const {
  SLIPWAY_TRY(origin, read_record(root_.root(), state_path(kOrigin), image_of));
  return is_absent(origin) ? Result<Image>(std::move(origin)) : damaged(state_path(kOrigin), "no folder's origin");
}

Result<std::map<std::string, Product>> StateDir::products() const {
  if (closed_ || leaves_out(kProducts)) return std::map<std::string, Product>{};
  auto read = read_record(root_.root(), state_path(kProducts), products_from_json);
  if (!read) return read.error().code == ErrorCode::not_found ? std::map<std::string, Product>{} : std::move(read);
  const auto is_whole = [](const auto& each) {
    return each.second.original.is_object() && !(each.second.trigger + each.second.store).empty();
  };
  return std::ranges::all_of(*read, is_whole)
             ? read
             : damaged(state_path(kProducts), "not a list of the files that triggers made");
}

Status StateDir::write_products(const std::map<std::string, Product>& products) {
  return products.empty() ? drop(kProducts) : write_json(std::string(kProducts), to_json(products));
}

Result<Json> StateDir::failing() const {
  if (closed_ || leaves_out(kFailing)) return Json(Json::object());
  auto value = read_json(root_.root(), state_path(kFailing));
  if (!value && value.error().code == ErrorCode::not_found) return Json(Json::object());
  if (!value) return value;
  if (value->size() <= kMostNames && std::ranges::all_of(*value, is_failure)) return value;
  return damaged(state_path(kFailing), "not a list of components that did not work");
}

Status StateDir::write_failing(const Json& failing) {
  return failing.empty() ? drop(kFailing) : write_json(std::string(kFailing), failing);
}

Result<UnprovenChange> StateDir::unproven() const {
  if (closed_ || leaves_out(kUnproven)) return UnprovenChange{};
  auto read = read_record(root_.root(), state_path(kUnproven), unproven_from_json);
  if (!read) return read.error().code == ErrorCode::not_found ? UnprovenChange{} : std::move(read);
  return has_store_names(*read) ? read : damaged(state_path(kUnproven), "not a change that waits for a boot");
}

Status StateDir::write_unproven(const UnprovenChange& change) {
  return change.is_empty() ? drop(kUnproven) : write_json(std::string(kUnproven), to_json(change));
}

Status StateDir::forget(const std::string& component) { return drop(component_file(component)); }

Result<std::vector<int>> StateDir::generations() const {
  if (closed_) return std::vector<int>{};
  SLIPWAY_TRY(names, names_in(root_.root(), state_path("generations")));
  std::vector<int> numbers;
  for (const std::string& name : names)
    if (const auto number = to_number(name); number && !leaves_out(generation_file(*number)))
      numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<Generation> StateDir::generation(int number) const {
  const std::string path = state_path(generation_file(number));
  auto found = read_record(root_.root(), path, generation_from_json);
  if (found && (found->number != number || !is_whole(*found)))
    return damaged(path, "not generation " + std::to_string(number));
  if (found || found.error().code != ErrorCode::not_found) return found;
  return Error{ErrorCode::not_found,
               "there is no generation " + std::to_string(number),
               state_path("generations"),
               "`slipway generations` lists the existing ones",
               {}};
}

Result<std::optional<Generation>> StateDir::current() const {
  if (closed_ || leaves_out(kCurrent)) return std::optional<Generation>{};
  auto text = read_text(root_.root(), state_path(kCurrent));
  if (!text && text.error().code == ErrorCode::not_found) return std::optional<Generation>{};
  if (!text) return std::move(text).error();
  while (!text->empty() && text->back() == '\n') text->pop_back();
  const auto number = to_number(*text);
  if (!number) return damaged(state_path(kCurrent), "not the number of a generation");
  auto found = generation(*number);
  if (found) return std::optional<Generation>(std::move(*found));
  if (found.error().code == ErrorCode::not_found)
    return damaged(state_path(kCurrent), "the number of a missing generation");
  return std::move(found).error();
}

Status StateDir::write_current(const Generation& generation) {
  if (const auto at = left_out_.find(generation_file(generation.number)); at != left_out_.end()) return at->second;
  SLIPWAY_CHECK(write_json(generation_file(generation.number), to_json(generation)));
  return write_text(state_path(kCurrent), std::to_string(generation.number) + "\n");
}

Status StateDir::forget_generation(int number) { return root_.remove(state_path(generation_file(number))); }

Status StateDir::forget_current() { return drop(kCurrent); }

Status StateDir::tidy() {
  if (!left_out_.empty()) return {};  // the originals of unreadable records are unknown
  SLIPWAY_TRY(all, ownerships());
  std::set<std::string> digests;
  for (const auto& [name, ownership] : all)
    for (const Owned& item : ownership.items)
      for (const Json& images : {item.original, item.replaced}) collect_digests(images, digests);
  return Originals(root_).drop_unused(digests);
}

Status StateDir::leave() {
  SLIPWAY_CHECK(sweep_folders(root_, kStateDir));
  const auto folder = root_.root().open_at(kStateDir, O_RDONLY | O_DIRECTORY);
  if (!folder) return folder.error().code == ErrorCode::not_found ? Status{} : Status(folder.error());
  if (leaves_out("components/") || leaves_out(kProducts)) return {};
  SLIPWAY_TRY(all, ownerships());
  SLIPWAY_TRY(entries, folder_names(folder->get(), kStateDir));
  SLIPWAY_TRY(left, products());
  if (!all.empty() || !left.empty() || std::ranges::count(entries, kJournal) != 0) return {};
  const auto read = origin();
  // The origin shows which folders above are removed as well; without a readable one, only the state folder is.
  if (!read && read.error().code != ErrorCode::not_found && read.error().code != ErrorCode::corrupt)
    return read.error();
  SLIPWAY_CHECK(take_state_folder(root_, read.value_or(Json::object())));
  return read ? root_.restore(kStateDir, *read) : Status{};
}

namespace {

/// A rollback journal with such an ending names another journal, which SQLite would open and delete at any path
/// (SQLite's file format, "The Rollback Journal"; its pager's readSuperJournal()). Slipway attaches no database, so its
/// own journal never has this ending.
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

/// SQLite's log starts with its own number ("The WAL File Format"); otherwise SQLite treats it as empty. Zeros may be
/// left by a power cut while the tables were being created, before any step was recorded.
bool is_no_log(const Fd& file, off_t size) {
  constexpr off_t kTablesAlone = 32 + 7 * (24 + 4096);
  std::array<unsigned char, 4> begin{};
  if (::pread(file.get(), begin.data(), begin.size(), 0) != static_cast<ssize_t>(begin.size())) return false;
  begin[3] |= 1U;  // the byte order of its checksums
  const bool is_empty = begin == std::array<unsigned char, 4>{0, 0, 0, 1} && size <= kTablesAlone;
  return !is_empty && begin != std::array<unsigned char, 4>{0x37, 0x7f, 0x06, 0x83};
}

}  // namespace

Status StateDir::check_journal() const {
  off_t size = 0;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {  // SQLite reads each of them
    const std::string path = state_path(std::string(kJournal) + ending);
    SLIPWAY_CHECK(check_only_ours(root_.root(), path));
    const auto file = open_regular(root_.root(), path, O_NOFOLLOW);
    if (!file && file.error().code != ErrorCode::not_found) return file.error();
    if (file) SLIPWAY_CHECK(names_no_other(*file, path));
    struct stat info {};
    if (!file || ::fstat(file->get(), &info) != 0) continue;
    // SQLite deletes the log beside an empty file, and with it all that an apply has to undo. A rollback journal there
    // is left from a kill while the tables were being created: it is complete before the first step is written.
    const bool is_log = *ending != '\0' && ending != std::string_view("-journal");
    if (is_log && size == 0 && info.st_size > 0) return damaged(path, "a log without its journal");
    if (ending == std::string_view("-wal") && is_no_log(*file, info.st_size)) return damaged(path, "no journal's log");
    if (*ending == '\0') size = info.st_size;
  }
  return {};
}

std::string StateDir::journal_path() const {
  const std::string inside = root_.root().resolve(kStateDir).value_or(std::string(kStateDir));
  return (root_.root().folder() == "/" ? "" : root_.root().folder()) + inside + "/" + std::string(kJournal);
}

}  // namespace slipway::core
