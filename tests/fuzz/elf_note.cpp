// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/elf_note.cpp - a libcuda from a container's image, as the hook looks for its note; and a program of that
// image.
#include "elf_note.hpp"

#include <cstdint>

#include "tests/fuzz/scratch_tree.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  const auto note = hook::read_note(file.fd(), ".note.cuda.fwd_compatibility", "NVIDIA Corporation");
  fuzz::demand_presentable(note);
  if (note) {
    fuzz::demand(bytes.find(*note) != std::string_view::npos, "a note is a part of the file");
    fuzz::demand(note->find('\0') == std::string::npos, "a note ends at its first NUL");
  }
  const hook::HostVersions by_driver{.driver = hook::parse_version("535.261.03"), .cuda = {}};
  const hook::HostVersions by_cuda{.driver = {}, .cuda = hook::parse_version("12.2")};
  for (const std::string& text : {note.value_or(""), std::string(bytes)}) {
    fuzz::demand(!hook::is_better_cuda(by_driver, hook::parse_version("535.261.03"), text), "it is as new");
    fuzz::demand(!hook::is_better_cuda(by_driver, {}, text), "nobody knows how new it is");
    (void)hook::is_better_cuda(by_cuda, {}, text);
  }
  fuzz::demand_presentable(hook::has_interpreter(file.fd()));
  if (const auto version = hook::parse_version(bytes)) {
    fuzz::demand(!version->empty() && version->size() <= (size + 1) / 2, "each number of a version has a digit");
    fuzz::demand(bytes.find_first_not_of("0123456789.") == std::string_view::npos, "a version is digits and dots");
  }
  return 0;
}
