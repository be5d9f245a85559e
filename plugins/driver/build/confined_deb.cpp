// SPDX-License-Identifier: Apache-2.0
#include "driver/build/confined_deb.hpp"

#include <cerrno>
#include <filesystem>

#include <linux/capability.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>
#include <slipway/regular_file.hpp>

#include "base/confine/powers.hpp"
#include "base/write/new_file.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kMostAnswerBytes = 64U << 20;  // a list of the files of a package

Status give_up_powers(const std::string& into) {
  SLIPWAY_CHECK(base::limit_writes_to(into.empty() ? std::vector<std::string>{} : std::vector{into}));
  // The folder with the packages may belong to another user, and a package's folders may be closed to their owner.
  const base::PowersLeft left = base::take_powers(
      {.capabilities = {CAP_DAC_OVERRIDE, CAP_FOWNER}, .programs = false, .network = false, .uncharged_memory = false});
  if (!left.what.empty()) return system_error(left.what, "the reader of a Debian package", left.number);
  return {};
}

Json answer_of(const std::string& into, const std::function<Result<Json>()>& work) {
  if (const Status given = give_up_powers(into); !given) return {{"error", to_json(given.error())}};
  const Result<Json> answer = work();
  return answer ? Json{{"answer", *answer}} : Json{{"error", to_json(answer.error())}};
}

[[noreturn]] void answer_and_end(int line, const std::string& into, const std::function<Result<Json>()>& work) {
  (void)base::write_all(line, canonical(answer_of(into, work)), "the answer");
  ::_exit(0);
}

Json json_of(const DebInfo& info) {
  return {{"package", info.package}, {"version", info.version}, {"architecture", info.architecture},
          {"depends", info.depends}, {"exactly", info.exactly}, {"installed_bytes", info.installed_bytes}};
}

DebInfo info_from(const std::string& file, const Json& value) {
  return {.file = file,
          .package = value.value("package", ""),
          .version = value.value("version", ""),
          .architecture = value.value("architecture", ""),
          .depends = value.value("depends", std::vector<std::string>{}),
          .exactly = value.value("exactly", std::map<std::string, std::string>{}),
          .installed_bytes = value.value("installed_bytes", std::uint64_t{0})};
}

Error broken(const std::string& what) {
  return {ErrorCode::corrupt, "the reader of a Debian package " + what, {}, "use the packages of Debian", {}};
}

}  // namespace

Result<Json> in_confined_process(const std::string& into, const std::function<Result<Json>()>& work) {
  std::error_code code;
  if (!into.empty()) std::filesystem::create_directories(into, code);
  if (code) return system_error("make the folder", into, code.value());
  SLIPWAY_TRY(line, make_pipe());
  const pid_t child = ::fork();
  if (child < 0) return system_error("start", "the reader of a Debian package", errno);
  if (child == 0) answer_and_end(line.write.get(), into, work);
  line.write = Fd();
  const ChildResult result =
      await_child({child, std::move(line.read), {}}, {.most_bytes = kMostAnswerBytes, .ends_flood = true});
  if (result.end == ChildResult::End::flooded) return broken("gave an endless answer");
  if (result.status != 0) return broken("was ended by " + ending_of(result.status));
  const Json answer = parse_foreign(result.output);
  if (!answer.is_object()) return broken("gave no answer");
  if (answer.contains("error")) return error_from_json(answer["error"]);
  return answer.value("answer", Json());
}

Result<DebInfo> read_deb_info_confined(const std::string& file) {
  const auto read = [&]() -> Result<Json> {
    SLIPWAY_TRY(info, read_deb_info(file));
    return json_of(info);
  };
  SLIPWAY_TRY(answer, in_confined_process({}, read));
  try {
    return info_from(file, answer);
  } catch (const Json::exception&) {
    return broken("gave an answer of the wrong form");
  }
}

Status unpack_deb_confined(const std::string& file, const std::string& into, const DebPaths& paths,
                           std::vector<std::string>* left_out) {
  const auto unpack = [&]() -> Result<Json> {
    std::vector<std::string> others;
    SLIPWAY_CHECK(unpack_deb(file, into, paths, &others));
    return Json(others);
  };
  SLIPWAY_TRY(others, in_confined_process(into, unpack));
  if (left_out == nullptr || !others.is_array()) return {};
  for (const Json& path : others)
    if (path.is_string()) left_out->push_back(path);
  return {};
}

}  // namespace slipway::driver
