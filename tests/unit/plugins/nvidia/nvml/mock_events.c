/* An NVML with only events, which a test sends through the mock_… functions. Its waits return early when a signal
 * arrives, as in NVIDIA's documentation, unless `mock_deaf`. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nvidia/nvml/abi/event.h"

struct nvmlEventSet_st {
  int unused;
};
struct nvmlSystemEventSet_st {
  int unused;
};

static int of_gpus[2];
static int of_system[2];
static atomic_int waits, freed, interrupted;
atomic_int mock_deaf, mock_early;

struct sent {
  nvmlReturn_t code;
  unsigned long long type, data;
};

int mock_waits(void) { return waits; }
int mock_freed(void) { return freed; }
int mock_interrupted(void) { return interrupted; }
void mock_set_deaf(int deaf) { mock_deaf = deaf; }
void mock_set_early(int early) { mock_early = early; }
void mock_send(int code, unsigned long long type, unsigned long long data) {
  const struct sent event = {code, type, data};
  (void)!write(of_gpus[1], &event, sizeof event);
}
void mock_send_of_system(unsigned long long type) { (void)!write(of_system[1], &type, sizeof type); }

nvmlReturn_t nvmlInit_v2(void) {
  waits = freed = interrupted = mock_deaf = mock_early = 0;
  return pipe(of_gpus) == 0 && pipe(of_system) == 0 ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}
nvmlReturn_t nvmlShutdown(void) {
  for (int i = 0; i < 2; ++i) {
    close(of_gpus[i]);
    close(of_system[i]);
  }
  return NVML_SUCCESS;
}

/* @return true when it can be read */
static int wait_for(int fd, unsigned milliseconds) {
  ++waits;
  if (mock_early) return 0;
  struct pollfd wanted = {fd, POLLIN, 0};
  int ready;
  do {
    ready = poll(&wanted, 1, (int)milliseconds);
    if (ready < 0 && errno == EINTR) ++interrupted;
  } while (ready < 0 && mock_deaf);
  return ready == 1;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  *set = calloc(1, sizeof **set);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  ++freed;
  free(set);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned milliseconds) {
  (void)set;
  if (!wait_for(of_gpus[0], milliseconds)) return NVML_ERROR_TIMEOUT;
  struct sent event;
  if (read(of_gpus[0], &event, sizeof event) != sizeof event) return NVML_ERROR_UNKNOWN;
  memset(data, 0, sizeof *data);
  data->eventType = event.type;
  data->eventData = event.data;
  return event.code;
}

nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t* request) {
  if (request->version != NVML_SYSTEM_EVENT_SET_CREATE_REQUEST_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  request->set = calloc(1, sizeof *request->set);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t* request) {
  if (request->version != NVML_SYSTEM_EVENT_SET_FREE_REQUEST_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  ++freed;
  free(request->set);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t* request) {
  if (request->version != NVML_SYSTEM_REGISTER_EVENT_REQUEST_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  return request->eventTypes == 3 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t* request) {
  if (request->version != NVML_SYSTEM_EVENT_SET_WAIT_REQUEST_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  request->numEvent = 0;
  if (!wait_for(of_system[0], request->timeoutms)) return NVML_ERROR_TIMEOUT;
  if (read(of_system[0], &request->data[0].eventType, sizeof request->data[0].eventType) < 0) return NVML_ERROR_UNKNOWN;
  request->data[0].gpuId = 0x4100;
  request->numEvent = 1;
  return NVML_SUCCESS;
}
