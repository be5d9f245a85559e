// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/patience.hpp"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <slipway/fd.hpp>

namespace slipway::nvidia::nvml {
namespace {

using std::chrono::milliseconds;

constexpr unsigned kMostGpus = 64;
constexpr milliseconds kFirst{5000};

/// The page that the variable names; null: there is none.
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
  constexpr std::uint32_t kFew = 3;
  constexpr std::uint32_t kMany = 20;
  const std::uint32_t given_up = page_.given_up;
  const milliseconds most = given_up == 0 ? kFirst : given_up < kFew ? kSecond : given_up < kMany ? kShort : kShortest;
  return std::min(call_limit, most);
}

void Patience::gave_up() {
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
