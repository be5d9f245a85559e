// SPDX-License-Identifier: Apache-2.0
#include "sim/nvml/machine_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slipway::sim {
namespace {

constexpr unsigned kPathSize = 4096;
constexpr const char* kStateName = "machine";
// A link or FIFO of that name in a root is neither followed nor waited for.
constexpr int kOwnFile = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

pthread_mutex_t thread_mutex = PTHREAD_MUTEX_INITIALIZER;
int file_descriptor = -1;
Machine* mapped_machine = nullptr;
bool read_only = false;
unsigned uses = 0;  // calls under way
dev_t mapped_device = 0;
ino_t mapped_inode = 0;

bool exists(const char* path) { return access(path, F_OK) == 0; }

/// Returns the folder of this library, without a final slash.
void own_folder(char* folder) {
  Dl_info info;
  folder[0] = '\0';
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || realpath(info.dli_fname, folder) == nullptr) return;
  if (char* slash = strrchr(folder, '/')) *slash = '\0';
}

/// ".../ROOT/usr/lib/x86_64-linux-gnu" -> ".../ROOT/run/slipway/sim/machine", for the nearest ROOT that has it.
bool in_own_tree(char* path) {
  char folder[kPathSize];
  own_folder(folder);
  snprintf(path, kPathSize, "%.3900s/%s", folder, kStateName);
  if (exists(path)) return true;
  for (;;) {
    snprintf(path, kPathSize, "%.3900s/run/slipway/sim/%s", folder, kStateName);
    if (exists(path)) return true;
    char* slash = strrchr(folder, '/');
    if (slash == nullptr) return false;
    *slash = '\0';
  }
}

bool in_bounds(const Gpu& gpu, unsigned gpu_count) {
  if (gpu.model.links > kMaxLinks || gpu.model.mig.profile_count > kMaxProfiles) return false;
  for (const MigProfile& profile : gpu.model.mig.profiles)
    if (profile.start_count > kMaxPlacements) return false;
  for (const GpuInstance& instance : gpu.instances)
    if (instance.profile >= kMaxProfiles) return false;
  for (const std::int32_t peer : gpu.link_peers)
    if (peer < kNobody || peer >= static_cast<std::int32_t>(gpu_count)) return false;
  return true;
}

/// Checks the layout version and all counts against their limits: a root may contain a file of its own.
bool good(const Machine& state) {
  if (state.magic != kMagic || state.layout != kLayout || state.size != sizeof(Machine)) return false;
  if (state.gpu_count > kMaxGpus) return false;
  for (unsigned i = 0; i < state.gpu_count; ++i)
    if (!in_bounds(state.gpus[i], state.gpu_count)) return false;
  for (const Process& process : state.processes)
    if (process.used != 0 && process.gpu >= kMaxGpus) return false;
  for (const Event& event : state.events)
    if (event.gpu >= kMaxGpus) return false;
  return true;
}

bool read_state(const char* path, Machine* state) {
  const int file = open(path, O_RDONLY | kOwnFile);
  if (file < 0) return false;
  const ssize_t got = read(file, state, sizeof(Machine));
  close(file);
  return got == static_cast<ssize_t>(sizeof(Machine)) && good(*state);
}

void make_folders(char* path) {
  for (char* slash = strchr(path + 1, '/'); slash != nullptr; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
}

/// Creates the state from a first one, atomically.
void copy_first(char* path, const char* first_path) {
  auto* first = static_cast<Machine*>(malloc(sizeof(Machine)));
  auto* existing = static_cast<Machine*>(malloc(sizeof(Machine)));
  const bool usable = first != nullptr && existing != nullptr && read_state(first_path, first);
  if (usable && (!read_state(path, existing) || existing->made_from != first->made_from)) {
    char temporary[kPathSize + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld", path, static_cast<long>(getpid()));
    make_folders(path);
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    const bool written = file >= 0 && write(file, first, sizeof(Machine)) == static_cast<ssize_t>(sizeof(Machine));
    if (file >= 0) close(file);
    if (!written || rename(temporary, path) != 0) unlink(temporary);
  }
  free(first);
  free(existing);
}

bool state_path(char* path) {
  const char* folder = getenv("SLIPWAY_SIM");
  if (folder == nullptr || *folder == '\0') return in_own_tree(path);
  snprintf(path, kPathSize, "%.4000s/%s", folder, kStateName);
  const char* first = getenv("SLIPWAY_SIM_FIRST");
  if (first != nullptr && *first != '\0') copy_first(path, first);
  return exists(path);
}

void unmap() {
  if (mapped_machine != nullptr && uses == 0) munmap(mapped_machine, sizeof(Machine));
  if (file_descriptor >= 0) close(file_descriptor);
  mapped_machine = nullptr;
  file_descriptor = -1;
}

void map(const char* path) {
  read_only = false;
  file_descriptor = open(path, O_RDWR | kOwnFile);
  if (file_descriptor < 0) {
    read_only = true;
    file_descriptor = open(path, O_RDONLY | kOwnFile);
  }
  struct stat status;
  if (file_descriptor < 0 || fstat(file_descriptor, &status) != 0 || status.st_size < off_t{sizeof(Machine)})
    return unmap();
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  void* memory = mmap(nullptr, sizeof(Machine), protection, MAP_SHARED, file_descriptor, 0);
  if (memory == MAP_FAILED) return unmap();
  mapped_machine = static_cast<Machine*>(memory);
  mapped_device = status.st_dev;
  mapped_inode = status.st_ino;
  if (!good(*mapped_machine)) unmap();
}

}  // namespace

Machine* open_machine() {
  char path[kPathSize];
  struct stat status;
  if (!state_path(path) || stat(path, &status) != 0) {
    unmap();
    return nullptr;
  }
  if (mapped_machine != nullptr && status.st_dev == mapped_device && status.st_ino == mapped_inode)
    return mapped_machine;
  unmap();
  map(path);
  return mapped_machine;
}

Machine* opened_machine() { return mapped_machine; }

bool machine_read_only() { return read_only; }

MachineUse::MachineUse(const Machine* machine) : uses_(machine != nullptr ? 1 : 0) { uses += uses_; }

MachineUse::~MachineUse() { uses -= uses_; }

MachineLock::MachineLock() { lock(); }

MachineLock::~MachineLock() { unlock(); }

void MachineLock::lock() {
  pthread_mutex_lock(&thread_mutex);
  while (file_descriptor >= 0 && flock(file_descriptor, LOCK_EX) != 0 && errno == EINTR) continue;
  held_ = true;
  if (mapped_machine != nullptr && !read_only) drop_ended_processes(*mapped_machine);
}

void MachineLock::unlock() {
  if (!held_) return;
  if (file_descriptor >= 0) flock(file_descriptor, LOCK_UN);
  pthread_mutex_unlock(&thread_mutex);
  held_ = false;
}

ProcessState& process_state() {
  static ProcessState state;
  return state;
}

std::int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

}  // namespace slipway::sim
