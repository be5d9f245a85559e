// SPDX-License-Identifier: Apache-2.0
// app/install/elf_file.hpp - what an ELF file needs of shared libraries, and what it offers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::core {

struct ElfFile {
  unsigned machine = 0;                                 ///< EM_X86_64 and the like
  std::vector<std::string> needed;                      ///< names of libraries, as the loader looks for them
  std::map<std::string, std::set<std::string>> wanted;  ///< library to the versions of symbols: "GLIBC_2.34"
  bool has_debug_parts = false;  ///< a symbol table or debug information, which strip(1) takes out
};

/// One of slipway's own or of this machine. @param content  all of the file. @param path  for messages
/// Errors: `corrupt` when it begins like an ELF file and is none.
Result<ElfFile> read_elf(std::string& content, const std::string& path);

/// What a library of a root, which the author of an image made, has for others.
struct OfferedLibrary {
  unsigned machine = 0;           ///< EM_X86_64 and the like
  std::set<std::string> offered;  ///< as of ElfFile; 4096 at most
};
/// Errors: `corrupt` it is not an ELF file, or has very many or very large parts.
Result<OfferedLibrary> read_offered(int fd);

bool is_elf(const std::string& content);

/// "x86_64", "aarch64", else "ELF machine 40".
std::string machine_name(unsigned machine);

}  // namespace slipway::core
