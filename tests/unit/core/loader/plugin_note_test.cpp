// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plugin_note.hpp"

#include <random>

#include <elf.h>
#include <gtest/gtest.h>

#include "core/loader/manifest.hpp"
#include "plugin_bytes.hpp"

namespace slipway::core {
namespace {

Result<PluginNote> read(const std::string& bytes) { return read_plugin_note(memory_file(bytes).get(), "x.so"); }

template <class T>
T& at(std::string& bytes, std::size_t offset) {
  return *reinterpret_cast<T*>(bytes.data() + offset);  // NOLINT: an ELF file's own layout
}

Elf64_Ehdr& header(std::string& bytes) { return at<Elf64_Ehdr>(bytes, 0); }

TEST(PluginNote, OfARealPluginIsReadWithoutLoadingIt) {
  const auto note = read(plugin_bytes("test-alpha"));
  ASSERT_TRUE(note) << to_text(note.error());
  EXPECT_EQ(note->protocol_major, 1);
  EXPECT_EQ(note->plugin_version, "2.0.1");
  EXPECT_EQ(note->manifest.substr(0, 17), "component: alpha\n");
  EXPECT_TRUE(note->manifest.ends_with("after: [alpha]\n")) << note->manifest;
}

TEST(PluginNote, IsFoundWithoutSectionHeaders) {
  std::string bytes = plugin_bytes("test-alpha");
  header(bytes).e_shoff = 0;
  header(bytes).e_shnum = 0;
  header(bytes).e_shstrndx = 0;
  EXPECT_TRUE(read(bytes));
}

TEST(PluginNote, IsFoundInASectionWhenThereIsNoSegmentForIt) {
  std::string bytes = plugin_bytes("test-alpha");
  const Elf64_Ehdr head = header(bytes);
  for (std::size_t i = 0; i < head.e_phnum; ++i) {
    auto& segment = at<Elf64_Phdr>(bytes, head.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_NOTE) segment.p_type = PT_NULL;
  }
  EXPECT_TRUE(read(bytes));
}

struct Change {
  std::string name;
  void (*make)(std::string& bytes);
  std::string says;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

class ChangedPlugin : public ::testing::TestWithParam<Change> {};

TEST_P(ChangedPlugin, IsRefusedWithAnExplanation) {
  std::string bytes = plugin_bytes("test-alpha");
  GetParam().make(bytes);
  const auto note = read(bytes);
  ASSERT_FALSE(note);
  EXPECT_EQ(note.error().code, ErrorCode::invalid);
  EXPECT_NE(note.error().what.find(GetParam().says), std::string::npos) << to_text(note.error());
  EXPECT_FALSE(note.error().next.empty());
}

const std::vector<Change> kChanges{
    {"Empty", [](std::string& bytes) { bytes.clear(); }, "not an ELF file"},
    {"Text", [](std::string& bytes) { bytes = "#!/bin/sh\n"; }, "not an ELF file"},
    {"Archive", [](std::string& bytes) { bytes = "!<arch>\n"; }, "not an ELF file"},
    {"CutInItsHeader", [](std::string& bytes) { bytes.resize(40); }, "not an ELF file"},
    {"CutBeforeItsNote", [](std::string& bytes) { bytes.resize(64 + 56); }, "no slipway note"},
    {"OtherMachine", [](std::string& bytes) { header(bytes).e_machine = EM_S390; }, "another machine"},
    {"OtherClass", [](std::string& bytes) { bytes[EI_CLASS] = ELFCLASS32; }, "another machine"},
    {"Program", [](std::string& bytes) { header(bytes).e_type = ET_EXEC; }, "not a shared object"},
    {"OtherOwner", [](std::string& bytes) { bytes[note_offset(bytes) - 8] = 'S'; }, "no slipway note"},
    {"OtherMagic", [](std::string& bytes) { bytes[note_offset(bytes)] = 'X'; }, "note is broken"},
    {"VersionWithANewline", [](std::string& bytes) { bytes[note_offset(bytes) + 9] = '\n'; }, "note is broken"},
    {"NoVersion", [](std::string& bytes) { bytes[note_offset(bytes) + 8] = '\0'; }, "note is broken"},
    {"ShortNote", [](std::string& bytes) { at<std::uint32_t>(bytes, note_offset(bytes) - 16) = 6; }, "note is broken"},
};

INSTANTIATE_TEST_SUITE_P(Elf, ChangedPlugin, ::testing::ValuesIn(kChanges),
                         [](const auto& test) { return test.param.name; });

TEST(ServiceProgram, MayBeAtAFixedAddress) {
  std::string bytes = plugin_bytes("test-alpha");
  header(bytes).e_type = ET_EXEC;
  EXPECT_TRUE(read_plugin_note(memory_file(bytes).get(), "x-service", ElfKind::program));
  header(bytes).e_type = ET_CORE;
  EXPECT_FALSE(read_plugin_note(memory_file(bytes).get(), "x-service", ElfKind::program));
}

/// Changes bytes in critical places: headers, segment and section tables, the note.
std::string mutated(const std::string& original, std::mt19937& random) {
  std::string bytes = original;
  const auto pick = [&](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
  const Elf64_Ehdr head = header(bytes);
  const std::size_t tables[] = {0, head.e_phoff, head.e_shoff, note_offset(bytes) - 20};
  const std::size_t widths[] = {sizeof(Elf64_Ehdr), head.e_phnum * sizeof(Elf64_Phdr),
                                head.e_shnum * sizeof(Elf64_Shdr), 200};
  for (std::size_t changes = 1 + pick(6); changes > 0; --changes) {
    const std::size_t table = pick(4);
    const std::size_t place = std::min(tables[table] + pick(widths[table]), bytes.size() - 8);
    const std::uint64_t values[] = {0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFFFFFFFFFF, random()};
    const std::size_t width = std::size_t{1} << pick(4);
    std::memcpy(bytes.data() + place, &values[pick(8)], width);
  }
  if (pick(4) == 0) bytes.resize(pick(bytes.size()));
  return bytes;
}

TEST(PluginNote, OfAMutatedPluginNeverCrashes) {
  const std::string original = plugin_bytes("test-alpha");
  std::mt19937 random(20261121);
  int read_well = 0;
  for (int i = 0; i < 4'000; ++i) {
    const auto note = read(mutated(original, random));
    if (!note) {
      EXPECT_FALSE(note.error().what.empty());
      continue;
    }
    ++read_well;
    const auto manifests = parse_manifests(note->manifest, "x.so");
    EXPECT_TRUE(manifests || !manifests.error().what.empty());
  }
  EXPECT_GT(read_well, 20);  // not all mutations fail at the first byte
}

}  // namespace
}  // namespace slipway::core
