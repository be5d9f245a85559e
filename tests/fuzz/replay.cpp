// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/replay.cpp - stands in for libFuzzer's main: runs the target once on each file below the folders given,
// and fails when one takes too much of the processor's time or of memory.
//
// Usage: fuzz_TARGET [--seconds=N] [--mib=N] FOLDER...
// It is the process's own time that counts (ITIMER_PROF): other programs make no difference.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

struct Limits {
  long seconds = 10;  ///< libFuzzer would give up an input after the same time
  long mib = 1024;    ///< limit for an input's increase of the peak of resident memory; sanitizers keep freed memory
};

void too_long(int) {
  constexpr char kText[] = "the input named last takes more of the processor's time than --seconds allows\n";
  (void)!::write(STDERR_FILENO, kText, sizeof(kText) - 1);
  ::_exit(1);
}

void set_timer(long seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

long peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void run(const std::filesystem::path& file, const Limits& limits) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  const long before = peak_mib();
  set_timer(limits.seconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  set_timer(0);
  if (peak_mib() - before <= limits.mib) return;
  std::fprintf(stderr, "the input named last takes %ld MiB of memory, more than --mib allows\n", peak_mib() - before);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPROF, too_long);
  Limits limits;
  int count = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--seconds=")) {
      limits.seconds = std::atol(word.c_str() + std::strlen("--seconds="));
      continue;
    }
    if (word.starts_with("--mib=")) {
      limits.mib = std::atol(word.c_str() + std::strlen("--mib="));
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(word)) {
      if (!entry.is_regular_file()) continue;
      run(entry.path(), limits);
      ++count;
    }
  }
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
