// SPDX-License-Identifier: Apache-2.0
// base/yaml/load.hpp - a YAML document of somebody else as yaml-cpp's nodes, within limits.
//
// A kilobyte of aliases of aliases stands for billions of values. yaml-cpp shares what an alias names, so that a
// document is small as nodes; whoever then walks over it, as every reader does, never ends. The values are counted
// before.
#pragma once

#include <optional>
#include <string>

#include <yaml-cpp/yaml.h>

namespace slipway::yaml {

struct Limits {
  std::size_t bytes = 4U << 20U;     ///< of the text
  std::size_t values = 200'000;      ///< scalars, lists and maps, those behind an alias as often as it is named
  std::size_t scalars = 16U << 20U;  ///< bytes of all scalars, counted likewise
  std::size_t depth = 64;            ///< of lists and maps
};

/// What YAML::Load() gives for the first document. An alias inside the value that it names is an error as well.
/// Throws YAML::Exception; what() of it is told by problem_text().
YAML::Node load(const std::string& text, const Limits& limits = {});

/// 0, 1, or 2 for more. YAML::LoadAll() adds empty documents without end when a comma or a bracket follows one.
/// Throws YAML::Exception as that does.
int count_documents(const std::string& text);

/// Where a second document begins, or what follows the first one and does not belong to it. Lines of --- and ... at the
/// end begin none. Throws YAML::Exception as YAML::LoadAll() does.
std::optional<YAML::Mark> second_document(const std::string& text);

/// "is not YAML: …", or "is not read: …" where a limit of load() is passed; without the place.
std::string problem_text(const YAML::Exception& problem);

/// FILE:LINE:COLUMN of a mark, both from 1; FILE alone where the mark is none.
std::string place(const std::string& file, const YAML::Mark& mark);

}  // namespace slipway::yaml
