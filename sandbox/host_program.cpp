// SPDX-License-Identifier: Apache-2.0
#include "sandbox/host_program.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <elf.h>
#include <link.h>

#include <slipway/text.hpp>

#include "sandbox/tool.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::array kProgramFolders{"/usr/sbin/", "/usr/bin/",        "/sbin/",
                                     "/bin/",      "/usr/local/sbin/", "/usr/local/bin/"};
constexpr std::chrono::seconds kListLimit{30};
constexpr std::size_t kMostHeaders = 256;
constexpr const char* kLinker = "ld.so";  // in kToolsFolder
/// Libraries that programs open by name for a compressed or signed file (kmod 34: dlopen(3)), and do not list.
constexpr std::array kOpenedByName{"libzstd.so.1", "liblzma.so.5", "libz.so.1", "libcrypto.so.3"};

Error cannot_take(const std::string& program, const std::string& why) {
  return Error{ErrorCode::unsupported,
               "this machine's " + program + " cannot be run with that root as its only file system: " + why,
               program,
               "install the program in the root, so that the root's own program runs, or use a machine where " +
                   program + " is an ordinary program",
               {}};
}

/// The parts of a program's ELF headers that matter, for programs of this processor.
struct Head {
  bool is_elf = false;
  std::string linker;  ///< empty for a static program
};

Head head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? 2 : 1))
    return {};
  Head head{true, {}};
  for (std::size_t i = 0; i < std::min<std::size_t>(header.e_phnum, kMostHeaders); ++i) {
    ElfW(Phdr) part{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof(part))) return {};
    if (part.p_type != PT_INTERP) continue;
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    std::getline(file, head.linker, '\0');
  }
  return head;
}

std::string real_path(const std::string& path) {
  std::error_code missing;
  const std::string real = std::filesystem::canonical(path, missing);
  return missing ? std::string() : real;
}

/// Returns the first file of that name that is a program, and not a script that starts NAME.real.
std::string path_of(const std::string& name) {
  std::string script;
  for (const char* folder : kProgramFolders)
    for (const char* ending : {"", ".real"}) {
      const std::string path = real_path(folder + name + ending);
      if (!path.empty() && head_of(path).is_elf) return path;
      if (script.empty()) script = path;
    }
  return script;
}

/// Collects libraries: those that this machine's linker would load for a program or library of this machine.
class Libraries {
 public:
  explicit Libraries(std::string linker) : linker_(std::move(linker)) {}

  /// "\tlibzstd.so.1 => /lib/x86_64-linux-gnu/libzstd.so.1 (0x00007f…)"
  Status add_needed(const std::string& file) {
    SLIPWAY_TRY(end, run_here({linker_, "--list", file}, kListLimit));
    if (end.status != 0) return cannot_take(file, last_lines(end.output, 3));
    for (const std::string& line : lines_of(end.output)) {
      const std::size_t arrow = line.find(" => ");
      if (arrow == std::string::npos) continue;
      std::string name;
      std::string path;
      std::istringstream(line) >> name;
      std::istringstream(line.substr(arrow + 4)) >> path;
      if (!path.starts_with('/') || name.find('/') != std::string::npos)
        return Error{ErrorCode::not_found,
                     "this machine has no " + name + ", which its " + file + " needs",
                     name,
                     "install the package that has it",
                     {}};
      add(name, path);
    }
    return {};
  }

  Status add_opened_by_name() {
    const std::vector<SandboxBind> listed = files_;
    for (const char* name : kOpenedByName)
      for (const SandboxBind& each : listed) {
        const std::string path = each.source.substr(0, each.source.rfind('/') + 1) + name;
        if (has(name) || real_path(path).empty()) continue;
        add(name, path);
        SLIPWAY_CHECK(add_needed(path));
      }
    return {};
  }

  std::vector<SandboxBind> take() { return std::move(files_); }

 private:
  bool has(const std::string& name) const {
    return std::ranges::any_of(files_, [&](const SandboxBind& each) { return each.target == name; });
  }
  void add(const std::string& name, const std::string& path) {
    if (!has(name)) files_.push_back({path, name, true});
  }

  std::string linker_;
  std::vector<SandboxBind> files_;
};

}  // namespace

Result<HostProgram> find_host_program(const std::string& name) {
  const std::string path = path_of(name);
  if (path.empty()) return Error{ErrorCode::not_found, "this machine has no " + name, name, "install it", {}};
  const Head head = head_of(path);
  if (!head.is_elf) return cannot_take(path, "it is a script, or for another processor");
  const std::string folder = std::string(kToolsFolder) + "/";
  HostProgram program{{folder + name}, {{path, name, true}}};
  if (head.linker.empty()) return program;
  Libraries libraries(head.linker);
  SLIPWAY_CHECK(libraries.add_needed(path));
  SLIPWAY_CHECK(libraries.add_opened_by_name());
  program.start = {folder + kLinker, "--library-path", kToolsFolder, folder + name};
  // This program must not use the root's ld.so.cache. musl's linker has no such file.
  if (head.linker.find("ld-musl") == std::string::npos)
    program.start.insert(program.start.begin() + 1, "--inhibit-cache");
  for (SandboxBind& library : libraries.take()) program.files.push_back(std::move(library));
  program.files.push_back({head.linker, kLinker, true});
  return program;
}

}  // namespace slipway::sandbox
