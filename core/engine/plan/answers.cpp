// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/answers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>
#include <slipway/write/new_file.hpp>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;
constexpr std::size_t kLongestFile = std::size_t{16} << 20U;
constexpr std::size_t kMostAnswers = 64;  // in one file: detect, plan, and a check for each custom action
constexpr std::size_t kMostFiles = 256;   // of all roots: a pipeline that names each root anew must not fill the disk

LookKey new_key() {
  LookKey key{};
  if (::getrandom(key.data(), sizeof key, 0) != static_cast<ssize_t>(sizeof key)) return {};
  return key;
}

/// The file, when it is whole and nobody but root and the caller could have written it.
std::string read_own_file(const std::string& path) {
  const auto real = safe_path(path);
  return real ? read_regular(*real, kLongestFile, O_NOFOLLOW).value_or("") : std::string();
}

/// Volatile facts hold for one moment (Facts::set_volatile).
bool is_volatile(const Json& reply) { return reply.is_object() && reply.contains("volatile"); }

bool has_looks(const Json& answer) {
  return answer.is_object() && answer.size() == 2 && answer.contains("reply") && answer.contains("looks");
}

std::string hexadecimal(std::uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

void drop_oldest(const std::string& folder) {
  std::error_code problem;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
    std::error_code gone;
    const auto time = entry->last_write_time(gone);
    if (!gone) files.emplace_back(time, entry->path());
  }
  if (files.size() <= kMostFiles) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size() - kMostFiles; ++i) fs::remove(files[i].second, problem);
}

}  // namespace

Answers::Answers(std::string folder, const HostConfig& host, std::string scratch)
    : folder_(std::move(folder)), host_(host), scratch_(std::move(scratch)) {}

Answers::~Answers() {
  std::error_code problem;
  bool wrote = false;
  for (const auto& [component, shelf] : shelves_) {
    if (!shelf.changed) continue;
    if (fs::create_directories(folder_, problem)) fs::permissions(folder_, fs::perms::owner_all, problem);
    const auto real = problem ? Result<std::string>(Error{}) : safe_path(folder_);
    if (!real) return;
    const auto folder = RootDir::open(*real);
    const std::string path = file_of(component);
    const Json file{{"format", kFormat}, {"key", slipway::to_json(shelf.key)}, {"answers", shelf.answers}};
    if (folder && replace_file(*folder, path.substr(path.rfind('/')), canonical(file))) wrote = true;
  }
  if (wrote) drop_oldest(folder_);
}

std::string Answers::file_of(const std::string& component) const {
  constexpr LookKey kNoSecret{};  // only a name: the whole root stands in the question
  return folder_ + "/" + component + "-" + hexadecimal(siphash(kNoSecret, host_.root)) + ".json";
}

std::string Answers::text_of(const Question& question) const {
  std::string text = canonical(Json{{"request", question.request}, {"asked of", question.asked_of}});
  if (scratch_.empty()) return text;
  for (std::size_t at = 0; (at = text.find(scratch_, at)) != std::string::npos;) text.erase(at, scratch_.size());
  return text;
}

Answers::Shelf& Answers::shelf_of(const std::string& component) {
  const auto [at, is_new] = shelves_.try_emplace(component);
  Shelf& shelf = at->second;
  if (!is_new) return shelf;
  const std::string text = read_own_file(file_of(component));
  const Json file = text.empty() ? Json() : parse_foreign(text);
  if (file.is_object() && file.value("format", Json()) == kFormat && file.value("answers", Json()).is_object())
    if (const auto key = look_key_from_json(file.value("key", Json()))) {
      shelf.key = *key;
      shelf.answers = file["answers"];
      return shelf;
    }
  shelf.key = new_key();
  return shelf;
}

void Answers::keep(const std::string& component, const std::string& slot, Json answer) {
  const std::scoped_lock lock(mutex_);
  Shelf& shelf = shelf_of(component);
  if (!answer.is_null()) {
    if (shelf.answers.size() >= kMostAnswers && !shelf.answers.contains(slot)) shelf.answers = Json::object();
    shelf.answers[slot] = std::move(answer);
    shelf.changed = true;
  } else if (shelf.answers.erase(slot) > 0) {
    shelf.changed = true;
  }
}

void Answers::forget(const std::string& component) {
  const std::scoped_lock lock(mutex_);
  Shelf& shelf = shelf_of(component);
  shelf.changed = shelf.changed || !shelf.answers.empty();
  shelf.answers = Json::object();
}

Result<Json> Answers::get(const Question& question, const Ask& ask) {
  LookKey key{};
  Json kept;
  {
    const std::scoped_lock lock(mutex_);
    const Shelf& shelf = shelf_of(question.component);
    key = shelf.key;
    kept = shelf.answers.value(question.slot, Json());
  }
  const std::string asked = hexadecimal(siphash(key, text_of(question)));
  if (kept.is_object() && kept.value("question", Json()) == asked && kept.contains("reply") &&
      (!question.looks_at_host || still_sees(kept.value("looks", Json()), key)))
    return kept["reply"];
  Json request = question.request;
  if (question.looks_at_host) request["looks"] = slipway::to_json(key);
  auto answer = ask(request);
  Json fresh;
  if (answer && !question.looks_at_host) {
    fresh = {{"question", asked}, {"reply", *answer}};
  } else if (answer && has_looks(*answer)) {  // a plugin of an older SDK gives none, and is asked each time
    Json reply = std::move((*answer)["reply"]);
    Json looks = std::move((*answer)["looks"]);
    if (looks.is_array() && !is_volatile(reply))
      fresh = {{"question", asked}, {"looks", std::move(looks)}, {"reply", reply}};
    answer = std::move(reply);
  }
  keep(question.component, question.slot, std::move(fresh));
  return answer;
}

bool Answers::still_sees(const Json& looks, const LookKey& key) const {
  const auto host = open_host(host_);
  return host && looks_the_same(looks, key, **host);
}

std::string file_identity(const std::string& path) {
  struct stat info {};
  std::string text = path;
  if (::stat(path.c_str(), &info) != 0) return text;
  for (const auto number :
       {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino),
        static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
        static_cast<std::int64_t>(info.st_mtim.tv_nsec), static_cast<std::int64_t>(info.st_ctim.tv_sec),
        static_cast<std::int64_t>(info.st_ctim.tv_nsec)})
    text += ' ' + std::to_string(number);
  return text;
}

std::string environment_text(const std::vector<std::string>& further) {
  static const std::set<std::string> kOfTheMoment{"_",
                                                  "PWD",
                                                  "OLDPWD",
                                                  "SHLVL",
                                                  "COLUMNS",
                                                  "LINES",
                                                  "INVOCATION_ID",
                                                  "JOURNAL_STREAM",
                                                  "NOTIFY_SOCKET",
                                                  "WATCHDOG_PID",
                                                  "SYSTEMD_EXEC_PID",
                                                  "SLIPWAY_LOG"};
  std::set<std::string> entries(further.begin(), further.end());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (!kOfTheMoment.contains(variable.substr(0, variable.find('=')))) entries.insert(variable);
  }
  std::string text = std::to_string(::geteuid());
  for (const std::string& entry : entries) text += '\n' + entry;
  return text;
}

}  // namespace slipway::core
