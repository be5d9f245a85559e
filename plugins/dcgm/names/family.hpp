// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/names/family.hpp - the rows of a table of metrics: the field that gives the value, and its unit.
#pragma once

#include <optional>
#include <string>

#include <slipway/service/metrics.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/sampler/sample.hpp"

namespace slipway::dcgm {

/// A row of a family. The rows of one family are adjacent.
struct FamilyRow {
  const char* name;
  const char* type;
  const char* help;
  unsigned field;
  double factor = 1;            ///< converts the field's unit to the metric's
  const char* label = nullptr;  ///< the label that distinguishes the rows of a family
  const char* label_value = nullptr;
};

/// Formats a number with the fewest digits that keep its value: "0.43", "85899345920".
std::string plain_number(double value);
/// Returns the value of a field times a factor; empty: the entity does not have it.
std::string scaled_text(const Counters& counters, const Entity& entity, unsigned field, double factor);
/// Returns the value as it was read; null if it is not among the counters.
const Value* value_of(const Counters& counters, const Entity& entity, unsigned field);

}  // namespace slipway::dcgm
