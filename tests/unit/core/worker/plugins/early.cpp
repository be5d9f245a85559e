// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/worker/plugins/early.cpp - a library that fails while it is loaded, before any call.
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include <unistd.h>

namespace {

struct Early {
  Early() {
    std::cerr << "constructing" << std::endl;
#if defined(EARLY_ABORT)
    std::abort();
#elif defined(EARLY_SLEEP)
    for (;;) pause();
#elif defined(EARLY_THROW)
    throw std::runtime_error("thrown too early");
#endif
  }
};

const Early early;

}  // namespace
