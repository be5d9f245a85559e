// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/empty.cpp - deviceplugin-empty FOLDER…: empties folders that pods left, with the
// powers of its unit (unit.hpp), which the device plugin does not have. The folders themselves stay.
#include <cstdio>

#include "deviceplugin/service/mps/emptying.hpp"

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("deviceplugin-empty is started by slipway, not by hand\n", stderr);
    return 64;
  }
  slipway::deviceplugin::empty_folders({arguments + 1, arguments + count});
  return 0;
}
