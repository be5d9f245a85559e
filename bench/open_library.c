// SPDX-License-Identifier: Apache-2.0
// bench/open_library - opens an NVML library, starts it, asks for the number of GPUs and ends it: what every program that asks NVML
// has to do first.
#include <dlfcn.h>

int main(int count, char** words) {
  void* library = count == 2 ? dlopen(words[1], RTLD_NOW) : 0;
  if (!library) return 1;
  int (*init)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
  int (*counted)(unsigned*) = (int (*)(unsigned*))dlsym(library, "nvmlDeviceGetCount_v2");
  int (*end)(void) = (int (*)(void))dlsym(library, "nvmlShutdown");
  unsigned gpus = 0;
  if (!init || !counted || !end || init() != 0 || counted(&gpus) != 0) return 1;
  return end() != 0 || gpus == 0;
}
