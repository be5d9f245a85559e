// SPDX-License-Identifier: Apache-2.0
// tests/component/roots/recorded_tool.cpp - stands for each tool of a recorded root: writes down how it was called, and
// leaves a mark where that tool would write. Static, so that it runs in a root without any library.
#include <cstdio>
#include <filesystem>
#include <string>

namespace {

void append(const std::string& file, const std::string& text) {
  if (FILE* out = std::fopen(file.c_str(), "a")) {
    std::fputs(text.c_str(), out);
    std::fclose(out);
  }
}

/// Writes depmod's list, without dependencies.
void list_modules(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/updates/slipway", none))
    append(folder + "/modules.dep", "updates/slipway/" + entry.path().filename().string() + ":\n");
}

}  // namespace

int main(int count, char** values) {
  std::string line = values[0];
  line = line.substr(line.rfind('/') + 1);
  const std::string name = line;
  const std::string last = values[count - 1];
  for (int i = 1; i < count; ++i) line += std::string(" ") + values[i];
  append("/var/log/tools", line + "\n");
  if (name == "depmod") list_modules("/lib/modules/" + last);
  if (name == "ldconfig") append("/etc/ld.so.cache", "cached\n");
  if (name == "dracut") append(last, "made anew\n");
  if (name == "update-initramfs") append("/boot/initrd.img-" + last, "made anew\n");
  return 0;
}
