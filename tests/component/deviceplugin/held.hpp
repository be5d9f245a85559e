// SPDX-License-Identifier: Apache-2.0
// tests/component/deviceplugin/held.hpp - a pod that keeps a file or folder of its own locked in the kernel, by a call
// that copies to or from memory whose page does not come.
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/component/service/running_service.hpp"

namespace slipway::testing {

class Held {
 public:
  /// A file is locked for itself alone, a folder together with others who read it.
  explicit Held(const std::filesystem::path& place) {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return;
    holder_ = ::fork();
    if (holder_ == 0) hold(place.c_str(), std::filesystem::is_directory(place), ready[1]);
    ::close(ready[1]);
    char told = 0;
    held_ = ::read(ready[0], &told, 1) == 1;
    ::close(ready[0]);
  }
  ~Held() {
    for (const pid_t each : {holder_, queued_}) {  // in this order: the second one waits for the first
      if (each > 0) ::kill(each, SIGKILL);
      if (each > 0) ::waitpid(each, nullptr, 0);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  /// False where the kernel gives nobody such memory.
  explicit operator bool() const { return held_; }

  /// Makes a file in the folder, which waits, and keeps those waiting who look for a name there.
  bool queue(const std::filesystem::path& file) {
    queued_ = ::fork();
    if (queued_ == 0) ::_exit(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644) < 0 ? 1 : 0);
    return eventually([this] {
      std::ifstream in("/proc/" + std::to_string(queued_) + "/stat");
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      return text.find(") D ") != std::string::npos;
    });
  }

 private:
  struct Call {
    int fd;
    bool folder;
    void* memory;
  };
  static constexpr std::size_t kPage = 4096;

  static void* make_call(void* what) {
    const auto* const call = static_cast<const Call*>(what);
    if (call->folder)
      (void)::syscall(SYS_getdents64, call->fd, call->memory, kPage);
    else
      (void)!::pwrite(call->fd, call->memory, kPage, 0);
    ::_exit(1);
  }

  /// Says so once the call waits for its page.
  [[noreturn]] static void hold(const char* place, bool folder, int ready) {
    const int faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
    uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
    void* const memory = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uffdio_register pages{};
    pages.range = {reinterpret_cast<std::uintptr_t>(memory), kPage};
    pages.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (faults < 0 || ::ioctl(faults, UFFDIO_API, &api) != 0 || ::ioctl(faults, UFFDIO_REGISTER, &pages) != 0)
      ::_exit(1);
    static Call call{};
    call = {::open(place, folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT, 0644), folder, memory};
    pthread_t thread{};
    pollfd asked{faults, POLLIN, 0};
    if (call.fd < 0 || ::pthread_create(&thread, nullptr, make_call, &call) != 0 || ::poll(&asked, 1, -1) != 1)
      ::_exit(1);
    (void)!::write(ready, "1", 1);
    while (true) ::pause();
  }

  pid_t holder_ = -1;
  pid_t queued_ = -1;
  bool held_ = false;
};

}  // namespace slipway::testing
