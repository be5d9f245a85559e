// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <slipway/looks.hpp>

namespace slipway {
namespace {

constexpr unsigned kOffset = 32;  // bits of a part's size; its offset is above them

std::string seen_of(const Error& error) { return "error " + std::string(to_string(error.code)); }

std::string seen_of(const Result<std::string>& text) { return text ? "text " + *text : seen_of(text.error()); }

std::string seen_of(const Result<FileInfo>& found) {
  if (!found) return seen_of(found.error());
  const FileInfo& info = *found;
  std::string text = "info";
  for (const std::uint64_t number :
       {static_cast<std::uint64_t>(info.type), info.size_bytes, std::uint64_t{info.mode}, std::uint64_t{info.uid},
        std::uint64_t{info.gid}, std::uint64_t{info.device_major}, std::uint64_t{info.device_minor}})
    text += ' ' + std::to_string(number);
  return text;
}

std::string seen_of(const Result<std::vector<std::string>>& names) {
  if (!names) return seen_of(names.error());
  std::string text = "names";
  for (const std::string& name : *names) text += '/' + name;  // the one byte that no name has
  return text;
}

std::string hexadecimal(std::uint64_t number) {
  char text[16];
  const auto [end, problem] = std::to_chars(text, text + sizeof text, number, 16);
  return {text, end};
}

std::optional<std::uint64_t> from_hexadecimal(const std::string& text) {
  std::uint64_t number = 0;
  if (text.empty()) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// What a look of that kind sees now; empty: there is no such kind.
std::optional<std::string> look(const std::string& call, const std::string& path, std::uint64_t limit_bytes,
                                const Host& host) {
  if (call == "read") return seen_of(host.read(path, limit_bytes));
  if (call == "read_part")
    return seen_of(host.read_part(path, static_cast<std::uint32_t>(limit_bytes >> kOffset),
                                  static_cast<std::uint32_t>(limit_bytes)));
  if (call == "info") return seen_of(host.info(path));
  if (call == "read_link") return seen_of(host.read_link(path));
  if (call == "resolve") return seen_of(host.resolve(path));
  if (call == "list") return seen_of(host.list(path));
  if (call == "kernel_release") return seen_of(host.kernel_release());
  if (call == "arch") return "text " + host.arch();
  return std::nullopt;
}

/// One [call, path, limit, hash] still holds.
bool same_now(const Json& recorded, const LookKey& key, const Host& host) {
  if (!recorded.is_array() || recorded.size() != 4 || !recorded[0].is_string() || !recorded[1].is_string() ||
      !recorded[2].is_number_unsigned() || !recorded[3].is_string())
    return false;
  const auto then = from_hexadecimal(recorded[3].get<std::string>());
  const auto now =
      look(recorded[0].get<std::string>(), recorded[1].get<std::string>(), recorded[2].get<std::uint64_t>(), host);
  return then && now && siphash(key, *now) == *then;
}

}  // namespace

Json to_json(const LookKey& key) { return Json{hexadecimal(key[0]), hexadecimal(key[1])}; }

Result<LookKey> look_key_from_json(const Json& value) {
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
    const auto first = from_hexadecimal(value[0].get<std::string>());
    const auto second = from_hexadecimal(value[1].get<std::string>());
    if (first && second) return LookKey{*first, *second};
  }
  return Error{.code = ErrorCode::invalid, .what = "the key of the looks is not two hexadecimal numbers"};
}

Json WatchedHost::looks() const {
  if (!complete_) return nullptr;
  Json list = Json::array();
  for (const auto& [question, hash] : seen_)
    list.push_back({question.call, question.path, question.limit_bytes, hexadecimal(hash)});
  return list;
}

void WatchedHost::note(Question question, const std::string& seen) const {
  const std::uint64_t hash = siphash(key_, seen);
  const auto [at, is_new] = seen_.emplace(std::move(question), hash);
  if (!is_new && at->second != hash) complete_ = false;  // it changed while the component looked
}

std::string WatchedHost::root_folder() const {
  complete_ = false;
  return inner_.root_folder();
}

std::string WatchedHost::kernel_folder() const {
  complete_ = false;
  return inner_.kernel_folder();
}

std::string WatchedHost::arch() const {
  std::string name = inner_.arch();
  note({"arch", "", 0}, "text " + name);
  return name;
}

Result<std::string> WatchedHost::kernel_release() const {
  auto release = inner_.kernel_release();
  note({"kernel_release", "", 0}, seen_of(release));
  return release;
}

Result<std::string> WatchedHost::read(std::string_view path, std::size_t limit_bytes) const {
  auto content = inner_.read(path, limit_bytes);
  note({"read", std::string(path), limit_bytes}, seen_of(content));
  return content;
}

Result<std::string> WatchedHost::read_part(std::string_view path, std::uint32_t offset_bytes,
                                           std::uint32_t size_bytes) const {
  auto content = inner_.read_part(path, offset_bytes, size_bytes);
  note({"read_part", std::string(path), std::uint64_t{offset_bytes} << kOffset | size_bytes}, seen_of(content));
  return content;
}

Result<FileInfo> WatchedHost::info(std::string_view path) const {
  auto found = inner_.info(path);
  note({"info", std::string(path), 0}, seen_of(found));
  return found;
}

Result<std::string> WatchedHost::read_link(std::string_view path) const {
  auto target = inner_.read_link(path);
  note({"read_link", std::string(path), 0}, seen_of(target));
  return target;
}

Result<std::string> WatchedHost::resolve(std::string_view path) const {
  auto whole = inner_.resolve(path);
  note({"resolve", std::string(path), 0}, seen_of(whole));
  return whole;
}

Result<std::vector<std::string>> WatchedHost::list(std::string_view path) const {
  auto names = inner_.list(path);
  note({"list", std::string(path), 0}, seen_of(names));
  return names;
}

Status WatchedHost::opens(std::string_view path) const {
  complete_ = false;  // opening a device again could load a module
  return inner_.opens(path);
}

Result<ProcessOutput> WatchedHost::run(const std::vector<std::string>& argv, std::chrono::milliseconds limit) const {
  complete_ = false;
  return inner_.run(argv, limit);
}

Result<std::string> WatchedHost::secret(const Json& reference, std::size_t limit_bytes) const {
  complete_ = false;  // what is remembered is nothing of a secret's, not even a hash
  return inner_.secret(reference, limit_bytes);
}

bool looks_the_same(const Json& looks, const LookKey& key, const Host& host) {
  if (!looks.is_array()) return false;
  for (const Json& each : looks)
    if (!same_now(each, key, host)) return false;
  return true;
}

}  // namespace slipway
