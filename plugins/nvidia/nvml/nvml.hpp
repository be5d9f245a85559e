// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/nvml.hpp - NVML as slipway uses it: opened, called with a time limit, released, opened again.
//
// While it is open the driver counts it as a user: a MIG mode change, a reset or an unload must wait for release().
// After a driver update the old library answers LIB_RM_VERSION_MISMATCH: reopen() loads the new one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/nvml/call_thread.hpp"
#include "nvidia/nvml/error.hpp"
#include "nvidia/nvml/library.hpp"

namespace slipway::nvidia::nvml {

struct NvmlOptions {
  LibraryChoice library;
  /// A longer call is abandoned. The first call about a GPU initializes it, which takes seconds without
  /// nvidia-persistenced.
  std::chrono::milliseconds call_limit{10000};
  bool attach = true;  ///< false: for queries about the system alone; no GPU is initialized
  /// For a tool whose process ends soon: the destructor leaves NVML to the end of the process, when the kernel releases
  /// its resources. That saves the 10 ms of a shutdown. release() shuts it down all the same.
  bool until_exit = false;
  /// For a command, which must not wait for a hanging GPU again and again: opening queries each GPU, and device_at()
  /// returns kGaveUp at once for those that did not answer. A service has its own method, which notices when a GPU is
  /// back.
  bool find_hanging = false;
  /// With find_hanging: calls keep their full `call_limit` even if others were abandoned (Patience), because they
  /// change GPUs.
  bool changes = false;
};

/// GPUs that did not answer when NVML was opened.
struct HangingGpus {
  std::set<unsigned> indexes;
  std::set<nvmlDevice_t> handles;
};

/// Used by one thread at a time. Its handles are invalid after release().
class Nvml {
 public:
  /// Opens and initialises the library. Errors: those of Library::open(); `not_found` the driver is not loaded;
  /// `conflict` library and module differ; `timed_out`; each with the name of NVML's code.
  static Result<std::unique_ptr<Nvml>> open(const NvmlOptions& options);
  /// Starts closed: reopen() opens it.
  explicit Nvml(NvmlOptions options) : options_(std::move(options)) {}
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool is_open() const { return library_ != nullptr; }
  /// Shuts NVML down and closes the library. May be called again. An abandoned call keeps the library in memory.
  void release();
  /// Calls release(), and opens a library that it looks up again. Errors: those of open().
  Status reopen();
  /// Returns the same session for another thread, with its own calls. It must end before this one is released.
  std::unique_ptr<Nvml> beside() const;

  /// Returns the opened file; empty after release().
  std::string library_path() const { return library_ ? library_->path() : std::string(); }
  bool has(const char* function) const { return library_ && library_->has(function); }
  /// True when the GPU did not answer at the opening.
  bool hangs(unsigned index) const { return hanging_ && hanging_->indexes.contains(index); }
  bool hangs(nvmlDevice_t device) const { return hanging_ && hanging_->handles.contains(device); }
  /// Number of abandoned calls that still hang.
  unsigned stuck() const { return thread_.stuck(); }

  // For code that calls the library on its own thread (event_watch.hpp):
  const std::shared_ptr<const Library>& library() const { return library_; }
  const CallThread::Stuck& stuck_counter() const { return thread_.stuck_counter(); }

  /// Makes one call: `question(library, value)` runs on the call thread, fills the value and returns NVML's code. It
  /// must own all that it uses (capture by value), since it may outlive the caller.
  template <class T, class Question>
  Answer<T> ask(Question question) {
    struct State {
      T value{};
      nvmlReturn_t code = NVML_ERROR_UNKNOWN;
    };
    if (!library_) return NVML_ERROR_UNINITIALIZED;
    if (inside_) {
      State here;
      here.code = question(*library_, here.value);
      return {here.code, std::move(here.value)};
    }
    auto state = std::make_shared<State>();
    const bool came_back = thread_.run(
        [state, library = library_, question = std::move(question)] { state->code = question(*library, state->value); },
        limit());
    if (!came_back) return give_up();
    return {state->code, std::move(state->value)};
  }

  /// Makes several calls with one limit and one switch of threads, which costs more than most answers: `work(nvml,
  /// value)` uses its own Nvml, fills the value and returns a code. It must own all that it uses, too.
  template <class T, class Work>
  Answer<T> ask_together(Work work) {
    return ask<T>([work = std::move(work), open = library_, hanging = hanging_](const Library&, T& value) {
      Nvml inside(open, hanging);
      return work(inside, value);
    });
  }

  /// Makes the same call about several things, with one switch of threads: `question(nvml, i, value)` for each i below
  /// the count, one after another, as in ask_together(). The limit applies to each; one that hangs is abandoned, and
  /// the rest runs on another thread.
  template <class T, class Question>
  std::vector<Answer<T>> ask_each(std::size_t count, Question question) {
    struct State {
      std::mutex mutex;
      std::vector<Answer<T>> answers;
      bool given_up = false;
    };
    if (!library_) return std::vector<Answer<T>>(count, Answer<T>(NVML_ERROR_UNINITIALIZED));
    std::vector<Answer<T>> answers;
    while (answers.size() < count) {
      const auto state = std::make_shared<State>();
      const auto last = std::make_shared<std::atomic<CallThread::Clock::time_point>>(CallThread::Clock::now());
      const auto work = [state, last, question, open = library_, hanging = hanging_, first = answers.size(), count] {
        Nvml inside(open, hanging);
        for (std::size_t i = first; i < count; ++i) {
          T value{};
          const nvmlReturn_t code = question(inside, i, value);
          const std::scoped_lock lock(state->mutex);
          if (state->given_up) return;
          state->answers.emplace_back(code, std::move(value));
          *last = CallThread::Clock::now();
        }
      };
      const bool all = inside_ ? (work(), true) : thread_.run(work, limit(), last);
      const std::scoped_lock lock(state->mutex);
      std::ranges::move(state->answers, std::back_inserter(answers));
      state->given_up = true;
      if (!all && answers.size() < count) answers.emplace_back(give_up());
    }
    return answers;
  }

 private:
  /// For the call thread: makes calls directly, and does not shut down a session that it did not start.
  Nvml(std::shared_ptr<const Library> library, std::shared_ptr<const HangingGpus> hanging)
      : library_(std::move(library)), hanging_(std::move(hanging)), inside_(true), borrows_(true) {}
  Nvml(const Nvml& other, CallThread::Stuck stuck)
      : options_(other.options_),
        library_(other.library_),
        hanging_(other.hanging_),
        thread_(std::move(stuck)),
        borrows_(true) {}
  Status start();
  Status find_hanging();
  std::chrono::milliseconds limit() const {
    if (hurry_) return *hurry_;
    return options_.find_hanging && !options_.changes ? Patience::of_command().limit(options_.call_limit)
                                                      : options_.call_limit;
  }
  nvmlReturn_t give_up() const {
    if (options_.find_hanging) Patience::of_command().note_timeout();
    return kGaveUp;
  }

  NvmlOptions options_;
  std::shared_ptr<const Library> library_;
  std::shared_ptr<const HangingGpus> hanging_;      ///< null: none
  std::optional<std::chrono::milliseconds> hurry_;  ///< the limit while open() queries the GPUs
  CallThread thread_;
  bool inside_ = false;
  bool borrows_ = false;  ///< another object shuts the session down
};

/// Calls `work(nvml, i)` for each i below the count in parallel, each on a thread with its own Nvml; returns when all
/// are done. Rethrows their exceptions.
void in_parallel(Nvml& nvml, std::size_t count, const std::function<void(Nvml& own, std::size_t i)>& work);

}  // namespace slipway::nvidia::nvml
