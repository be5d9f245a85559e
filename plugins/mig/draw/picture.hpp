// SPDX-License-Identifier: Apache-2.0
// plugins/mig/draw/picture.hpp - GPUs drawn: their memory slices, the instances on them, their users, and what more
// would fit; and the change of a layout.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <slipway/json.hpp>

#include "mig/draw/rows.hpp"
#include "mig/layout/gpu.hpp"
#include "mig/layout/intent.hpp"

namespace slipway::mig {

/// A process that uses a GPU or a part of it.
struct DrawnHolder {
  std::optional<unsigned> start;  ///< the memory slice at which its GPU instance begins; empty: it uses the whole GPU
  std::string text;               ///< "python3 (pid 7) on 1g.10gb at 4"
};

struct GpuInUse {
  Gpu gpu;
  std::vector<DrawnHolder> holders;
};

/// GPUs that are drawn once, because they are equal: model, mode and instances, and none is in use.
struct GpuGroup {
  std::vector<unsigned> indices;
  GpuInUse first;

  /// Returns "GPU 3 (0000:65:00.0)" or "GPU 0-3, 5".
  std::string name() const;
};
std::vector<GpuGroup> grouped(const std::vector<GpuInUse>& gpus);

/// "0-3, 5".
std::string ranges_text(const std::vector<unsigned>& numbers);
/// Returns "GPU 3 (0000:65:00.0)" or "GPU 0-3, 5".
std::string names_text(const std::vector<Gpu>& gpus);
/// Groups GPUs with equal texts, in the order of the first of each: {names_text(), text}.
std::vector<std::pair<std::string, std::string>> named_by_text(const std::vector<std::pair<Gpu, std::string>>& texts);
/// Returns "GPU 0-3 (7 x 1g.10gb), GPU 5 (0000:bb:00.0) (MIG disabled)".
std::string layouts_text(const std::vector<Gpu>& gpus);
/// Returns "MIG: 6 of 7 compute slices used", and mentions a mode that waits for a reset.
std::string status_text(const Gpu& gpu);
/// Returns "1 x 3g.40gb or 2 x 2g.20gb"; empty if no instance fits.
std::string room_text(const Gpu& gpu);
/// Replaces characters other than printable ASCII by "?", because a process chooses its name, which could move the
/// cursor.
std::string ascii_text(const std::string& text);
/// Like folded(), but keeps "2 x 2g.20gb" on one line; breaks words that are longer than a line.
std::string folded_counts(const std::string& text, std::size_t width, std::size_t indent, std::size_t first);

/// Lines have at most 80 columns.
std::string gpus_text(const std::vector<GpuInUse>& gpus, const TerminalStyle& style);
/// Returns a self-contained file, for light and dark backgrounds.
std::string gpus_svg(const std::vector<GpuInUse>& gpus);
/// The document `MigGpus`.
Json gpus_json(const std::vector<GpuInUse>& gpus);

/// GPUs with the same change: equal models with instances at the same places.
struct ChangeGroup {
  std::vector<unsigned> indices;
  const Intent* first;  ///< borrowed

  std::string name() const;
};
/// The GPUs that differ from their targets.
std::vector<ChangeGroup> changes_of(const std::vector<Intent>& intents);

/// Shows what an apply changes, in ASCII and at most 76 columns: for each group the layout now and after it, with marks
/// below the instances: '=' stays, '-' is destroyed, '+' is created. If there are several groups, each has a heading.
std::string changes_text(const std::vector<ChangeGroup>& groups);

}  // namespace slipway::mig
