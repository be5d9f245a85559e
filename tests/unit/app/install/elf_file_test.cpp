// SPDX-License-Identifier: Apache-2.0
#include "app/install/elf_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>

#include <slipway/fd.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "tests/unit/base/elf/hostile_elf.hpp"

namespace slipway::app {
namespace {

using slipway::testing::bytes_of;
using slipway::testing::hostile_elf;

std::string this_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns where the file's section of that type begins; 0: it has none.
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

TEST(ElfFile, ListsNeededLibrariesAndVersions) {
  std::string file = this_program();
  const auto elf = read_elf(file, "this");
  ASSERT_TRUE(elf) << elf.error().what;
  EXPECT_THAT(elf->needed, ::testing::Contains("libc.so.6"));
  EXPECT_THAT(elf->wanted.at("libc.so.6"), ::testing::Contains(::testing::StartsWith("GLIBC_2.")));
}

// Before the fix, a chain of records that leads back to its beginning was read forever.
TEST(ElfFile, WithCircularRecordsIsReadOnce) {
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

/// Returns the records of versions with these names, in a chain. @param next  of each record; of the last one too
std::string library_of(const std::vector<std::string>& versions, Elf64_Word next) {
  std::string records;
  std::string names(1, '\0');
  for (const std::string& version : versions) {
    Elf64_Verdef record{};
    record.vd_version = VER_DEF_CURRENT;
    record.vd_cnt = 1;
    record.vd_aux = sizeof record;
    record.vd_next = next;
    Elf64_Verdaux name{};
    name.vda_name = static_cast<Elf64_Word>(names.size());
    records += bytes_of(record) + bytes_of(name);
    names += version + '\0';
  }
  return hostile_elf({{.name = ".gnu.version_d", .type = SHT_GNU_verdef, .content = records, .link = 3},
                      {.name = ".dynstr", .type = SHT_STRTAB, .content = names}});
}

Result<OfferedLibrary> offered(const std::string& bytes, std::uintmax_t size = 0) {
  const slipway::testing::TempDir folder;
  folder.file("library.so", bytes);
  std::filesystem::resize_file(folder.at("library.so"), std::max<std::uintmax_t>(size, bytes.size()));
  const Fd file(::open(folder.at("library.so").c_str(), O_RDONLY | O_CLOEXEC));
  return read_offered(file.get());
}

constexpr Elf64_Word kWhole = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);

// Before the fix, 25 sparse libraries of 256 MiB took 5.6 GB of memory: each was read completely, and kept.
TEST(OfferedLibrary, HasTheVersionsThatALibraryOfARootDefines) {
  const std::string bytes = library_of({"GLIBC_2.2.5", "GLIBC_2.34"}, kWhole);
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{1} << 40U}) {  // too large for memory
    const auto library = offered(bytes, size);
    ASSERT_TRUE(library) << library.error().what;
    EXPECT_EQ(library->machine, unsigned{EM_X86_64});
    EXPECT_THAT(library->offered, ::testing::ElementsAre("GLIBC_2.2.5", "GLIBC_2.34"));
  }
}

TEST(OfferedLibrary, WithInvalidRecordsIsReadOnce) {
  for (const Elf64_Word next : {0U, 1U, 19U, 0xFFFFFFF0U})
    EXPECT_THAT(offered(library_of({"A_1", "A_2"}, next))->offered, ::testing::ElementsAre("A_1")) << next;
}

TEST(OfferedLibrary, IsRefusedWithTooManyVersions) {
  std::vector<std::string> versions;
  for (int i = 0; i < 9000; ++i) versions.push_back("V_" + std::to_string(i));
  EXPECT_EQ(offered(library_of(versions, kWhole))->offered.size(), 4096U);
  versions.resize(20000);  // 560 KB of records
  EXPECT_FALSE(offered(library_of(versions, kWhole)));
}

TEST(ElfFile, WithoutAnyOrderIsAnError) {
  std::string file = this_program().substr(0, 100);
  EXPECT_FALSE(read_elf(file, "this"));
}

}  // namespace
}  // namespace slipway::app
