// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/text.hpp - for the sources beside it: NVML functions that fill a text or one value.
#pragma once

#include <array>
#include <string>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

/// Reads the text in a buffer that may lack its NUL.
template <std::size_t size>
std::string text_of(const char (&buffer)[size]) {
  std::size_t length = 0;
  while (length < size && buffer[length] != '\0') ++length;
  return std::string(buffer, length);
}

/// Calls a function (handle, char* text, unsigned length).
template <class Handle, std::size_t size>
Answer<std::string> ask_text(Nvml& nvml, const char* name, Handle handle) {
  return nvml.ask<std::string>([name, handle](const Library& library, std::string& text) {
    char buffer[size] = {};
    const nvmlReturn_t code =
        invoke(library.function<Handle, char*, unsigned int>(name), handle, &buffer[0], static_cast<unsigned>(size));
    text = text_of(buffer);
    return code;
  });
}

/// Calls a function (handle, T* value), the first of its names that exists.
template <class T, class Handle>
Answer<T> ask_value(Nvml& nvml, std::initializer_list<const char*> names, Handle handle) {
  std::array<const char*, 3> known{};
  std::copy_n(names.begin(), std::min(names.size(), known.size()), known.begin());
  return nvml.ask<T>([known, handle](const Library& library, T& value) {
    for (const char* name : known)
      if (name != nullptr && library.has(name)) return library.function<Handle, T*>(name)(handle, &value);
    return static_cast<nvmlReturn_t>(NVML_ERROR_FUNCTION_NOT_FOUND);
  });
}

}  // namespace slipway::nvidia::nvml
