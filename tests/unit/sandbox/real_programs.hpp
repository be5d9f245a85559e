// SPDX-License-Identifier: Apache-2.0
// tests/unit/sandbox/real_programs.hpp - puts programs of this machine into a test's root, so that they run there.
#pragma once

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>

#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::test {

inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) text.append(buffer, got);
  ::pclose(pipe);
  return text;
}

inline void copy_in(const TempRoot& root, const std::string& from, const std::string& to) {
  std::filesystem::create_directories(std::filesystem::path(root.at(to)).parent_path());
  std::filesystem::copy_file(std::filesystem::canonical(from), root.at(to),
                             std::filesystem::copy_options::skip_existing);
}

/// Creates a merged-/usr root with these programs, their libraries, and the folders that tools expect.
/// @param programs  "/usr/bin/NAME", the path here and in the root
inline void install_programs(const TempRoot& root, std::initializer_list<std::string> programs) {
  for (const std::string folder :
       {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/etc", "/tmp", "/var/tmp", "/proc", "/sys", "/dev", "/run"})
    root.make_folder(folder);
  for (const std::string name : {"bin", "sbin", "lib", "lib64"})
    if (!root.has("/" + name)) root.link("/" + name, "usr/" + name);
  for (const std::string& program : programs) {
    copy_in(root, program, program);
    std::istringstream lines(output_of("ldd " + program + " 2>/dev/null"));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t slash = line.find('/');
      if (slash == std::string::npos) continue;
      const std::string library = line.substr(slash, line.find(' ', slash) - slash);
      copy_in(root, library, library);
    }
  }
}

/// Creates a kernel module that depmod and modinfo accept: an ELF object with a .modinfo section.
inline void make_module(const TempRoot& root, const std::string& path, const std::string& modinfo) {
  root.put("/module.c", "const char info[] __attribute__((section(\".modinfo\"), used)) = " + modinfo + ";\nint x;\n");
  std::filesystem::create_directories(std::filesystem::path(root.at(path)).parent_path());
  const std::string command = "gcc -g -c -o " + root.at(path) + " " + root.at("/module.c");
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::filesystem::remove(root.at("/module.c"));
}

}  // namespace slipway::test
