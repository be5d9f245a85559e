/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/process.h - structs about the processes on a GPU. */
#ifndef SLIPWAY_NVML_ABI_PROCESS_H
#define SLIPWAY_NVML_ABI_PROCESS_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

#include "nvidia/nvml/abi/base.h"

typedef struct nvmlProcessInfo_v1_st { /* of the process functions without a suffix */
  unsigned int pid;
  unsigned long long usedGpuMemory; /* bytes; all ones: unknown */
} nvmlProcessInfo_v1_t;
NVML_ABI_SIZE(nvmlProcessInfo_v1_t, 16);

typedef struct nvmlProcessInfo_v2_st { /* of those with _v2 and with _v3 */
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId; /* NVML_NO_INSTANCE without MIG */
  unsigned int computeInstanceId;
} nvmlProcessInfo_v2_t;
NVML_ABI_SIZE(nvmlProcessInfo_v2_t, 24);

typedef struct nvmlProcessUtilizationSample_st { /* percent; microseconds since the epoch */
  unsigned int pid;
  unsigned long long timeStamp;
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
} nvmlProcessUtilizationSample_t;
NVML_ABI_SIZE(nvmlProcessUtilizationSample_t, 32);

typedef struct nvmlAccountingStats_st {
  unsigned int gpuUtilization;
  unsigned int memoryUtilization;
  unsigned long long maxMemoryUsage;
  unsigned long long time;      /* milliseconds */
  unsigned long long startTime; /* microseconds since the epoch */
  unsigned int isRunning;
  unsigned int reserved[5];
} nvmlAccountingStats_t;
NVML_ABI_SIZE(nvmlAccountingStats_t, 56);

/* NOLINTEND */

#endif
