// SPDX-License-Identifier: Apache-2.0
// core/loader/service_file.hpp - the file that a component's service is in.
#pragma once

#include <string>

namespace slipway::core {

struct ServiceFile {
  std::string path;
  bool is_program = false;  ///< runs by itself in the place of slipway-worker; else a library that the worker loads
};

}  // namespace slipway::core
