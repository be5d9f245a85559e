// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/call_thread.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <slipway/fd.hpp>

namespace slipway::nvidia::nvml {
namespace {

/// Spins for some 20 microseconds, and returns when the condition may hold: a call of NVML takes a microsecond, waking
/// a sleeping thread up to 50.
void spin_briefly(const std::atomic<bool>& so) {
  constexpr int kLooks = 1000;
  static const bool alone = std::thread::hardware_concurrency() < 2;
  for (int i = 0; !alone && i < kLooks && !so.load(std::memory_order_acquire); ++i) {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
  }
}

using std::chrono::milliseconds;

constexpr unsigned kMostGpus = 64;
constexpr milliseconds kFirst{5000};

/// Opens the page that the variable names; null: there is none.
void* open_page(std::size_t size) {
  const char* const path = std::getenv(kRunPageVariable);
  if (path == nullptr || *path == '\0') return nullptr;
  const Fd file(::open(path, O_RDWR | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(size))
    return nullptr;
  void* const page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return page == MAP_FAILED ? nullptr : page;
}

}  // namespace

struct CallThread::Desk {
  std::mutex mutex;
  // One for each side, notified without the lock: a call of NVML takes a microsecond, waking a thread several.
  std::condition_variable wanted;      ///< for the thread: there is work, or it must end
  std::condition_variable answered;    ///< for the caller
  std::function<void()> work;          ///< work to do; empty: none
  std::atomic<bool> has_work = false;  ///< `work` is set, or the thread must end; changed under the lock, like `done`
  std::atomic<bool> done = false;
  bool abandoned = false;
  bool over = false;  ///< the thread ends

  void serve(const std::shared_ptr<std::atomic<unsigned>>& stuck) {
    std::unique_lock lock(mutex, std::defer_lock);
    for (;;) {
      spin_briefly(has_work);
      lock.lock();
      wanted.wait(lock, [this] { return work || over; });
      if (over) return;
      std::function<void()> now = std::move(work);
      work = nullptr;
      has_work = false;
      lock.unlock();
      now();
      now = nullptr;  // releases its captures before the caller is notified
      lock.lock();
      if (abandoned) {
        --*stuck;
        return;
      }
      done = true;
      lock.unlock();
      answered.notify_one();
    }
  }
};

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

CallThread::~CallThread() {
  if (!desk_) return;
  {
    const std::scoped_lock lock(desk_->mutex);
    desk_->over = true;
    desk_->has_work = true;
  }
  desk_->wanted.notify_one();
}

bool CallThread::run(std::function<void()> work, std::chrono::milliseconds limit, const LastPart& last_part) {
  if (stuck() >= kMaxStuck) return false;
  if (!desk_) {
    desk_ = std::make_shared<Desk>();
    const SignalsBlocked blocked;
    std::thread([desk = desk_, stuck = stuck_] { desk->serve(stuck); }).detach();
  }
  std::unique_lock lock(desk_->mutex);
  desk_->work = std::move(work);
  desk_->done = false;
  desk_->has_work = true;
  lock.unlock();
  desk_->wanted.notify_one();
  spin_briefly(desk_->done);
  lock.lock();
  for (auto until = Clock::now() + limit; !desk_->done && Clock::now() < until;) {
    desk_->answered.wait_until(lock, until, [this] { return desk_->done.load(); });
    if (last_part) until = std::max(until, last_part->load() + limit);
  }
  if (desk_->done) return true;
  desk_->abandoned = true;
  ++*stuck_;
  lock.unlock();
  desk_.reset();
  return false;
}

Patience& Patience::of_command() {
  static Patience patience = [] {
    static Page own{};
    auto* const shared = static_cast<Page*>(open_page(sizeof(Page)));
    return Patience(shared == nullptr ? own : *shared);
  }();
  return patience;
}

milliseconds Patience::limit(milliseconds call_limit) const {
  constexpr milliseconds kSecond{1000};
  constexpr milliseconds kShort{200};
  constexpr milliseconds kShortest{20};
  constexpr std::uint32_t kFewGivenUp = 3;
  constexpr std::uint32_t kMany = 20;
  const std::uint32_t given_up = page_.given_up;
  const milliseconds most = given_up == 0            ? kFirst
                            : given_up < kFewGivenUp ? kSecond
                            : given_up < kMany       ? kShort
                                                     : kShortest;
  return std::min(call_limit, most);
}

void Patience::note_timeout() {
  if (page_.given_up < 1000) ++page_.given_up;
}

bool Patience::hangs(unsigned gpu_index) const {
  return gpu_index < kMostGpus && (page_.hanging & (std::uint64_t{1} << gpu_index)) != 0;
}

void Patience::set_hangs(unsigned gpu_index, bool hangs) {
  if (gpu_index >= kMostGpus) return;
  const std::uint64_t bit = std::uint64_t{1} << gpu_index;
  if (hangs)
    page_.hanging |= bit;
  else
    page_.hanging &= ~bit;
}

}  // namespace slipway::nvidia::nvml
