// SPDX-License-Identifier: Apache-2.0
#include "toolkit/containers/kernel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <slipway/fd.hpp>
#include <slipway/process/child_process.hpp>
#include <slipway/process/proc_text.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

namespace slipway::toolkit {
namespace {

constexpr std::uint32_t kMostPrograms = 64;  // the kernel's own limit for one group
constexpr std::uint32_t kMostInstructions = 1U << 16U;
/// The kernel's own file systems, which answer a lookup without another process.
constexpr std::array<std::string_view, 11> kLocal{"tmpfs", "devtmpfs", "overlay", "ext4",     "xfs",  "btrfs",
                                                  "zfs",   "ext3",     "ext2",    "squashfs", "erofs"};

constexpr std::chrono::seconds kLookLimit{2};
constexpr int kMostHeldLooks = 3;

Fd opened(int folder, const char* name, std::uint64_t resolve) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve;
  return Fd(static_cast<int>(::syscall(SYS_openat2, folder, name, &how, sizeof how)));
}

/// Returns the number of the mount of an open file; the kernel knows it without asking the file system.
std::optional<unsigned> mount_of(int fd) {
  const auto text = read_regular("/proc/self/fdinfo/" + std::to_string(fd), 4096);
  if (!text) return std::nullopt;
  for (const std::string_view line : lines_of<std::string_view>(*text)) {
    if (!line.starts_with("mnt_id:")) continue;
    const std::string_view value = trimmed(line.substr(std::string_view("mnt_id:").size()));
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem == std::errc{} && end == value.data() + value.size()) return number;
  }
  return std::nullopt;
}

bool is_local(int fd, std::string_view mounts) {
  const auto mount = mount_of(fd);
  if (!mount) return false;
  const std::string_view type = type_of_mount(mounts, *mount);
  return std::ranges::find(kLocal, type) != kLocal.end();
}

/// @param resolve  more flags of openat2(2)
/// @return empty: the kernel would have to ask the file system, or is too old (before 5.12) to avoid that
std::optional<Place> walk(int root, std::string_view mounts, const std::string& path, std::uint64_t resolve) {
  Fd at(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  for (const std::string& name : split(path, '/')) {
    if (name.empty()) continue;
    if (!is_local(at.get(), mounts)) return Place{};
    Fd next = opened(at.get(), name.c_str(), resolve);
    if (!next && (errno == EAGAIN || errno == EINVAL)) return std::nullopt;
    if (!next) return Place{errno == ENOENT || errno == ENOTDIR ? Place::Kind::missing : Place::Kind::unseen, {}};
    at = std::move(next);
  }
  struct stat seen {};
  if (!is_local(at.get(), mounts) || ::fstat(at.get(), &seen) != 0) return Place{};
  if (!S_ISCHR(seen.st_mode)) return Place{Place::Kind::other, {}};
  return Place{Place::Kind::device, {major(seen.st_rdev), minor(seen.st_rdev)}};
}

/// Looks in a separate process, because a container can keep one of its folders locked: a lookup there then blocks, and
/// the process cannot even be killed.
/// @return empty: it takes too long
std::optional<Place> walk_apart(int root, std::string_view mounts, const std::string& path) {
  auto answer = make_pipe();
  if (!answer) return Place{};
  const pid_t child = ::fork();
  if (child < 0) return Place{};
  if (child == 0) {
    const Place seen = walk(root, mounts, path, 0).value_or(Place{});
    ::_exit(::write(answer->write.get(), &seen, sizeof seen) == sizeof seen ? 0 : 1);
  }
  if (!child_ended(child, kLookLimit)) {
    ::kill(child, SIGKILL);
    return std::nullopt;
  }
  Place seen;
  return ::read(answer->read.get(), &seen, sizeof seen) == sizeof seen ? seen : Place{};
}

long ask_bpf(int command, bpf_attr& question) { return ::syscall(SYS_bpf, command, &question, sizeof question); }

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

Error no_program(const std::string& path, int number) {
  return system_error("read the device programs of", path, number);
}

Result<DeviceProgram> read_program(std::uint32_t id, const std::string& path) {
  bpf_attr by_id{};
  by_id.prog_id = id;
  const Fd program(static_cast<int>(ask_bpf(BPF_PROG_GET_FD_BY_ID, by_id)));
  if (!program) return no_program(path, errno);
  DeviceProgram steps;
  for (int turn = 0; turn < 2; ++turn) {  // first the size; then the program
    bpf_prog_info info{};
    info.xlated_prog_len = static_cast<std::uint32_t>(steps.size() * sizeof(bpf_insn));
    info.xlated_prog_insns = address_of(steps.data());
    bpf_attr question{};
    question.info.bpf_fd = static_cast<std::uint32_t>(program.get());
    question.info.info = address_of(&info);
    question.info.info_len = sizeof info;
    if (ask_bpf(BPF_OBJ_GET_INFO_BY_FD, question) != 0) return no_program(path, errno);
    if (turn == 1 && info.xlated_prog_insns == 0) return no_program(path, EPERM);  // this kernel hides them
    if (info.xlated_prog_len / sizeof(bpf_insn) > kMostInstructions) return no_program(path, E2BIG);
    steps.resize(info.xlated_prog_len / sizeof(bpf_insn));
  }
  return steps;
}

}  // namespace

std::string_view type_of_mount(std::string_view mounts, unsigned number) {
  const std::string wanted = std::to_string(number);
  for (const MountLine& mount : parse_mounts(mounts))
    if (mount.id == wanted) return mount.type;
  return {};
}

RunningKernel RunningKernel::of(const Host& host) {
  const std::string root = host.root_folder() == "/" ? "" : host.root_folder();
  const bool has_proc = ::access((root + "/proc/self/mountinfo").c_str(), F_OK) == 0;
  return RunningKernel(has_proc ? root : "");
}

Place RunningKernel::place(unsigned pid, std::string_view mounts, const std::string& path) const {
  const std::string root = root_ + "/proc/" + std::to_string(pid) + "/root";
  Fd at(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at) return {};
  if (const auto known = walk(at.get(), mounts, path, RESOLVE_CACHED)) return *known;
  if (held_ >= kMostHeldLooks) return {};
  const auto seen = walk_apart(at.get(), mounts, path);
  if (!seen) ++held_;
  return seen.value_or(Place{});
}

Result<std::vector<DeviceProgram>> RunningKernel::programs(const std::string& path) const {
  const std::string folder = root_ + "/sys/fs/cgroup" + path;
  const Fd group(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group) return system_error("open", path, errno);
  std::array<std::uint32_t, kMostPrograms> ids{};
  bpf_attr question{};
  question.query.target_fd = static_cast<std::uint32_t>(group.get());
  question.query.attach_type = BPF_CGROUP_DEVICE;
  question.query.query_flags = BPF_F_QUERY_EFFECTIVE;
  question.query.prog_ids = address_of(ids.data());
  question.query.prog_cnt = kMostPrograms;
  if (ask_bpf(BPF_PROG_QUERY, question) != 0) return no_program(path, errno);
  std::vector<DeviceProgram> programs;
  for (std::uint32_t i = 0; i < question.query.prog_cnt; ++i) {
    SLIPWAY_TRY(program, read_program(ids[i], path));
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace slipway::toolkit
