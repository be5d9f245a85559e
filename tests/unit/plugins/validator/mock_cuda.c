/* Libraries that stand in for libcuda.so.1: one that computes what the probe's kernel computes, and ones that fail. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuInit(unsigned flags) {
#ifdef CRASHES
  raise(SIGSEGV);
#endif
#ifdef HANGS
  for (;;) pause();
#endif
#ifdef NO_DEVICE
  return 100;
#endif
  return (int)flags;
}
int cuGetErrorName(int code, const char** name) {
  *name = code == 0     ? "CUDA_SUCCESS"
          : code == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == 100 ? "CUDA_ERROR_NO_DEVICE"
                        : NULL;
  return *name == NULL ? 1 : 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12020;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  static char contexts[2];
  (void)flags;
#ifdef BUSY
  if (device == 1) return 2;
#endif
  *context = &contexts[device];
  return 0;
}
int cuCtxDestroy_v2(void* context) {
  (void)context;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = (void*)image;
  return strstr(image, ".entry fill") != NULL ? 0 : 218;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return strcmp(name, "fill") == 0 ? 0 : 500;
}
int cuMemAlloc_v2(unsigned long long* memory, size_t size) {
  *memory = (unsigned long long)(uintptr_t)calloc(1, size);
  return 0;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned threads, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** parameters, void** extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
  uint32_t* const out = (uint32_t*)(uintptr_t) * (unsigned long long*)parameters[0];
  const unsigned factor = *(unsigned*)parameters[1];
  for (unsigned i = 0; i < threads; ++i) out[i] = i * factor + 1;
#ifdef WRONG
  out[threads - 1] ^= 4;
#endif
  return 0;
}
int cuCtxSynchronize(void) { return 0; }
int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t size) {
  memcpy(to, (const void*)(uintptr_t)from, size);
  return 0;
}
