// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/nvml.hpp"

#include <array>
#include <exception>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nvidia/gpu.hpp"
#include "nvidia/loaded_driver.hpp"
#include "nvidia/machine/causes.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::nvidia::nvml {
namespace {

/// NVML creates /dev/nvidiactl when it starts, even without a driver and a GPU. During this object's lifetime this
/// thread may not create device nodes.
class NoDeviceNodes {
 public:
  NoDeviceNodes() {
    if (::syscall(SYS_capget, &header_, before_.data()) != 0) return;
    auto without = before_;
    __u32& powers = without[CAP_TO_INDEX(CAP_MKNOD)].effective;
    if ((powers & CAP_TO_MASK(CAP_MKNOD)) == 0) return;
    powers &= ~CAP_TO_MASK(CAP_MKNOD);
    changed_ = ::syscall(SYS_capset, &header_, without.data()) == 0;
  }
  ~NoDeviceNodes() {
    if (changed_) ::syscall(SYS_capset, &header_, before_.data());
  }
  NoDeviceNodes(const NoDeviceNodes&) = delete;
  NoDeviceNodes& operator=(const NoDeviceNodes&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> before_{};
  bool changed_ = false;
};

/// Closing the library would run its destructors.
void keep_until_exit(std::shared_ptr<const Library> library) {
  static auto* const kept = new std::vector<std::shared_ptr<const Library>>;
  kept->push_back(std::move(library));
}

nvmlReturn_t initialise(const Library& library, bool attach) {
  if (!attach) {
    const auto with_flags = library.function<unsigned int>("nvmlInitWithFlags");
    if (with_flags != nullptr) return with_flags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH);
  }
  return invoke(library.function<>({"nvmlInit_v2", "nvmlInit"}));
}

}  // namespace

Result<std::unique_ptr<Nvml>> Nvml::open(const NvmlOptions& options) {
  std::unique_ptr<Nvml> nvml(new Nvml(options));
  SLIPWAY_CHECK(nvml->start());
  return nvml;
}

Nvml::~Nvml() {
  if (options_.until_exit && library_ && !borrows_)
    keep_until_exit(std::move(library_));
  else
    release();
}

Status Nvml::start() {
  if (options_.library.machine != nullptr && would_load_driver_for_nothing(*options_.library.machine))
    return Error{.code = ErrorCode::not_found,
                 .what = "no NVIDIA GPU on the PCI bus, so NVML is not started",
                 .next = "check that the GPU is seated and powered (`lspci -d 10de:`)"};
  SLIPWAY_TRY(library, Library::open(options_.library));
  library_ = library;
  const bool attach = options_.attach;
  const Host* const machine = options_.library.machine;
  const bool has_nothing = machine != nullptr && !machine->module_loaded("nvidia") && count_gpus(*machine) == 0;
  const auto started = ask<int>([attach, has_nothing](const Library& opened, int&) {
    std::optional<NoDeviceNodes> held_back;
    if (has_nothing) held_back.emplace();
    return initialise(opened, attach);
  });
  if (started) {
    const Status found = options_.find_hanging ? find_hanging() : Status();
    if (!found) release();
    return found;
  }
  const std::string path = library_->path();
  library_.reset();
  Error error = to_error(started.code(), "start", path);
  if (started.code() == NVML_ERROR_LIB_RM_VERSION_MISMATCH)
    error.what += mismatch_text(path, machine != nullptr ? machine->attribute("/sys/module/nvidia/version") : "");
  return error;
}

void Nvml::release() {
  if (!library_) return;
  // A shutdown would wait for a stuck call: the process then keeps that one initialisation.
  if (!borrows_ && thread_.stuck() == 0)
    (void)ask<int>([](const Library& library, int&) { return invoke(library.function<>("nvmlShutdown")); }).ok();
  library_.reset();
  hanging_.reset();
}

Status Nvml::reopen() {
  release();
  return start();
}

/// GPUs that another worker of the command has waited for come last, with a short limit each: one of them may answer
/// again.
Status Nvml::find_hanging() {
  constexpr std::chrono::milliseconds kMoment{160};  // for all these GPUs together
  constexpr std::chrono::milliseconds kLeast{20};
  const auto count = device_count(*this);
  if (count.code() == kGaveUp) return to_error(kGaveUp, "count the GPUs", library_->path());
  if (!count) return {};  // the next call reports the reason
  Patience& patience = Patience::of_command();
  struct Seen {
    std::mutex mutex;
    std::map<unsigned, nvmlDevice_t> handles;
  };
  const auto seen = std::make_shared<Seen>();
  const auto answering = [seen](Nvml& inside, unsigned index) {
    const auto device = device_at(inside, index);
    if (!device) return device.code();
    {
      const std::scoped_lock lock(seen->mutex);
      seen->handles[index] = *device;
    }
    (void)device_uuid(inside, *device).ok();
    (void)device_name(inside, *device).ok();
    (void)device_pci(inside, *device).ok();
    (void)device_minor(inside, *device).ok();
    (void)compute_capability(inside, *device).ok();
    (void)memory(inside, *device).ok();    // needs an answer of the GPU: the driver does not cache it
    (void)mig_mode(inside, *device).ok();  // answered by the GPU's own processor
    return static_cast<nvmlReturn_t>(NVML_SUCCESS);
  };
  HangingGpus hanging;
  for (const bool known : {false, true}) {
    std::vector<unsigned> asked;
    for (unsigned index = 0; index < *count; ++index)
      if (patience.hangs(index) == known) asked.push_back(index);
    if (asked.empty()) continue;
    if (known) hurry_ = std::min(std::max(kMoment / static_cast<int>(asked.size()), kLeast), options_.call_limit);
    const auto answers = ask_each<int>(
        asked.size(), [asked, answering](Nvml& inside, std::size_t i, int&) { return answering(inside, asked[i]); });
    hurry_.reset();
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const bool hangs = answers[i].code() == kGaveUp;
      if (hangs) hanging.indexes.insert(asked[i]);
      if (hangs != known) patience.set_hangs(asked[i], hangs);
    }
  }
  if (hanging.indexes.empty()) return {};
  const std::scoped_lock lock(seen->mutex);
  for (const unsigned index : hanging.indexes)
    if (const auto found = seen->handles.find(index); found != seen->handles.end())
      hanging.handles.insert(found->second);
  hanging_ = std::make_shared<const HangingGpus>(std::move(hanging));
  return {};
}

std::unique_ptr<Nvml> Nvml::beside() const { return std::unique_ptr<Nvml>(new Nvml(*this, thread_.stuck_counter())); }

void in_parallel(Nvml& nvml, std::size_t count, const std::function<void(Nvml& own, std::size_t i)>& work) {
  if (count == 1) return work(nvml, 0);
  std::vector<std::exception_ptr> thrown(count);
  std::vector<std::thread> threads;
  const auto one = [&](std::size_t i) {
    try {
      const auto own = nvml.beside();
      work(*own, i);
    } catch (...) {
      thrown[i] = std::current_exception();
    }
  };
  {
    const SignalsBlocked blocked;
    threads.reserve(count);
    for (std::size_t i = 0; i < count; ++i) try {
        threads.emplace_back(one, i);
      } catch (const std::system_error&) {
        one(i);  // no further threads can be created
      }
  }
  for (std::thread& each : threads) each.join();
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
}

}  // namespace slipway::nvidia::nvml
