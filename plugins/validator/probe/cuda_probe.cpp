// SPDX-License-Identifier: Apache-2.0
// plugins/validator/probe/cuda_probe.cpp - validator-cuda-probe LIBCUDA: tries CUDA, and prints the result.
//
// A program of its own, because CUDA may crash or hang, keeps its memory until its process ends, and reads the folder
// of its helper libraries from the environment at the start. It prints one JSON object and exits with 0:
//   {"stage": "load|init|count|done", "code": 0, "name": "CUDA_SUCCESS", "text": "…", "version": 12020,
//    "devices": [{"index": 0, "step": "done", "code": 0, "name": "…"}]}
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <slipway/json.hpp>
#include <slipway/trusted_owner.hpp>

namespace {

using slipway::Json;

// The part of CUDA's driver interface (cuda.h) that is used here. Every function returns a CUresult.
using Code = int;
using Device = int;
using Handle = void*;
using Address = unsigned long long;

constexpr Code kSuccess = 0;
constexpr Code kMissing = -1;  // not one of CUDA's: the library does not have the function
constexpr unsigned kThreads = 64;
constexpr unsigned kFactor = 7;

// out[i] = i * factor + 1
constexpr const char* kPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 factor)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [factor];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  mul.lo.s32 %r3, %r2, %r1;
  add.s32 %r3, %r3, 1;
  st.global.u32 [%rd4], %r3;
  ret;
}
)";

class Cuda {
 public:
  explicit Cuda(const char* path) {
    const auto library = slipway::open_library(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
      library_ = *library;
    else
      problem_ = library.error().what;
  }
  bool loaded() const { return library_ != nullptr; }
  const std::string& problem() const { return problem_; }

  template <class... Arguments>
  Code call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Code (*)(Arguments...)>(dlsym(library_, name));
    return function == nullptr ? kMissing : function(arguments...);
  }
  std::string name_of(Code code) const {
    const char* name = nullptr;
    if (code == kMissing) return "a function is missing";
    return call("cuGetErrorName", code, &name) == kSuccess && name != nullptr ? name
                                                                              : "CUDA_ERROR_" + std::to_string(code);
  }

 private:
  void* library_ = nullptr;
  std::string problem_;
};

/// Runs step by step on one device, and keeps the first failure.
class DeviceTrial {
 public:
  DeviceTrial(const Cuda& cuda, Device device) : cuda_(cuda), device_(device) {}

  Json run() {
    Handle context = nullptr;
    if (step("context", cuda_.call("cuCtxCreate_v2", &context, 0U, device_))) {
      launch();
      const Code end = cuda_.call("cuCtxDestroy_v2", context);
      if (code_ == kSuccess) step("context", end);
    }
    return {{"index", device_},
            {"step", code_ == kSuccess ? "done" : step_},
            {"code", code_},
            {"name", wrong_ ? "wrong result" : cuda_.name_of(code_)}};
  }

 private:
  bool step(const char* name, Code code) {
    step_ = name;
    code_ = code;
    return code == kSuccess;
  }

  void launch() {
    Handle module = nullptr;
    Handle function = nullptr;
    Address memory = 0;
    std::array<std::uint32_t, kThreads> result{};
    if (!step("module", cuda_.call("cuModuleLoadData", &module, static_cast<const void*>(kPtx)))) return;
    if (!step("function", cuda_.call("cuModuleGetFunction", &function, module, "fill"))) return;
    if (!step("memory", cuda_.call("cuMemAlloc_v2", &memory, sizeof result))) return;
    unsigned factor = kFactor;
    std::array<void*, 2> parameters{&memory, &factor};
    if (!step("launch", cuda_.call("cuLaunchKernel", function, 1U, 1U, 1U, kThreads, 1U, 1U, 0U, Handle{},
                                   parameters.data(), static_cast<void**>(nullptr))))
      return;
    if (!step("finish", cuda_.call("cuCtxSynchronize"))) return;
    if (!step("copy", cuda_.call("cuMemcpyDtoH_v2", static_cast<void*>(result.data()), memory, sizeof result))) return;
    for (unsigned i = 0; i < kThreads; ++i) wrong_ |= result.at(i) != i * kFactor + 1;
    if (wrong_) step("compare", 1);
  }

  const Cuda& cuda_;
  Device device_;
  const char* step_ = "";
  Code code_ = kSuccess;
  bool wrong_ = false;
};

Json ended(const Cuda& cuda, const char* stage, Code code) {
  return {{"stage", stage}, {"code", code}, {"name", cuda.name_of(code)}};
}

Json try_out(const char* path) {
  const Cuda cuda(path);
  if (!cuda.loaded()) return {{"stage", "load"}, {"code", -1}, {"name", ""}, {"text", cuda.problem()}};
  if (const Code code = cuda.call("cuInit", 0U); code != kSuccess) return ended(cuda, "init", code);
  int version = 0;
  (void)cuda.call("cuDriverGetVersion", &version);
  int count = 0;
  if (const Code code = cuda.call("cuDeviceGetCount", &count); code != kSuccess) return ended(cuda, "count", code);
  Json result = ended(cuda, "done", kSuccess);
  result["version"] = version;
  result["devices"] = Json::array();
  for (int index = 0; index < count; ++index) {
    Device device = 0;
    const Code code = cuda.call("cuDeviceGet", &device, index);
    result["devices"].push_back(
        code == kSuccess ? DeviceTrial(cuda, device).run()
                         : Json{{"index", index}, {"step", "get"}, {"code", code}, {"name", cuda.name_of(code)}});
  }
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("only slipway starts validator-cuda-probe; see `slipway verify --only validator`\n", stderr);
    return 64;
  }
  std::puts(slipway::canonical(try_out(arguments[1])).c_str());
  return 0;
}
