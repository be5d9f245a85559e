/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/device.h - structs about one GPU: PCI, memory, utilisation, topology, ECC, fabric, power. */
#ifndef SLIPWAY_NVML_ABI_DEVICE_H
#define SLIPWAY_NVML_ABI_DEVICE_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

#include "nvidia/nvml/abi/base.h"

typedef struct nvmlPciInfo_st {
  char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pciDeviceId;    /* device id in the high, vendor in the low half */
  unsigned int pciSubSystemId; /* likewise */
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfo_t;
NVML_ABI_SIZE(nvmlPciInfo_t, 68);
NVML_ABI_AT(nvmlPciInfo_t, busId, 36);

typedef struct nvmlPciInfoExt_v1_st {
  unsigned int version;
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pciDeviceId;
  unsigned int pciSubSystemId;
  unsigned int baseClass;
  unsigned int subClass;
  char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfoExt_v1_t;
NVML_ABI_SIZE(nvmlPciInfoExt_v1_t, 64);

typedef struct nvmlMemory_st { /* bytes; `used` includes the driver's own memory */
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
} nvmlMemory_t;
NVML_ABI_SIZE(nvmlMemory_t, 24);

typedef struct nvmlMemory_v2_st {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
} nvmlMemory_v2_t;
NVML_ABI_SIZE(nvmlMemory_v2_t, 40);

typedef struct nvmlBAR1Memory_st {
  unsigned long long bar1Total;
  unsigned long long bar1Free;
  unsigned long long bar1Used;
} nvmlBAR1Memory_t;
NVML_ABI_SIZE(nvmlBAR1Memory_t, 24);

typedef struct nvmlUtilization_st { /* percent */
  unsigned int gpu;
  unsigned int memory;
} nvmlUtilization_t;
NVML_ABI_SIZE(nvmlUtilization_t, 8);

typedef struct nvmlDeviceAttributes_st { /* of a MIG device; the first layout ended before the slice counts */
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
  unsigned int gpuInstanceSliceCount;
  unsigned int computeInstanceSliceCount;
  unsigned long long memorySizeMB; /* MiB */
} nvmlDeviceAttributes_t;
NVML_ABI_SIZE(nvmlDeviceAttributes_t, 40);

typedef struct nvmlEccErrorCounts_st {
  unsigned long long l1Cache;
  unsigned long long l2Cache;
  unsigned long long deviceMemory;
  unsigned long long registerFile;
} nvmlEccErrorCounts_t;
NVML_ABI_SIZE(nvmlEccErrorCounts_t, 32);

typedef struct nvmlEccSramErrorStatus_v1_st {
  unsigned int version;
  unsigned long long aggregateUncParity;
  unsigned long long aggregateUncSecDed;
  unsigned long long aggregateCor;
  unsigned long long volatileUncParity;
  unsigned long long volatileUncSecDed;
  unsigned long long volatileCor;
  unsigned long long aggregateUncBucketL2;
  unsigned long long aggregateUncBucketSm;
  unsigned long long aggregateUncBucketPcie;
  unsigned long long aggregateUncBucketMcu;
  unsigned long long aggregateUncBucketOther;
  unsigned int bThresholdExceeded;
} nvmlEccSramErrorStatus_v1_t;
NVML_ABI_SIZE(nvmlEccSramErrorStatus_v1_t, 104);

typedef struct nvmlRowRemapperHistogramValues_st {
  unsigned int max;
  unsigned int high;
  unsigned int partial;
  unsigned int low;
  unsigned int none;
} nvmlRowRemapperHistogramValues_t;
NVML_ABI_SIZE(nvmlRowRemapperHistogramValues_t, 20);

enum { NVML_GPU_FABRIC_UUID_LEN = 16 };
enum {
  NVML_GPU_FABRIC_STATE_NOT_SUPPORTED = 0,
  NVML_GPU_FABRIC_STATE_NOT_STARTED = 1,
  NVML_GPU_FABRIC_STATE_IN_PROGRESS = 2,
  NVML_GPU_FABRIC_STATE_COMPLETED = 3
};

typedef struct nvmlGpuFabricInfo_st { /* `status` is valid only in state COMPLETED */
  unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
  nvmlReturn_t status;
  unsigned int cliqueId;
  unsigned int state;
} nvmlGpuFabricInfo_t;
NVML_ABI_SIZE(nvmlGpuFabricInfo_t, 28);

typedef struct nvmlGpuFabricInfo_v2_st {
  unsigned int version;
  unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
  nvmlReturn_t status;
  unsigned int cliqueId;
  unsigned int state;
  unsigned int healthMask;
} nvmlGpuFabricInfo_v2_t;
NVML_ABI_SIZE(nvmlGpuFabricInfo_v2_t, 36);

typedef struct nvmlGpuFabricInfo_v3_st {
  unsigned int version;
  unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
  nvmlReturn_t status;
  unsigned int cliqueId;
  unsigned int state;
  unsigned int healthMask;
  unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;
NVML_ABI_SIZE(nvmlGpuFabricInfo_v3_t, 40);

typedef struct nvmlViolationTime_st { /* nanoseconds */
  unsigned long long referenceTime;
  unsigned long long violationTime;
} nvmlViolationTime_t;
NVML_ABI_SIZE(nvmlViolationTime_t, 16);

typedef struct nvmlPowerValue_v2_st {
  unsigned int version;
  unsigned int powerScope;
  unsigned int powerValueMw;
} nvmlPowerValue_v2_t;
NVML_ABI_SIZE(nvmlPowerValue_v2_t, 12);

typedef struct nvmlTemperature_v1_st {
  unsigned int version;
  unsigned int sensorType;
  int temperature;
} nvmlTemperature_v1_t;
NVML_ABI_SIZE(nvmlTemperature_v1_t, 12);

#define NVML_DEVICE_ADDRESSING_MODE_ATS 2

typedef struct nvmlDeviceAddressingMode_v1_st {
  unsigned int version;
  unsigned int value;
} nvmlDeviceAddressingMode_v1_t;
NVML_ABI_SIZE(nvmlDeviceAddressingMode_v1_t, 8);

typedef struct nvmlExcludedDeviceInfo_st {
  nvmlPciInfo_t pciInfo;
  char uuid[80];
} nvmlExcludedDeviceInfo_t;
NVML_ABI_SIZE(nvmlExcludedDeviceInfo_t, 148);

/* NOLINTEND */

#endif
