// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/costly.cpp - not a target: inputs that take too much, which replay.cpp has to detect. "loop" never ends,
// "wait" waits for two seconds without using the processor, "fill" writes 96 MiB of memory.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>

namespace {

volatile std::uint64_t turns = 0;

void fill() {
  constexpr std::size_t kBytes = std::size_t{96} << 20;
  const auto memory = std::make_unique<char[]>(kBytes);
  constexpr std::size_t kPage = 4096;
  volatile char* const bytes = memory.get();
  for (std::size_t i = 0; i < kBytes; i += kPage) bytes[i] = 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view what(reinterpret_cast<const char*>(data), size);
  while (what == "loop") turns = turns + 1;
  if (what == "wait") std::this_thread::sleep_for(std::chrono::seconds(2));
  if (what == "fill") fill();
  return 0;
}
