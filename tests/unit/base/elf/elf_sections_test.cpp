// SPDX-License-Identifier: Apache-2.0
#include "base/elf/elf_sections.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <slipway/fd.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "base/modinfo/module_info.hpp"
#include "tests/unit/base/elf/hostile_elf.hpp"

namespace slipway::base {
namespace {

using testing::hostile_elf;
using testing::HostileSection;
using testing::packed_zeros;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// Returns the peak memory of this process, in MiB.
std::uint64_t peak_mib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss) >> 10U;
}

/// A file, made larger by a hole.
class File {
 public:
  File(const std::string& bytes, std::uint64_t size) {
    folder_.file("file", bytes);
    std::filesystem::resize_file(folder_.at("file"), std::max<std::uint64_t>(size, bytes.size()));
    fd_ = Fd(::open(folder_.at("file").c_str(), O_RDONLY | O_CLOEXEC));
  }
  int fd() const { return fd_.get(); }

 private:
  testing::TempDir folder_;
  Fd fd_;
};

TEST(ElfSections, OfThisProgramAreTheSameInAFileAndInMemory) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(self), {}};
  const Fd fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto of_file = ElfSections::of_file(fd.get());
  const auto of_bytes = ElfSections::of_bytes(bytes);
  ASSERT_TRUE(of_file && of_bytes);
  for (const auto* sections : {&*of_file, &*of_bytes}) {
    const Elf64_Shdr* const linker = sections->named(SHT_PROGBITS, ".interp");
    ASSERT_NE(linker, nullptr);
    EXPECT_THAT(sections->content(*linker, 100).value(), ::testing::StartsWith("/lib"));
    EXPECT_EQ(sections->machine(), of_file->machine());
    EXPECT_EQ(sections->all().size(), of_file->all().size());
    EXPECT_FALSE(sections->content(*linker, 3)) << "it is longer";
    EXPECT_EQ(sections->named(SHT_PROGBITS, ".inter"), nullptr);
  }
}

// Before the fix, a program of an image's build could exhaust the memory of the machine: slipway reads the modules that
// the build made.
TEST(ElfSections, AModuleWhoseNamesUnpackTo660MiBTakesNoMemory) {
  const std::string hostile =
      hostile_elf({{.name = "", .content = "vermagic=6.1"}}, SHF_COMPRESSED, packed_zeros(660 * kMiB));
  EXPECT_LT(hostile.size(), 5 * kMiB);
  const std::uint64_t before = peak_mib();
  EXPECT_FALSE(base::module_info_of(hostile));
  EXPECT_FALSE(base::module_info_of_file(File(hostile, 0).fd()));
  EXPECT_LT(peak_mib(), before + 64);
}

TEST(ElfSections, AModuleWithLargePartsOfHolesIsRefused) {
  const std::string large =
      hostile_elf({{.name = ".modinfo", .content = "vermagic=6.1", .declared_bytes = 200 * kMiB}});
  const std::uint64_t before = peak_mib();
  EXPECT_EQ(base::module_info_of_file(File(large, 300 * kMiB).fd()).error().code, ErrorCode::corrupt);
  EXPECT_LT(peak_mib(), before + 64);
}

// When the number of sections is 0, the real number is in the first section, and may have any value.
TEST(ElfSections, WithAnInvalidCountAreRefused) {
  std::string bytes = hostile_elf({{.name = ".modinfo", .content = "vermagic=6.1"}});
  ASSERT_TRUE(base::module_info_of(bytes));
  const std::uint64_t before = peak_mib();
  Elf64_Shdr first{};
  first.sh_size = 4 * kMiB;
  std::memcpy(bytes.data() + sizeof(Elf64_Ehdr), &first, sizeof first);
  for (const auto count : std::to_array<Elf64_Half>({0, 0xFEFF, 0xFF00, 0xFFFF})) {
    std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shnum), &count, sizeof count);
    EXPECT_FALSE(base::module_info_of(bytes)) << count;
    EXPECT_EQ(base::module_info_of_file(File(bytes, 1024 * kMiB).fd()).ok(), count == 0xFEFF) << count;
  }
  EXPECT_LT(peak_mib(), before + 64);
}

TEST(ElfSections, HaveTextsOfAnyContentThatEndAtTheirSection) {
  const HostileSection texts{
      .name = "t", .type = SHT_STRTAB, .content = std::string("first\0", 6) + std::string(300, 'x')};
  const std::string bytes =
      hostile_elf({texts, {.name = "s", .type = SHT_STRTAB, .content = "seco", .declared_bytes = ~0ULL}});
  const auto sections = ElfSections::of_bytes(bytes);
  ASSERT_TRUE(sections);
  EXPECT_EQ(sections->text(2, 0), "first");
  EXPECT_EQ(sections->text(2, 3), "st");
  EXPECT_EQ(sections->text(2, 6), "") << "it is longer than any name";
  EXPECT_EQ(sections->text(2, 290), "") << "its section ends before it does";
  for (const std::uint64_t far : {306ULL, 1ULL << 40U, ~0ULL}) EXPECT_EQ(sections->text(2, far), "") << far;
  for (const std::uint64_t far : {1ULL << 63U, ~0ULL}) EXPECT_EQ(sections->text(3, far), "") << far;
  for (const std::size_t table : {0U, 4U, 1000U}) EXPECT_EQ(sections->text(table, 0), "") << table;
}

TEST(ElfSections, OfAnotherProcessorAreIgnored) {
  std::string bytes = hostile_elf({});
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_TRUE(ElfSections::of_bytes(bytes)->all().empty());
  EXPECT_EQ(ElfSections::of_bytes(bytes)->machine(), unsigned{EM_X86_64});
  bytes[EI_DATA] = ELFDATA2MSB;
  std::swap(bytes[18], bytes[19]);
  EXPECT_EQ(ElfSections::of_bytes(bytes)->machine(), unsigned{EM_X86_64});
  EXPECT_FALSE(
      ElfSections::of_bytes("\x7f"
                            "ELF"));
  EXPECT_FALSE(ElfSections::of_bytes(std::string(100, 'x')));
}

}  // namespace
}  // namespace slipway::base
