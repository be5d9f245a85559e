// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace slipway::nvidia {
namespace {

constexpr const char* kReset = "drain the node and reset the GPU (`nvidia-smi -r`) or reboot";
constexpr const char* kReplace = "drain the node; if it comes back after a reboot, have the GPU replaced";
constexpr const char* kJob = "look at the job that ran on this GPU; nothing is to be done on the node";

const std::map<unsigned, XidMeaning>& table() {
  static const std::map<unsigned, XidMeaning> all{
      {8, {true, "a job held the GPU for too long", kJob}},
      {13, {true, "a job's kernel broke a rule of the graphics engine", kJob}},
      {31, {true, "a job touched memory that is not its own", kJob}},
      {32, {false, "a damaged command stream, by the bus or by the driver", kReset}},
      {38, {false, "the driver's firmware failed", kReset}},
      {43, {true, "a job's channel stopped", kJob}},
      {45, {true, "a job was ended and its channels were torn down", kJob}},
      {48, {false, "an uncorrectable memory error (double-bit ECC)", kReset}},
      {61, {false, "the GPU's internal controller stopped", kReset}},
      {62, {false, "the GPU's internal controller halted", kReset}},
      {63, {false, "a memory row or page is to be replaced by a spare", "drain the node and reset the GPU soon"}},
      {64, {false, "a memory row could not be replaced by a spare", kReplace}},
      {68, {true, "the video decoder failed", kJob}},
      {69, {true, "the graphics engine failed on a job", kJob}},
      {74, {false, "an NVLink failed", "look at both ends of the link (`nvidia-smi nvlink -e`), then reset or reseat"}},
      {79,
       {false, "the GPU has fallen off the bus", "power the node off and on; check power and seating, then replace"}},
      {92, {false, "many single-bit memory errors", kReplace}},
      {94, {false, "a memory error that hit only one job", "start that job again; drain and reset the GPU soon"}},
      {95, {false, "a memory error that was not contained", kReset}},
      {109, {false, "a context switch took too long", kReset}},
      {119, {false, "the GPU's system processor (GSP) does not answer", kReset}},
      {120, {false, "the GPU's system processor (GSP) failed", kReset}},
      {121, {false, "the link between processor and GPU failed (C2C)", kReplace}},
      {140, {false, "an uncorrectable error outside of the memory", kReset}},
  };
  return all;
}

}  // namespace

std::optional<Xid> parse_xid(std::string_view line) {
  constexpr std::string_view kMark = "NVRM: Xid (PCI:";
  const std::size_t mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  line.remove_prefix(mark + kMark.size());
  const std::size_t end = line.find("): ");
  if (end == std::string_view::npos) return std::nullopt;
  Xid xid;
  xid.address = line.substr(0, end);
  line.remove_prefix(end + 3);
  const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), xid.number);
  if (problem != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
  const std::size_t text = line.find_first_not_of(", ");
  if (text != std::string_view::npos) xid.text = line.substr(text);
  return xid;
}

XidMeaning meaning_of(unsigned number) {
  const auto found = table().find(number);
  if (found != table().end()) return found->second;
  return {false, "see NVIDIA's XID catalogue", "look the number up there; drain the node if jobs fail on this GPU"};
}

std::vector<XidCount> count_xids(const std::vector<std::string>& log) {
  std::vector<XidCount> counts;
  for (const std::string& line : log) {
    const auto xid = parse_xid(line);
    if (!xid) continue;
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const XidCount& count) {
      return count.last.number == xid->number && count.last.address == xid->address;
    });
    if (same == counts.end())
      counts.push_back({*xid, 1});
    else
      *same = {*xid, same->times + 1};
  }
  return counts;
}

}  // namespace slipway::nvidia
