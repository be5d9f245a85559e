// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/worker_frames.cpp - the bytes that a plugin's process sends to slipway: frames in pieces of any size, and
// its output.
//
// Input: one byte that says how the rest is cut, then the bytes on the wire.
#include <cstdint>
#include <vector>

#include "core/worker/client/output.hpp"
#include "core/worker/frame.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;
using core::FrameReader;

struct Heard {
  std::vector<std::string> messages;  ///< as canonical JSON
  std::string broken;
  bool operator==(const Heard&) const = default;
};

/// Reads everything from bytes that arrive in pieces of that size.
Heard hear(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  Heard heard;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    for (;;) {
      const auto message = reader.next();
      fuzz::demand_presentable(message);
      if (!message) {
        heard.broken = message.error().what;
        return heard;
      }
      if (!*message) break;
      fuzz::demand((**message)["type"].is_string(), "a message has a type");
      heard.messages.push_back(canonical(**message));
      const auto frame = core::encode_frame(**message);
      fuzz::demand(frame.ok(), "what was read can be sent");
      FrameReader other;
      other.feed(*frame);
      const auto again = other.next();
      fuzz::demand(again.ok() && *again && canonical(**again) == heard.messages.back(), "and is read again the same");
    }
  }
  return heard;
}

void print(std::string_view bytes, std::size_t piece) {
  core::ToolOutput output;
  std::string lines;
  const auto listener = [&](const std::string& level, const std::string& text) {
    fuzz::demand(!level.empty() && text.size() <= core::ToolOutput::kMaxLine, "a line has a level and an end");
    lines += text;
  };
  for (std::size_t at = 0; at < bytes.size(); at += piece) output.printed(bytes.substr(at, piece), listener);
  output.flush(listener);
  fuzz::demand(lines.size() <= bytes.size(), "nothing is said that was not printed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1U + data[0];
  fuzz::demand(hear(bytes, piece) == hear(bytes, bytes.size() + 1), "it does not matter how the bytes are cut");
  print(bytes, piece);
  return 0;
}
