// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <optional>

#include <elf.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "root_walk.hpp"

namespace slipway::detail {
namespace {

constexpr unsigned kLoongArch = 258;  // EM_LOONGARCH, later than glibc 2.36's elf.h

std::optional<std::string> machine_name(unsigned machine, bool wide, bool little) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i686";
    case EM_ARM:
      return "armv7l";
    case EM_PPC64:
      return little ? "ppc64le" : "ppc64";
    case EM_S390:
      return wide ? "s390x" : "s390";
    case EM_RISCV:
      return wide ? "riscv64" : "riscv32";
    case kLoongArch:
      return "loongarch64";
    default:
      return std::nullopt;
  }
}

std::optional<std::string> machine_of(const RootDir& root, const char* program) {
  const Result<Fd> fd = open_regular(root, program);
  if (!fd) return std::nullopt;
  constexpr std::size_t kMachineAt = 18;  // e_machine, at the same offset in both classes
  std::array<unsigned char, kMachineAt + 2> head{};
  if (::read(fd->get(), head.data(), head.size()) != static_cast<ssize_t>(head.size())) return std::nullopt;
  if (std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) return std::nullopt;
  const bool little = head[EI_DATA] == ELFDATA2LSB;
  const unsigned low = head[kMachineAt + (little ? 0 : 1)];
  const unsigned high = head[kMachineAt + (little ? 1 : 0)];
  return machine_name(high << 8 | low, head[EI_CLASS] == ELFCLASS64, little);
}

}  // namespace

std::string running_arch() {
  utsname names{};
  return uname(&names) == 0 ? names.machine : "";
}

std::string root_arch(const RootDir& root) {
  for (const char* program : {"/bin/sh", "/usr/bin/sh", "/sbin/init", "/usr/lib/systemd/systemd", "/usr/bin/env",
                              "/sbin/ldconfig", "/bin/busybox"})
    if (const std::optional<std::string> machine = machine_of(root, program)) return *machine;
  return running_arch();
}

}  // namespace slipway::detail
