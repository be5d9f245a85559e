// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "core/worker/client/spawn.hpp"

namespace slipway::core {
namespace {

class StartThread {
 public:
  StartThread() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are handled by the threads meant for them
    std::thread([this] { serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run(const std::function<void()>& work) {
    const std::scoped_lock one_by_one(callers_);
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      (*work_)();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

}  // namespace

void run_on_start_thread(const std::function<void()>& work) {
  static StartThread& thread = *new StartThread;  // never destroyed: its thread uses it to the end
  thread.run(work);
}

}  // namespace slipway::core
