// SPDX-License-Identifier: Apache-2.0
#include "app/install/elf_file.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>

#include <slipway/fd.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway::core {
namespace {

std::string this_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Where the file's section of that type begins; 0: it has none.
std::size_t section_at(const std::string& file, unsigned type) {
  Elf64_Ehdr header{};
  std::memcpy(&header, file.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    std::memcpy(&section, file.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type == type) return section.sh_offset;
  }
  return 0;
}

TEST(ElfFile, SaysWhatItNeedsAndInWhichVersions) {
  std::string file = this_program();
  const auto elf = read_elf(file, "this");
  ASSERT_TRUE(elf) << elf.error().what;
  EXPECT_THAT(elf->needed, ::testing::Contains("libc.so.6"));
  EXPECT_THAT(elf->wanted.at("libc.so.6"), ::testing::Contains(::testing::StartsWith("GLIBC_2.")));
}

// A chain of records that led back to its beginning was read for ever.
TEST(ElfFile, WhoseRecordsGoRoundInACircleIsReadOnce) {
  std::string file = this_program();
  const std::size_t at = section_at(file, SHT_GNU_verneed);
  ASSERT_NE(at, 0U);
  for (const Elf64_Word next : {0xFFFFFFF0U, 1U, 0U}) {
    const Elf64_Word forward = 16;
    std::memcpy(file.data() + at + offsetof(Elf64_Verneed, vn_next), &forward, sizeof forward);
    std::memcpy(file.data() + at + forward + offsetof(Elf64_Verneed, vn_next), &next, sizeof next);
    EXPECT_TRUE(read_elf(file, "this"));
  }
}

TEST(ElfFile, OfARootIsReadInTheSameWay) {
  std::string whole = this_program();
  const auto inside = read_elf(whole, "this");
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto elf = read_elf(file.get(), "this");
  ASSERT_TRUE(inside && elf);
  EXPECT_EQ(elf->needed, inside->needed);
  EXPECT_EQ(elf->wanted, inside->wanted);
  EXPECT_EQ(elf->machine, inside->machine);
}

// 25 libraries of 256 MiB, made of holes, took 5.6 GB of memory: all of each was read, and kept.
TEST(ElfFile, OfARootIsNotReadAsAWhole) {
  const slipway::testing::TempDir folder;
  std::string bytes = this_program();
  folder.file("library.so", bytes);
  std::filesystem::resize_file(folder.at("library.so"), std::uintmax_t{1} << 40U);  // no memory holds that
  const Fd file(::open(folder.at("library.so").c_str(), O_RDONLY | O_CLOEXEC));
  const auto elf = read_elf(file.get(), "this");
  ASSERT_TRUE(elf);
  EXPECT_THAT(elf->needed, ::testing::Contains("libc.so.6"));
  const std::size_t at = section_at(bytes, SHT_GNU_verneed);
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {  // sections of 1 TiB
    Elf64_Shdr section{};
    char* const place = bytes.data() + header.e_shoff + i * sizeof section;
    std::memcpy(&section, place, sizeof section);
    if (section.sh_offset == at || section.sh_type == SHT_STRTAB) section.sh_size = std::uint64_t{1} << 39U;
    std::memcpy(place, &section, sizeof section);
  }
  folder.file("large.so", bytes);
  std::filesystem::resize_file(folder.at("large.so"), std::uintmax_t{1} << 40U);
  const Fd large(::open(folder.at("large.so").c_str(), O_RDONLY | O_CLOEXEC));
  const auto refused = read_elf(large.get(), "this");
  EXPECT_TRUE(!refused || refused->wanted.empty());
}

TEST(ElfFile, WithoutAnyOrderIsAnError) {
  std::string file = this_program().substr(0, 100);
  EXPECT_FALSE(read_elf(file, "this"));
}

}  // namespace
}  // namespace slipway::core
