// SPDX-License-Identifier: Apache-2.0
// plugins/mig/tools/show.cpp - `slipway mig show`: the GPUs as a picture.
#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include <slipway/text/display.hpp>

#include "mig/device/holders.hpp"
#include "mig/device/read.hpp"
#include "mig/draw/picture.hpp"
#include "mig/layout/target.hpp"
#include "mig/tools/tools.hpp"

namespace slipway::mig {
namespace {

/// Returns the questions about a GPU: as if each instance were to be removed, and then the mode were to change.
std::vector<Target> questions_about(const Gpu& gpu) {
  std::vector<Target> targets;
  for (const GpuInstance& each : gpu.enabled ? gpu.instances : Instances()) {
    targets.push_back(present(gpu));
    std::erase(targets.back().instances, each);
  }
  targets.push_back(present(gpu));
  targets.back().enabled = !gpu.enabled;
  return targets;
}

using HoldersOfEach = std::vector<std::vector<nvidia::drain::DeviceHolder>>;

/// Returns each process, and each pod without a process, once: with the instance that it uses, or else for the whole
/// GPU.
/// @param next  the first answer to the questions; is moved behind the last one
std::vector<DrawnHolder> holders_of(const Gpu& gpu, std::size_t questions, HoldersOfEach::const_iterator& next) {
  std::vector<DrawnHolder> found;
  if (questions == 0) return found;  // a lost GPU
  std::set<std::string> texts;
  for (std::size_t i = 0; i + 1 < questions; ++i, ++next)
    for (const nvidia::drain::DeviceHolder& each : *next)
      if (each.holds != gpu.text()) {
        found.push_back({.start = gpu.instances[i].start, .text = to_text(each)});
        texts.insert(found.back().text);
      }
  for (std::string& text : nvidia::drain::texts_of(*next++))
    if (!texts.contains(text)) found.push_back({.start = {}, .text = std::move(text)});
  return found;
}

/// Handles all GPUs at once, so that the open files of all processes are read once.
Result<std::vector<GpuInUse>> in_use_of(nvidia::nvml::Nvml& nvml, const Host& host, std::vector<Gpu> gpus,
                                        const nvidia::drain::PodHolders& given) {
  std::vector<std::vector<Target>> questions;
  std::vector<Changing> changing;
  for (const Gpu& gpu : gpus) questions.push_back(gpu.lost ? std::vector<Target>() : questions_about(gpu));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (questions[i].empty()) continue;
    const auto device = nvidia::nvml::device_at(nvml, gpus[i].index);
    if (!device) return nvidia::nvml::to_error(device.code(), "open a GPU", gpus[i].text());
    for (const Target& each : questions[i]) changing.push_back({.device = *device, .gpu = &gpus[i], .target = &each});
  }
  const HoldersOfEach holders = find_holders(nvml, host, changing, given);
  auto next = holders.begin();
  std::vector<GpuInUse> shown;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::vector<DrawnHolder> of_gpu = holders_of(gpus[i], questions[i].size(), next);
    shown.push_back({.gpu = std::move(gpus[i]), .holders = std::move(of_gpu)});
  }
  return shown;
}

/// Returns the numbers of --gpu; empty: all GPUs. Errors: `usage` not a number.
Result<std::set<unsigned>> chosen_gpus(const CommandWords& words) {
  std::set<unsigned> chosen;
  for (const std::string& word : words.list("gpu")) {
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc{} || end != word.data() + word.size())
      return show_line().wrong("'" + word + "' is not the number of a GPU");
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
              "fit. Equal GPUs that are not in use are drawn once.",
          .options = {{.name = "output", .value = "text|svg|json", .help = "format of the picture", .letter = 'o'},
                      {.name = "gpu",
                       .value = "N",
                       .help = "only this GPU, by its number as nvidia-smi prints it, or a list of numbers with commas",
                       .repeats = true},
                      kubelet_socket()},
          .examples = {"slipway mig show", "slipway mig show --gpu 0,3", "slipway mig show -o svg > gpus.svg"}};
}

Result<int> run_show(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(chosen, chosen_gpus(words));
  SLIPWAY_TRY(nvml, open_nvml_to_look(host));
  SLIPWAY_TRY(gpus, read_gpus(*nvml));
  name_lost_gpus(host, gpus);
  for (const unsigned number : chosen)
    if (std::ranges::count(gpus, number, &Gpu::index) == 0) return no_such_gpu(number, gpus.size());
  nvidia::drain::PodHolders given = ask_kubelet(host, kubelet_socket_of(words));
  if (!given.problem.empty()) io.warn(given.problem);
  given.problem.clear();
  if (!chosen.empty()) std::erase_if(gpus, [&](const Gpu& gpu) { return !chosen.contains(gpu.index); });
  SLIPWAY_TRY(shown, in_use_of(*nvml, host, std::move(gpus), given));
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
