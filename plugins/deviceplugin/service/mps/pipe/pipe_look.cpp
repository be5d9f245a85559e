// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe/pipe_look.hpp"

#include <array>
#include <csignal>

#include <unistd.h>

#include "deviceplugin/service/mps/system/command.hpp"

namespace slipway::deviceplugin {
namespace {

Error no_answer(const std::string& what, const std::string& folder) {
  return {.code = ErrorCode::timed_out,
          .what = what,
          .where = folder,
          .next = "look for the pod that writes in " + folder,
          .details = {}};
}

}  // namespace

Status PipeLook::start() {
  SLIPWAY_TRY(answer, make_pipe());
  SLIPWAY_TRY(pid, start_command({program_, kUsersOption, folder_}, {}, answer.write.get()));
  answer_ = std::move(answer.read);
  child_ = pid;
  waited_ = false;
  return {};
}

Result<PipeUsers> PipeLook::users(std::chrono::milliseconds limit) {
  std::erase_if(left_, [](pid_t each) { return child_ended(each, {}); });
  if (child_ == 0)
    if (const Status started = start(); !started) return no_answer(started.error().what, folder_);
  if (!child_ended(child_, waited_ ? std::chrono::milliseconds() : limit)) {
    waited_ = true;
    return no_answer("the kernel does not let slipway read the folder of MPS", folder_);
  }
  child_ = 0;
  std::array<char, 128> text{};
  const ssize_t size = ::read(answer_.get(), text.data(), text.size());
  const auto users = users_from(std::string(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0));
  if (!users) return no_answer(program_ + " does not show which processes use the folder of MPS", folder_);
  return *users;
}

Result<pid_t> PipeLook::lock_user(std::chrono::milliseconds limit) {
  if (const auto user = lock_user_at_once(folder_)) return *user;
  SLIPWAY_TRY(all, users(limit));
  return all.lock;
}

void PipeLook::forget() {
  if (child_ == 0) return;
  ::kill(child_, SIGKILL);
  left_.push_back(child_);
  child_ = 0;
  std::erase_if(left_, [](pid_t each) { return child_ended(each, {}); });
}

}  // namespace slipway::deviceplugin
