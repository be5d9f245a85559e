// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/mapped_state.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/model/machine.hpp"

namespace slipway::sim {

Result<MappedMachine> MappedMachine::open(const std::string& folder) {
  SLIPWAY_CHECK(read_sim_machine(folder));  // reports what is wrong with it
  const std::string path = folder + "/machine";
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return system_error("open", path, errno);
  void* const memory = mmap(nullptr, sizeof(sim::Machine), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    const int number = errno;
    close(file);
    return system_error("map", path, number);
  }
  MappedMachine mapped(file, static_cast<sim::Machine*>(memory));
  while (flock(file, LOCK_EX) != 0)
    if (errno != EINTR) return system_error("lock", path, errno);
  return mapped;
}

MappedMachine::MappedMachine(MappedMachine&& other) noexcept
    : file_(std::exchange(other.file_, -1)), machine_(std::exchange(other.machine_, nullptr)) {}

MappedMachine::~MappedMachine() {
  if (machine_ != nullptr) munmap(machine_, sizeof(sim::Machine));
  if (file_ >= 0) close(file_);  // releases the lock
}

}  // namespace slipway::sim
