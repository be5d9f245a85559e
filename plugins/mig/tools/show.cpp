// SPDX-License-Identifier: Apache-2.0
// plugins/mig/tools/show.cpp - `slipway mig show`: the GPUs as a picture.
#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/command/display.hpp>

#include "mig/device/read.hpp"
#include "mig/device/target.hpp"
#include "mig/draw/picture.hpp"
#include "mig/tools/tools.hpp"

namespace slipway::mig {
namespace {

/// Each process once, and each pod without one: with the instance that it uses, else as one of the whole GPU.
Result<std::vector<Holder>> holders_of(nvidia::nvml::Nvml& nvml, const Host& host, const Gpu& gpu,
                                       const nvidia::drain::Given& given) {
  const auto device = nvidia::nvml::device_at(nvml, gpu.index);
  if (!device) return nvidia::nvml::to_error(device.code(), "open a GPU", gpu.text());
  // As if each instance were to go, and then the whole GPU to change its mode.
  std::vector<Target> targets;
  for (const GpuInstance& each : gpu.enabled ? gpu.instances : Instances()) {
    targets.push_back(present(gpu));
    std::erase(targets.back().instances, each);
  }
  targets.push_back(present(gpu));
  targets.back().enabled = !gpu.enabled;
  std::vector<Changing> changing;
  for (const Target& each : targets) changing.push_back({.device = *device, .gpu = &gpu, .target = &each});
  const auto holders = find_holders(nvml, host, changing, given);
  std::vector<Holder> found;
  for (std::size_t i = 0; i + 1 < targets.size(); ++i)
    for (const nvidia::drain::Holder& each : holders[i])
      if (each.holds != gpu.text()) found.push_back({.start = gpu.instances[i].start, .text = to_text(each)});
  for (std::string& text : nvidia::drain::texts_of(holders.back()))
    if (std::ranges::count(found, text, &Holder::text) == 0) found.push_back({.start = {}, .text = std::move(text)});
  return found;
}

/// The numbers behind --gpu; none: all GPUs. Errors: `usage` what is no number.
Result<std::set<unsigned>> chosen_gpus(const CommandWords& words) {
  std::set<unsigned> chosen;
  for (const std::string& word : words.list("gpu")) {
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc{} || end != word.data() + word.size())
      return show_line().wrong("'" + word + "' is no number of a GPU");
    chosen.insert(number);
  }
  return chosen;
}

Error no_such_gpu(unsigned number, std::size_t count) {
  return Error{.code = ErrorCode::not_found,
               .what = fmt::format("there is no GPU {}", number),
               .where = "--gpu",
               .next = count == 0 ? "NVML shows no GPU on this machine"
                                  : fmt::format("the GPUs of this machine are 0 to {}", count - 1)};
}

}  // namespace

CommandTable show_line() {
  return {.call = "slipway mig show",
          .usage = "[-o text|svg|json] [--gpu N…]",
          .about =
              "Draws the memory slices of each GPU with the GPU instances on them, the compute instances inside where "
              "an instance is divided, the processes that use them, and how many more instances of each profile would "
              "fit. Equal GPUs that nobody uses are drawn once.",
          .options = {{.name = "output", .value = "text|svg|json", .help = "form of the picture", .letter = 'o'},
                      {.name = "gpu",
                       .value = "N",
                       .help = "only this GPU, by its number as nvidia-smi prints it; a list with commas is as good",
                       .repeats = true},
                      kubelet_socket()},
          .examples = {"slipway mig show", "slipway mig show --gpu 0,3", "slipway mig show -o svg > gpus.svg"}};
}

Result<int> run_show(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(chosen, chosen_gpus(words));
  SLIPWAY_TRY(nvml, open_nvml(host, {}));
  SLIPWAY_TRY(gpus, read_gpus(*nvml));
  name_lost_gpus(host, gpus);
  for (const unsigned number : chosen)
    if (std::ranges::count(gpus, number, &Gpu::index) == 0) return no_such_gpu(number, gpus.size());
  nvidia::drain::Given given = ask_kubelet(host, kubelet_socket_of(words));
  if (!given.problem.empty()) io.warn(given.problem);
  given.problem.clear();
  std::vector<GpuInUse> shown;
  for (Gpu& gpu : gpus) {
    if (!chosen.empty() && !chosen.contains(gpu.index)) continue;
    SLIPWAY_TRY(holders, gpu.lost ? std::vector<Holder>() : holders_of(*nvml, host, gpu, given));
    shown.push_back({.gpu = std::move(gpu), .holders = std::move(holders)});
  }
  const std::string form = words.text("output", "text");
  if (form == "json")
    io.print(pretty(gpus_json(shown)));
  else if (form == "svg")
    io.print(gpus_svg(shown));
  else
    io.print(gpus_text(shown, {.utf8 = locale_is_utf8(), .colour = shows_colour(STDOUT_FILENO)}));
  return 0;
}

}  // namespace slipway::mig
