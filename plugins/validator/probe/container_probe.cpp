// SPDX-License-Identifier: Apache-2.0
// plugins/validator/probe/container_probe.cpp - the program of a container that validator starts: opens each node of
// NVIDIA's driver that the container has in /dev, or in the folder that it is given. Exit status: 0 all opened, 3 one
// did not, 4 there is no node.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char** words) {
  const std::string place = count > 1 ? words[1] : "/dev";
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir(place.c_str()), close);
  if (folder == nullptr) {
    std::printf("there is no %s: %s\n", place.c_str(), std::strerror(errno));
    return 4;
  }
  int opened = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    const std::string path = place + "/" + name;
    struct stat status {};
    if (name.rfind("nvidia", 0) != 0 || ::stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) continue;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
      std::printf("it cannot open %s: %s\n", path.c_str(), std::strerror(errno));
      return 3;
    }
    ::close(file);
    ++opened;
  }
  if (opened == 0) {
    std::printf("there is no device node of NVIDIA's driver in %s\n", place.c_str());
    return 4;
  }
  std::printf("it has %d nodes of the driver, and can open each\n", opened);
  return 0;
}
