/* An NVML mock with few functions, like one from another project. PART chooses how little; HANG makes one call never
 * end.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int initialised = 0;

/* Called by the mock, but not defined anywhere. */
int nvml_mock_left_out(void);
int nvmlDeviceGetIndex(void* device, unsigned* index) {
  (void)device;
  *index = 0;
  return nvml_mock_left_out();
}

#if PART >= 1
int nvmlInit(void) {
  ++initialised;
  return 0;
}
int nvmlShutdown(void) {
  --initialised;
  return 0;
}
int nvmlDeviceGetCount(unsigned* count) {
  *count = 1;
  return initialised > 0 ? 0 : 1;
}
int nvmlDeviceGetHandleByIndex(unsigned index, void** device) {
  static char only;
  *device = &only;
  return index == 0 ? 0 : 2;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  (void)device;
#ifdef HANG
  for (;;) pause();
#endif
  snprintf(name, length, "Mock GPU");
  return 0;
}
#endif
#if PART >= 2
struct old_process {
  unsigned pid;
  unsigned long long memory;
};
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, struct old_process* all) {
  (void)device;
  if (*count < 40) {
    *count = 40;
    return 7;
  }
  *count = 40;
  for (unsigned i = 0; i < 40; ++i) all[i] = (struct old_process){100 + i, ~0ULL};
  return 0;
}
struct old_memory {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void* device, struct old_memory* memory) {
  (void)device;
  *memory = (struct old_memory){1000, 600, 400};
  return 0;
}
int nvmlDeviceGetMemoryInfo_v2(void* device, unsigned* version) {
  (void)device;
  (void)version;
  return 25; /* knows no layout that we know */
}
#endif
int exported_by_every_mock(void) { return 1; }
