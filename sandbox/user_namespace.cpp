// SPDX-License-Identifier: Apache-2.0
#include "sandbox/user_namespace.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "core/host/files.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::size_t kLongestMap = 64U << 10U;

/// The child's message: its number in the machine's /proc, or the reason why there is no namespace.
struct Answer {
  int number = 0;  ///< errno
  std::array<char, 24> process{};
};

/// Returns a map of this process's namespace in which each user is itself: "0 0 4294967295" on a machine.
std::string same_ids(const Fd& proc, const std::string& map) {
  const Fd file(::openat(proc.get(), ("self/" + map).c_str(), O_RDONLY | O_CLOEXEC));
  std::istringstream lines(file ? read_all(file.get(), map, kLongestMap).value_or("") : "");
  std::string same;
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  while (lines >> inside >> outside >> count)
    same += std::to_string(inside) + " " + std::to_string(inside) + " " + std::to_string(count) + "\n";
  return same;
}

/// @return errno; the whole map is one write
int put_map(const Fd& proc, const std::string& process, const std::string& map) {
  const std::string ids = same_ids(proc, map);
  const Fd file(::openat(proc.get(), (process + "/" + map).c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), ids.data(), ids.size()) < 0) return errno;
  return 0;
}

template <class T>
bool receive(const Fd& from, T& value) {
  ssize_t got = 0;
  do {
    got = ::read(from.get(), &value, sizeof(value));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(value);
}

template <class T>
void give(const Fd& to, const T& value) {
  (void)!::write(to.get(), &value, sizeof(value));
}

std::string refusal(int number) {
  std::string text = std::string("making a user namespace is refused (") + std::strerror(number) + ")";
  if (number == ENOSPC) text += "; see user.max_user_namespaces";
  if (number == EPERM) text += "; see kernel.unprivileged_userns_clone, the container's seccomp profile, and chroot";
  if (number == EINVAL) text += "; the kernel has none (CONFIG_USER_NS)";
  return text;
}

Pipe pipe_or_none() {
  auto pipe = make_pipe();
  return pipe ? std::move(*pipe) : Pipe{};
}

}  // namespace

UserNamespace::UserNamespace()
    : proc_(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)), to_parent_(pipe_or_none()), to_child_(pipe_or_none()) {}

bool UserNamespace::enter() const {
  Answer answer;
  if (!proc_ || ::readlinkat(proc_.get(), "self", answer.process.data(), answer.process.size() - 1) <= 0)
    answer.number = ENOENT;
  else if (::unshare(CLONE_NEWUSER) != 0)
    answer.number = errno;
  give(to_parent_.write, answer);
  if (answer.number != 0) return true;
  int mapped = EIO;
  return receive(to_child_.read, mapped) && mapped == 0;
}

UserNamespace::Outcome UserNamespace::map() {
  Answer answer;
  to_parent_.write = Fd();                           // so that the child's end is noticed
  if (!receive(to_parent_.read, answer)) return {};  // the child has ended, and its exit status tells why
  if (answer.number == ENOENT) return {"there is no /proc to make a user namespace with", true};
  if (answer.number != 0) return {refusal(answer.number), true};
  int failed = 0;
  for (const char* map : {"uid_map", "gid_map"})
    if (failed == 0) failed = put_map(proc_, answer.process.data(), map);
  give(to_child_.write, failed);
  if (failed == 0) return {};
  return {std::string("the user namespace gets no users (") + std::strerror(failed) + ")", false};
}

}  // namespace slipway::sandbox
