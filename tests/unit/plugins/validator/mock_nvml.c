/* A small NVML for tests: its answers come from the folder $VALIDATOR_NVML, and may change at any time.
 *   gpus  the number of GPUs, one digit     lost  a file: GPU 0 has fallen off the bus     gone  a file: no driver
 *   hangs  a file: a call about GPU 0 does not return     crashes  a file: that call ends the process */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int present(const char* name) {
  char path[4096];
  const char* folder = getenv("VALIDATOR_NVML");
  if (folder == NULL) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static unsigned gpus(void) {
  char path[4096];
  const char* folder = getenv("VALIDATOR_NVML");
  if (folder == NULL) return 2;
  snprintf(path, sizeof path, "%s/gpus", folder);
  FILE* file = fopen(path, "r");
  unsigned count = 2;
  if (file != NULL) {
    if (fscanf(file, "%u", &count) != 1) count = 2;
    fclose(file);
  }
  return count;
}

int nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  return present("gone") ? 9 : 0;
}
int nvmlInit_v2(void) { return present("gone") ? 9 : 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  snprintf(version, length, "535.261.03");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus();
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static char handles[16];
  if (index >= gpus()) return 2;
  *device = &handles[index];
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  void* first = NULL;
  nvmlDeviceGetHandleByIndex_v2(0, &first);
  snprintf(uuid, length, "GPU-%08lx-0000-0000-0000-000000000000", (unsigned long)((char*)device - (char*)first));
  return 0;
}
struct memory {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory) {
  void* first = NULL;
  nvmlDeviceGetHandleByIndex_v2(0, &first);
  if (present("lost") && device == first) return 15;
  while (present("hangs") && device == first) usleep(10000);
  if (present("crashes")) abort();
  memset(memory, 0, sizeof *memory);
  memory->total = 85520809984ULL;
  return 0;
}
