// SPDX-License-Identifier: Apache-2.0
// plugins/mig/draw/picture.hpp - GPUs drawn: their memory slices, the instances on them, who uses these, and what more
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
  std::optional<unsigned> start;  ///< the memory slice at which its GPU instance begins; nothing: it uses the GPU
  std::string text;               ///< "python3 (pid 7) on 1g.10gb at 4"
};

struct GpuInUse {
  Gpu gpu;
  std::vector<DrawnHolder> holders;
};

/// GPUs that are drawn once, since nothing tells them apart: equal model, mode and instances, and nobody uses them.
struct GpuGroup {
  std::vector<unsigned> indices;
  GpuInUse first;

  /// "GPU 3 (0000:65:00.0)", "GPU 0-3, 5".
  std::string name() const;
};
std::vector<GpuGroup> grouped(const std::vector<GpuInUse>& gpus);

/// "0-3, 5".
std::string ranges_text(const std::vector<unsigned>& numbers);
/// "GPU 3 (0000:65:00.0)", "GPU 0-3, 5".
std::string names_text(const std::vector<Gpu>& gpus);
/// GPUs with equal texts, in the order of the first of each: {names_text(), text}.
std::vector<std::pair<std::string, std::string>> named_by_text(const std::vector<std::pair<Gpu, std::string>>& texts);
/// "GPU 0-3 (7 x 1g.10gb), GPU 5 (0000:bb:00.0) (MIG disabled)".
std::string layouts_text(const std::vector<Gpu>& gpus);
/// "MIG: 6 of 7 compute slices used"; with a mode that waits for a reset.
std::string status_text(const Gpu& gpu);
/// "1 x 3g.40gb or 2 x 2g.20gb"; empty where nothing fits.
std::string room_text(const Gpu& gpu);
/// A process chooses its name: what is not printable ASCII in it could move the cursor, and becomes "?".
std::string ascii_text(const std::string& text);
/// As folded(), and "2 x 2g.20gb" stays on one line; words that fit on none are broken.
std::string folded_counts(const std::string& text, std::size_t width, std::size_t indent, std::size_t first);

/// No line is wider than 80 columns.
std::string gpus_text(const std::vector<GpuInUse>& gpus, const Look& look);
/// A file that needs no other, for light and dark surroundings.
std::string gpus_svg(const std::vector<GpuInUse>& gpus);
/// The document `MigGpus`.
Json gpus_json(const std::vector<GpuInUse>& gpus);

/// GPUs with the same change: of equal models, and each instance lies where it lies on the others.
struct ChangeGroup {
  std::vector<unsigned> indices;
  const Intent* first;  ///< borrowed

  std::string name() const;
};
/// The GPUs that differ from their targets.
std::vector<ChangeGroup> changes_of(const std::vector<Intent>& intents);

/// What an apply makes of them, in ASCII and at most 76 columns: for each group the layout now and then, with marks
/// below the instances: '=' stays, '-' is destroyed, '+' is created. Of several groups each has a heading.
std::string changes_text(const std::vector<ChangeGroup>& groups);

}  // namespace slipway::mig
