// SPDX-License-Identifier: Apache-2.0
// app/install/elf_file.hpp - reads which shared libraries an ELF file requires, and what it offers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::app {

struct ElfFile {
  unsigned machine = 0;                                 ///< such as EM_X86_64
  std::vector<std::string> needed;                      ///< names of libraries in the form that the loader uses
  std::map<std::string, std::set<std::string>> wanted;  ///< library to the versions of symbols: "GLIBC_2.34"
  bool has_debug_parts = false;                         ///< a symbol table or debug information, which strip(1) removes
};

/// Reads a file of slipway or of this machine. @param content  the whole file. @param path  for messages
/// Errors: `corrupt` when it has the magic of an ELF file and is not valid.
Result<ElfFile> read_elf(std::string& content, const std::string& path);

/// The symbol versions that a library of a root offers. The author of an image made the library.
struct OfferedLibrary {
  unsigned machine = 0;           ///< such as EM_X86_64
  std::set<std::string> offered;  ///< as in ElfFile; at most 4096
};
/// Errors: `corrupt` it is not an ELF file, or its parts are too many or too large.
Result<OfferedLibrary> read_offered(int fd);

bool is_elf(const std::string& content);

/// "x86_64", "aarch64", else "ELF machine 40".
std::string machine_name(unsigned machine);

}  // namespace slipway::app
