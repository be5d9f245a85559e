// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/empty.cpp - deviceplugin-empty does the work that the kernel may block a
// process for: pods can lock files in their folders for any length of time.
//
// deviceplugin-empty FOLDER empties a folder that pods left, in a unit with the powers for that (unit.hpp), which the
// device plugin does not have. The folder itself stays. deviceplugin-empty --users FOLDER prints who uses a pipe
// folder.
#include <cstdio>
#include <cstring>

#include "deviceplugin/service/mps/pipe/emptying.hpp"
#include "deviceplugin/service/mps/pipe/pipe_users.hpp"

int main(int count, char** arguments) {
  using namespace slipway::deviceplugin;
  if (count == 3 && std::strcmp(arguments[1], kUsersOption) == 0) {
    std::puts(to_text(users_of(arguments[2])).c_str());
    return 0;
  }
  if (count != 2) {
    std::fputs("only slipway starts deviceplugin-empty\n", stderr);
    return 64;
  }
  empty_aside(arguments[1]);
  return 0;
}
