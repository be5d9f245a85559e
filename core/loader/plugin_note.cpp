// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plugin_note.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include <gelf.h>
#include <libelf.h>
#include <slipway/abi.h>

namespace slipway::core {
namespace {

constexpr std::size_t kLargestNotes = std::size_t{4} << 20U;       // of one segment
constexpr std::size_t kLargestManifest = std::size_t{256} << 10U;  // docs/manifest.md
constexpr std::size_t kLongestVersion = 64;
constexpr std::string_view kOwner{SLIPWAY_NOTE_OWNER "\0", sizeof(SLIPWAY_NOTE_OWNER)};  // with its NUL

#if defined(__x86_64__)
constexpr GElf_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr GElf_Half kMachine = EM_AARCH64;
#else
#error "find out the ELF machine type"
#endif
constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

Error invalid(const std::string& path, const std::string& why, const std::string& next) {
  return Error{ErrorCode::invalid, path + ": " + why, path, next, {}};
}

Status check_machine(Elf* elf, const std::string& path, ElfKind kind) {
  GElf_Ehdr header;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr)
    return invalid(path, "is not an ELF file", "plugins are shared objects: check how it was built or copied");
  if (header.e_ident[EI_CLASS] != kClass || header.e_ident[EI_DATA] != kByteOrder || header.e_machine != kMachine)
    return invalid(path,
                   "is built for another machine (ELF machine " + std::to_string(header.e_machine) + ", this one is " +
                       std::to_string(kMachine) + ")",
                   "install the plugin that is built for this machine");
  if (kind == ElfKind::program && header.e_type == ET_EXEC) return {};
  if (header.e_type != ET_DYN) return invalid(path, "is not a shared object", "plugins are shared objects (*.so)");
  return {};
}

/// Returns the description of slipway's note among the notes of one segment or section.
std::optional<std::string> find_note(Elf_Data* data) {
  if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
  const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
  GElf_Nhdr note;
  std::size_t name = 0;
  std::size_t description = 0;
  for (std::size_t at = 0, next = 0; (next = gelf_getnote(data, at, &note, &name, &description)) > at; at = next) {
    if (name > bytes.size() || note.n_namesz > bytes.size() - name) return std::nullopt;
    if (description > bytes.size() || note.n_descsz > bytes.size() - description) return std::nullopt;
    if (note.n_type == SLIPWAY_NOTE_TYPE && bytes.substr(name, note.n_namesz) == kOwner)
      return std::string(bytes.substr(description, note.n_descsz));
  }
  return std::nullopt;
}

std::optional<std::string> find_in_segments(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return std::nullopt;
    if (segment.p_type != PT_NOTE || segment.p_filesz > kLargestNotes) continue;
    const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<int64_t>(segment.p_offset), segment.p_filesz, type);
    if (auto note = find_note(data)) return note;
  }
  return std::nullopt;
}

/// Looks in the sections: a linker script may leave a note section without its segment.
std::optional<std::string> find_in_sections(Elf* elf) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return std::nullopt;
    if (header.sh_type != SHT_NOTE || header.sh_size > kLargestNotes || (header.sh_flags & SHF_COMPRESSED) != 0)
      continue;
    if (auto note = find_note(elf_getdata(section, nullptr))) return note;
  }
  return std::nullopt;
}

bool is_version(std::string_view text) {
  for (const char c : text)
    if (c <= ' ' || c > '~') return false;
  return !text.empty() && text.size() <= kLongestVersion;
}

Result<PluginNote> take_apart(const std::string& description, const std::string& path) {
  constexpr std::size_t kHead = 8;  // magic, major, minor
  constexpr std::string_view kMagic = SLIPWAY_NOTE_MAGIC;
  const Error broken = invalid(path, "its slipway note is broken", "build the plugin again with slipway_add_plugin()");
  if (description.size() < kHead || !description.starts_with(kMagic)) return broken;
  PluginNote note;
  std::memcpy(&note.protocol_major, description.data() + kMagic.size(), sizeof note.protocol_major);
  std::memcpy(&note.protocol_minor, description.data() + kMagic.size() + 2, sizeof note.protocol_minor);
  const std::size_t nul = description.find('\0', kHead);
  if (nul == std::string::npos) return broken;
  note.plugin_version = description.substr(kHead, nul - kHead);
  note.manifest = description.substr(nul + 1);
  if (!is_version(note.plugin_version)) return broken;
  if (note.manifest.size() > kLargestManifest)
    return invalid(path, "its manifest is larger than 256 KiB", "shorten the manifest");
  return note;
}

std::string protocol(unsigned major, unsigned minor) { return std::to_string(major) + "." + std::to_string(minor); }

}  // namespace

Status check_protocol(const PluginNote& note, const std::string& path) {
  constexpr unsigned kMajor = SLIPWAY_PROTOCOL_MAJOR;
  constexpr unsigned kMinor = SLIPWAY_PROTOCOL_MINOR;
  if (note.protocol_major == kMajor && note.protocol_minor <= kMinor) return {};
  const bool newer = note.protocol_major > kMajor || note.protocol_major == kMajor;
  const std::string theirs = protocol(note.protocol_major, note.protocol_minor);
  return Error{
      ErrorCode::unsupported,
      path + ": the plugin was built for plugin protocol " + theirs + "; this slipway has " + protocol(kMajor, kMinor),
      path,
      newer ? "update slipway to a version with protocol " + theirs + " or later, or rebuild the plugin with this SDK"
            : "rebuild the plugin with this slipway's SDK",
      {}};
}

Result<PluginNote> read_plugin_note(int fd, const std::string& path, ElfKind kind) {
  if (elf_version(EV_CURRENT) == EV_NONE)
    return Error{ErrorCode::internal, "libelf is older than its header", path, "reinstall libelf", {}};
  const ElfHandle elf(elf_begin(fd, ELF_C_READ, nullptr));  // not mapped: a truncated file would cause SIGBUS
  if (!elf) return invalid(path, "is not an ELF file", "plugins are shared objects: check how it was built or copied");
  SLIPWAY_CHECK(check_machine(elf.get(), path, kind));
  auto description = find_in_segments(elf.get());
  if (!description) description = find_in_sections(elf.get());
  if (!description)
    return invalid(path, "has no slipway note, so it is not a plugin",
                   "build it with slipway_add_plugin(), or move it away");
  return take_apart(*description, path);
}

}  // namespace slipway::core
