// SPDX-License-Identifier: Apache-2.0
// A pod's program: `hold PLACE` keeps a file or folder locked in the kernel, by a call that copies to or from memory
// whose page does not arrive, and writes a byte once that call waits; `queue FILE` creates a file, which waits while
// its folder is held. Without such memory (userfaultfd), it ends with 1. It is a program of its own, because a child of
// a test with threads may only start a program.
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr std::size_t kPage = 4096;

struct Call {
  int fd;
  bool folder;
  void* memory;
};

void* make_call(void* what) {
  const auto* const call = static_cast<const Call*>(what);
  if (call->folder)
    (void)::syscall(SYS_getdents64, call->fd, call->memory, kPage);
  else
    (void)!::pwrite(call->fd, call->memory, kPage, 0);
  ::_exit(1);
}

/// Locks a file exclusively, a folder shared with other readers.
int hold(const char* place) {
  struct stat status {};
  const bool folder = ::stat(place, &status) == 0 && S_ISDIR(status.st_mode);
  const int faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  void* const memory = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uffdio_register pages{};
  pages.range = {reinterpret_cast<std::uintptr_t>(memory), kPage};
  pages.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (faults < 0 || ::ioctl(faults, UFFDIO_API, &api) != 0 || ::ioctl(faults, UFFDIO_REGISTER, &pages) != 0) return 1;
  static Call call{};
  call = {::open(place, folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT, 0644), folder, memory};
  pthread_t thread{};
  pollfd asked{faults, POLLIN, 0};
  if (call.fd < 0 || ::pthread_create(&thread, nullptr, make_call, &call) != 0 || ::poll(&asked, 1, -1) != 1) return 1;
  (void)!::write(STDOUT_FILENO, "1", 1);
  while (true) ::pause();
}

int queue(const char* file) { return ::open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) < 0 ? 1 : 0; }

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "hold") == 0) return hold(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "queue") == 0) return queue(argv[2]);
  return 64;
}
