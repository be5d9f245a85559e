// SPDX-License-Identifier: Apache-2.0
#include "base/confine/process_limits.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>

namespace slipway::base {
namespace {

constexpr std::string_view kPrefix = "slipway-";

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads a file from its start. /proc and cgroups have no large files.
std::string content(const Fd& file) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t got = 0;
       file && (got = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  return text;
}

Fd open_in(const Fd& folder, const std::string& path, int flags = O_RDONLY) {
  return Fd(::openat(folder.get(), path.c_str(), flags | O_CLOEXEC));
}

/// Returns the numbers that are names in a folder.
std::vector<pid_t> numbers_in(Fd folder) {
  std::vector<pid_t> numbers;
  if (!folder) return numbers;
  DIR* const names = ::fdopendir(folder.release());
  if (names == nullptr) return numbers;
  while (const dirent* const entry = ::readdir(names))
    if (const pid_t number = std::atoi(entry->d_name); number > 0) numbers.push_back(number);
  ::closedir(names);
  return numbers;
}

bool put(const std::string& file, const std::string& text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Returns the number after a word at the start of a line.
std::uint64_t number_after(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(word + " ") || line.starts_with(word + "\t"))
      return std::strtoull(line.c_str() + word.size(), nullptr, 10);
  return 0;
}

bool has_word(const std::string& list, std::string_view word, char separator) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, separator);)
    if (each == word) return true;
  return false;
}

/// A cgroup folder of this process, and its controllers: names with commas, empty for cgroup2.
struct OwnGroup {
  std::string folder;
  std::string controllers;
  bool second_version = false;
};

/// Returns the visible groups of this process: a container may have a part of the tree mounted, or none.
std::vector<OwnGroup> own_groups() {
  std::vector<OwnGroup> groups;
  const std::string mount_text = content("/proc/self/mountinfo");
  const std::vector<MountLine> mounts = parse_mounts(mount_text);
  std::istringstream lines(content("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    for (const MountLine& mount : mounts) {
      const bool fits = controllers.empty()
                            ? mount.type == "cgroup2"
                            : mount.type == "cgroup" && has_word(std::string(mount.super_options),
                                                                 controllers.substr(0, controllers.find(',')), ',');
      if (!fits) continue;
      if (mount.root != "/") {
        if (path != mount.root && !path.starts_with(std::string(mount.root) + "/")) continue;
        path.erase(0, mount.root.size());
      }
      const std::string folder = std::string(mount.place) + (path == "/" ? "" : path);
      if (::access((folder + "/cgroup.procs").c_str(), F_OK) == 0)
        groups.push_back({folder, controllers, mount.type == "cgroup2"});
      break;
    }
  }
  return groups;
}

/// Returns ".4026531836", this process's PID namespace, as the suffix of a group's name. A container and its host may
/// see the same groups, and neither sees the other's processes.
const std::string& namespace_ending() {
  static const std::string ending = [] {
    std::error_code problem;
    const std::string link =
        std::filesystem::read_symlink("/proc/self/ns/pid", problem).string();  // "pid:[4026531836]"
    const std::size_t begin = link.find('[') + 1;
    return problem || begin == 0 ? std::string() : "." + link.substr(begin, link.find(']') - begin);
  }();
  return ending;
}

/// Returns the process that owns a group made by slipway: 17 for "slipway-room-17-1.4026531836".
pid_t owner_of(const std::string& name) {
  const std::string& ending = namespace_ending();  // empty: the namespace is unknown
  if (!name.starts_with(kPrefix) || ending.empty() || !name.ends_with(ending)) return 0;
  const std::size_t last = name.rfind('-');
  const std::size_t before = last == 0 ? std::string::npos : name.rfind('-', last - 1);
  return before == std::string::npos || before < kPrefix.size() - 1 ? 0 : std::atoi(name.c_str() + before + 1);
}

/// Removes groups that a killed slipway left. A group with a process stays: rmdir fails.
void sweep(const std::string& folder) {
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const pid_t owner = owner_of(entry->path().filename().string());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) ::rmdir(entry->path().c_str());
  }
}

std::string next_name(const std::string& kind) {
  static std::atomic<unsigned> count{0};
  return std::string(kPrefix) + kind + "-" + std::to_string(::getpid()) + "-" + std::to_string(++count) +
         namespace_ending();
}

struct Member {
  pid_t process = 0;
  ProcessStat stat;
};

/// Returns all visible processes.
std::vector<Member> all_processes(const Fd& proc) {
  std::vector<Member> all;
  for (const pid_t process : numbers_in(open_in(proc, ".", O_RDONLY | O_DIRECTORY)))
    if (auto stat = parse_process_stat(content(open_in(proc, std::to_string(process) + "/stat"))))
      all.push_back({process, *std::move(stat)});
  return all;
}

/// Adds children in the kernel's order. @return the number of threads of the process
std::uint64_t add_children(const Fd& proc, pid_t process, std::vector<pid_t>& children) {
  const std::string tasks = std::to_string(process) + "/task";
  const std::vector<pid_t> threads = numbers_in(open_in(proc, tasks, O_RDONLY | O_DIRECTORY));
  for (const pid_t thread : threads) {
    std::istringstream list(content(open_in(proc, tasks + "/" + std::to_string(thread) + "/children")));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return threads.size();
}

/// Counts private memory, and memory shared without a file: nothing else limits these.
std::uint64_t own_memory(const Fd& proc, pid_t process) {
  const std::string status = content(open_in(proc, std::to_string(process) + "/status"));
  constexpr std::uint64_t kKib = 1024;
  return (number_after(status, "RssAnon:") + number_after(status, "RssShmem:")) * kKib;
}

/// The present usage of a process and its descendants.
struct Usage {
  std::uint64_t memory_bytes = 0;  ///< private memory: mapped files are not counted
  std::uint64_t processes = 0;     ///< including threads
};

Usage usage_of(const Fd& proc, pid_t process) {
  // Exists only with CONFIG_PROC_CHILDREN; else every process has to be checked.
  const bool listed = ::faccessat(proc.get(), "thread-self/children", F_OK, 0) == 0;
  const std::vector<Member> all = listed ? std::vector<Member>() : all_processes(proc);
  std::vector<pid_t> members{process};
  Usage usage;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const pid_t member = members[i];
    usage.memory_bytes += own_memory(proc, member);
    if (listed) usage.processes += add_children(proc, member, members);
    for (const Member& each : all) {
      if (each.process == member) usage.processes += each.stat.threads;
      if (each.stat.parent == static_cast<unsigned>(member)) members.push_back(each.process);
    }
  }
  return usage;
}

/// Delegates controllers to the group's children. The kernel refuses this for a group that has processes of its own and
/// is not the topmost, since memory cannot be delegated then. The kernel would accept `pids` alone, but then makes the
/// group a threaded domain whose other children no process can enter (cgroups(7), "Thread mode"): so `pids` is never
/// delegated without memory.
void hand_down(const std::string& folder) {
  std::string controllers = content(folder + "/cgroup.controllers");
  if (controllers.ends_with('\n')) controllers.pop_back();
  if (!has_word(controllers, "memory", ' ')) return;
  (void)put(folder + "/cgroup.subtree_control", has_word(controllers, "pids", ' ') ? "+memory +pids" : "+memory");
}

}  // namespace

LimitedProcesses::LimitedProcesses(const std::string& kind, const ProcessLimits& limits)
    : name_(next_name(kind)), limits_(limits) {
  make();
  looks_at_memory_ = limits_.memory_bytes > 0 && !memory_events_;
  looks_at_processes_ = limits_.processes > 0 && !process_events_;
  if (needs_looks()) proc_ = Fd(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

LimitedProcesses::~LimitedProcesses() {
  members_.clear();
  cgroup2_ = Fd();
  // A group is busy until the kernel has removed its last process, shortly after that process's end was reported.
  constexpr auto kPatience = std::chrono::seconds(2);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (const Fd& above : above_)
    while (::unlinkat(above.get(), name_.c_str(), AT_REMOVEDIR) != 0 && errno == EBUSY &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
}

void LimitedProcesses::make() {
  static std::once_flag swept;
  const std::vector<OwnGroup> groups = own_groups();
  std::call_once(swept, [&] {
    for (const OwnGroup& group : groups) sweep(group.folder);
  });
  for (const OwnGroup& group : groups) {
    const bool memory =
        limits_.memory_bytes > 0 && limits_.files_in_memory_count && has_word(group.controllers, "memory", ',');
    const bool processes = limits_.processes > 0 && has_word(group.controllers, "pids", ',');
    if (!group.second_version && !memory && !processes) continue;
    const std::string folder = group.folder + "/" + name_;
    if (::mkdir(folder.c_str(), 0755) != 0) continue;
    above_.emplace_back(::open(group.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (group.second_version) {
      Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!opened || ::faccessat(opened.get(), "cgroup.kill", W_OK, 0) != 0) continue;
      // A user may own the folder but not its cgroup.procs. The kernel then refuses to move a process from this group
      // into one below it (cgroups(7), "Delegation").
      if (::faccessat(AT_FDCWD, (group.folder + "/cgroup.procs").c_str(), W_OK, AT_EACCESS) != 0) continue;
      hand_down(group.folder);
      // No process can enter a group of type "domain invalid". Such a group is removed with the others.
      const std::string type = content(folder + "/cgroup.type");
      if (!type.empty() && type != "domain\n") continue;
      cgroup2_ = std::move(opened);
    }
    limit_group(folder, group.second_version, group.controllers);
    if (Fd members{::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC)})
      members_.push_back(std::move(members));
  }
}

void LimitedProcesses::limit_group(const std::string& folder, bool second_version, const std::string& controllers) {
  const std::string memory = std::to_string(limits_.memory_bytes);
  const bool counts = limits_.memory_bytes > 0 && limits_.files_in_memory_count;
  if (second_version && counts && put(folder + "/memory.max", memory)) {
    (void)put(folder + "/memory.swap.max", "0");
    (void)put(folder + "/memory.oom.group", "1");
    memory_events_ = Fd(::open((folder + "/memory.events").c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!second_version && counts && has_word(controllers, "memory", ',') &&
      put(folder + "/memory.limit_in_bytes", memory)) {
    (void)put(folder + "/memory.memsw.limit_in_bytes", memory);  // missing when swap is not accounted
    memory_events_ = Fd(::open((folder + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (limits_.processes > 0 && put(folder + "/pids.max", std::to_string(limits_.processes)))
    process_events_ = Fd(::open((folder + "/pids.events").c_str(), O_RDONLY | O_CLOEXEC));
}

std::vector<int> LimitedProcesses::members() const {
  std::vector<int> descriptors;
  for (const Fd& members : members_) descriptors.push_back(members.get());
  return descriptors;
}

bool LimitedProcesses::join() const noexcept {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Fd& members) { return ::write(members.get(), "0", 1) == 1; });
}

void LimitedProcesses::add(pid_t process) {
  const std::string number = std::to_string(process);
  bool limited = true;
  for (const Fd& members : members_)
    limited = ::write(members.get(), number.data(), number.size()) == static_cast<ssize_t>(number.size()) && limited;
  if (!limited) look_instead();
  watch(process);
}

void LimitedProcesses::look_instead() {
  memory_events_ = Fd();
  process_events_ = Fd();
  looks_at_memory_ = limits_.memory_bytes > 0;
  looks_at_processes_ = limits_.processes > 0;
  if (needs_looks() && !proc_) proc_ = Fd(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

ExceededLimit LimitedProcesses::excess() const {
  if (number_after(content(memory_events_), "oom_kill") > 0) return ExceededLimit::memory;
  if (number_after(content(process_events_), "max") > 0) return ExceededLimit::processes;
  if (!needs_looks() || process_ <= 0) return ExceededLimit::none;
  const Usage usage = usage_of(proc_, process_);
  if (looks_at_memory_ && usage.memory_bytes > limits_.memory_bytes) return ExceededLimit::memory;
  if (looks_at_processes_ && usage.processes > limits_.processes) return ExceededLimit::processes;
  return ExceededLimit::none;
}

void LimitedProcesses::kill() const {
  if (!cgroup2_) return;
  const Fd file(::openat(cgroup2_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  if (file) (void)!::write(file.get(), "1", 1);
}

}  // namespace slipway::base
