// SPDX-License-Identifier: Apache-2.0
// cli/front/launch.cpp - the launcher for a program of the portable folder: starts it with the folder's own loader and
// libraries (docs/portability.md). It is static and needs nothing of the machine except /proc.
//
// FOLDER/bin/NAME, or another place below FOLDER, becomes
//   FOLDER/libexec/slipway/LOADER --library-path FOLDER/lib/slipway/libraries FOLDER/lib/slipway/programs/NAME WORD…
// The libraries' folder is passed as an argument, so that programs started from there do not inherit it.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

constexpr int kNotStarted = 127;
constexpr const char* kLoader = "/libexec/slipway/" SLIPWAY_LOADER;

std::string own_path() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return path;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Returns the folder above `path` that has the loader; empty if not found.
std::string folder_with_loader(const std::string& path) {
  for (std::string folder = parent_of(path); !folder.empty(); folder = parent_of(folder))
    if (::access((folder + kLoader).c_str(), X_OK) == 0) return folder;
  return "";
}

int fail(const std::string& what, const std::string& next) {
  std::fprintf(stderr, "error: %s\n  do:    %s\n", what.c_str(), next.c_str());
  return kNotStarted;
}

}  // namespace

int main(int count, char** values) {
  const std::string self = own_path();
  if (self.empty()) return fail("/proc does not tell where this program is", "mount /proc (mount -t proc proc /proc)");
  const std::string folder = folder_with_loader(self);
  if (folder.empty())
    return fail(self + " is a part of slipway's portable folder, but no folder above it has " + (kLoader + 1),
                "unpack slipway's archive again, and move its folder only as a whole");
  if (folder.find_first_of(":;") != std::string::npos)
    return fail("the path " + folder + " has a colon or semicolon, at which the loader would cut it in two",
                "move the folder to a path without these characters");
  const std::string loader = folder + kLoader;
  const std::string program = folder + "/lib/slipway/programs" + self.substr(self.rfind('/'));
  std::vector<std::string> words{loader, "--library-path", folder + "/lib/slipway/libraries"};
  if (count > 0) words.insert(words.end(), {"--argv0", values[0]});
  words.push_back(program);
  words.insert(words.end(), values + (count > 0 ? 1 : 0), values + count);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(loader.c_str(), arguments.data());
  return fail("cannot start " + loader + ": " + std::strerror(errno), "unpack slipway's archive again");
}
