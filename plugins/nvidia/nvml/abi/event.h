/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/event.h - events of a GPU, and those of the system: a driver bound to a GPU or unbound. */
#ifndef SLIPWAY_NVML_ABI_EVENT_H
#define SLIPWAY_NVML_ABI_EVENT_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

#include "nvidia/nvml/abi/base.h"

enum { /* bits of nvmlDeviceRegisterEvents, and the driver that has them first */
       NVML_EVENT_SINGLE_BIT_ECC_ERROR = 0x1,
       NVML_EVENT_DOUBLE_BIT_ECC_ERROR = 0x2,
       NVML_EVENT_PSTATE = 0x4,
       NVML_EVENT_XID_CRITICAL_ERROR = 0x8,
       NVML_EVENT_CLOCK = 0x10,
       NVML_EVENT_POWER_SOURCE_CHANGE = 0x80,
       NVML_EVENT_MIG_CONFIG_CHANGE = 0x100,
       NVML_EVENT_SINGLE_BIT_ECC_ERROR_STORM = 0x200, /* 560, as the next four */
       NVML_EVENT_DRAM_RETIREMENT_EVENT = 0x400,
       NVML_EVENT_DRAM_RETIREMENT_FAILURE = 0x800,
       NVML_EVENT_NON_FATAL_POISON_ERROR = 0x1000,
       NVML_EVENT_FATAL_POISON_ERROR = 0x2000,
       NVML_EVENT_GPU_UNAVAILABLE_ERROR = 0x4000, /* 570, as the next */
       NVML_EVENT_GPU_RECOVERY_ACTION = 0x8000
};

typedef struct nvmlEventData_st { /* the first layout ended before the instance ids */
  nvmlDevice_t device;
  unsigned long long eventType;
  unsigned long long eventData; /* the XID */
  unsigned int gpuInstanceId;
  unsigned int computeInstanceId;
} nvmlEventData_t;
NVML_ABI_SIZE(nvmlEventData_t, 32);

/* Events of the system, since driver 575. */
typedef struct nvmlSystemEventSet_st* nvmlSystemEventSet_t;

enum { /* bits of nvmlSystemRegisterEvents */
       NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND = 0x1,
       NVML_SYSTEM_EVENT_GPU_DRIVER_BIND = 0x2
};

typedef struct nvmlSystemEventSetCreateRequest_st {
  unsigned int version;
  nvmlSystemEventSet_t set; /* made by the call */
} nvmlSystemEventSetCreateRequest_t;
NVML_ABI_SIZE(nvmlSystemEventSetCreateRequest_t, 16);
#define NVML_SYSTEM_EVENT_SET_CREATE_REQUEST_VERSION NVML_STRUCT_VERSION(nvmlSystemEventSetCreateRequest_t, 1)

typedef struct nvmlSystemEventSetFreeRequest_st {
  unsigned int version;
  nvmlSystemEventSet_t set;
} nvmlSystemEventSetFreeRequest_t;
NVML_ABI_SIZE(nvmlSystemEventSetFreeRequest_t, 16);
#define NVML_SYSTEM_EVENT_SET_FREE_REQUEST_VERSION NVML_STRUCT_VERSION(nvmlSystemEventSetFreeRequest_t, 1)

typedef struct nvmlSystemRegisterEventRequest_st {
  unsigned int version;
  unsigned long long eventTypes;
  nvmlSystemEventSet_t set;
} nvmlSystemRegisterEventRequest_t;
NVML_ABI_SIZE(nvmlSystemRegisterEventRequest_t, 24);
#define NVML_SYSTEM_REGISTER_EVENT_REQUEST_VERSION NVML_STRUCT_VERSION(nvmlSystemRegisterEventRequest_t, 1)

typedef struct nvmlSystemEventData_v1_st {
  unsigned long long eventType;
  unsigned int gpuId; /* the GPU's place on the bus */
} nvmlSystemEventData_v1_t;
NVML_ABI_SIZE(nvmlSystemEventData_v1_t, 16);

typedef struct nvmlSystemEventSetWaitRequest_st {
  unsigned int version;
  unsigned int timeoutms;
  nvmlSystemEventSet_t set;
  nvmlSystemEventData_v1_t* data; /* the caller's, `dataSize` of them */
  unsigned int dataSize;
  unsigned int numEvent; /* how many the call has filled in */
} nvmlSystemEventSetWaitRequest_t;
NVML_ABI_SIZE(nvmlSystemEventSetWaitRequest_t, 32);
#define NVML_SYSTEM_EVENT_SET_WAIT_REQUEST_VERSION NVML_STRUCT_VERSION(nvmlSystemEventSetWaitRequest_t, 1)

/* NOLINTEND */

#endif
