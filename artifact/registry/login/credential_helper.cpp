// SPDX-License-Identifier: Apache-2.0
// Runs docker-credential-NAME: a program that reads a server from standard input and prints user and secret as JSON.
#include <utility>

#include <unistd.h>

#include <slipway/process/child_process.hpp>

#include "artifact/oci/json_field.hpp"
#include "artifact/registry/login/credentials.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kMaxAnswer = 64UL << 10;

Error failed(const std::string& program, ErrorCode code, const std::string& why) {
  return Error{.code = code,
               .what = "the credential helper " + program + " " + why,
               .where = program,
               .next = "run it by hand, or log in without a credential helper"};
}

Error too_late(const std::string& program, std::chrono::seconds limit) {
  return failed(program, ErrorCode::timed_out, "did not end within " + std::to_string(limit.count()) + " s");
}

}  // namespace

Result<std::optional<Credentials>> ask_helper(const std::string& helper, const std::string& server,
                                              std::chrono::seconds limit) {
  const std::string program = "docker-credential-" + helper;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (helper.empty() || helper.find_first_not_of(kLetters) != std::string::npos)
    return failed(program, ErrorCode::invalid, "is not the name of a program");
  const auto result = run_child(
      {.argv = {program, "get"}, .environment = own_environment(), .descriptors = {kDevNull, kReadPipe, STDERR_FILENO}},
      {.limit = limit, .most_bytes = kMaxAnswer, .ends_flood = true}, server + "\n");
  if (!result && result.error().code == ErrorCode::not_found)
    return failed(program, ErrorCode::not_found, "cannot be started: it is not in PATH");
  if (!result) return failed(program, result.error().code, "cannot be run: " + result.error().what);
  if (result->end == ChildResult::End::flooded) return failed(program, ErrorCode::invalid, "answers without end");
  if (result->end != ChildResult::End::by_itself) return too_late(program, limit);
  const std::string& answer = result->output;
  const int status = exit_status_of(result->status);
  if (status != 0 && answer.find("credentials not found") != std::string::npos) return std::optional<Credentials>();
  if (status != 0) return failed(program, ErrorCode::invalid, "failed with exit status " + std::to_string(status));
  const auto value = parse_json(answer, "the answer");
  if (!value) return failed(program, ErrorCode::invalid, "did not answer in JSON");
  Credentials credentials{
      .user = text_at(*value, "Username"), .password = text_at(*value, "Secret"), .found_in = program};
  if (credentials.user == "<token>") credentials.identity_token = std::exchange(credentials.password, {});
  if (credentials.user.empty()) return std::optional<Credentials>();
  return std::optional(std::move(credentials));
}

}  // namespace slipway::artifact
