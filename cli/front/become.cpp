// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <unistd.h>

#include "cli/front/handover.hpp"

namespace slipway::cli {

Error become(const std::string& program, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return system_error("start", program, errno);
}

}  // namespace slipway::cli
