// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/module_fits.cpp - what decides whether a module fits a kernel: symbol checksums and signature of a module,
// Module.symvers, /proc/keys, and certificates, each of any content.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/modinfo/module_info.hpp"
#include "base/modinfo/symbol_versions.hpp"
#include "driver/fits/fits.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

using namespace slipway;
using namespace slipway::driver;

void check_versions(const base::SymbolVersions& versions, std::string_view bytes) {
  fuzz::demand(versions.size() <= bytes.size(), "no more symbols than bytes");
  for (const auto& [name, checksum] : versions) {
    fuzz::demand(!name.empty() && name.find('\0') == std::string::npos, "a symbol has a name");
    fuzz::demand(bytes.find(name) != std::string_view::npos, "a name is a part of the file");
    std::uint32_t back = 0;
    fuzz::demand(base::read_checksum(base::checksum_text(checksum), back) && back == checksum,
                 "a checksum survives its text");
  }
}

void check_key(const KeyId& key) {
  constexpr std::size_t kLongest = 256;
  for (const auto* text : {&key.name, &key.issuer, &key.serial, &key.key})
    fuzz::demand(text->size() <= kLongest, "a key's texts are short");
  for (const auto* text : {&key.name, &key.issuer})
    fuzz::demand(std::none_of(text->begin(), text->end(), [](char c) { return c == '\x1b' || c == '\n'; }),
                 "a key's names are fit for a terminal");
}

void check_module(std::string_view bytes) {
  const auto signature = base::module_signature_of(bytes);
  fuzz::demand_presentable(signature);
  if (signature && *signature)
    fuzz::demand((*signature)->size() <= bytes.size() && bytes.find(**signature) != std::string_view::npos,
                 "a signature is a part of the file");
  const auto versions = base::symbol_versions_of(bytes);
  fuzz::demand_presentable(versions);
  if (versions) check_versions(*versions, bytes);
  const auto record = module_record("module.ko", bytes);
  fuzz::demand_presentable(record);
  if (!record) return;
  if (record->signer) check_key(*record->signer);
  Fit fit;
  KernelDemands kernel{.release = "6.1", .symbols = {true, true, {{"self", record->versions}}, {}}, .enforces = "test"};
  kernel.signer = record->signer;
  check_symbols({*record}, kernel, {}, fit);
  check_signatures({*record}, kernel, fit);
  fuzz::demand(fit.faults.empty() == (!record->versions.empty() && record->is_signed),
               "a signed module with checksums fits the kernel that has the same");
  for (const auto& fault : fit.faults) fuzz::demand_presentable(fault);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_module(bytes);
  check_versions(base::symbol_versions_in(bytes, [](std::string_view) { return true; }), bytes);
  keys_in_proc(bytes);
  for (const auto& key : keys_of_signature_lists(bytes)) check_key(key);
  const auto certificate = key_of_certificate(bytes);
  fuzz::demand_presentable(certificate);
  if (certificate) check_key(*certificate);
  return 0;
}
