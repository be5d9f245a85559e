/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/mig.h - structs and selectors of Multi-Instance GPU. */
#ifndef SLIPWAY_NVML_ABI_MIG_H
#define SLIPWAY_NVML_ABI_MIG_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

#include "nvidia/nvml/abi/base.h"

/* The argument of nvmlDeviceGetGpuInstanceProfileInfo: not the profile id, which that call answers. */
enum {
  NVML_GPU_INSTANCE_PROFILE_1_SLICE = 0,
  NVML_GPU_INSTANCE_PROFILE_2_SLICE = 1,
  NVML_GPU_INSTANCE_PROFILE_3_SLICE = 2,
  NVML_GPU_INSTANCE_PROFILE_4_SLICE = 3,
  NVML_GPU_INSTANCE_PROFILE_7_SLICE = 4,
  NVML_GPU_INSTANCE_PROFILE_8_SLICE = 5,
  NVML_GPU_INSTANCE_PROFILE_6_SLICE = 6,
  NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1 = 7, /* +me */
  NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1 = 8, /* +me */
  NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2 = 9, /* double memory */
  NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX = 10,
  NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX = 11,
  NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX = 12,
  NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME = 13,
  NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME = 14,
  NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME = 15,
  NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME = 16,
  NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX = 17,
  NVML_GPU_INSTANCE_PROFILE_COUNT = 18
};

enum {
  NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE = 0,
  NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE = 1,
  NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE = 2,
  NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE = 3,
  NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE = 4,
  NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE = 5,
  NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE = 6,
  NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1 = 7,
  NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE_NVL = 8,
  NVML_COMPUTE_INSTANCE_PROFILE_COUNT = 9,
  NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED = 0,
  NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT = 1
};

typedef struct nvmlGpuInstancePlacement_st { /* memory slices */
  unsigned int start;
  unsigned int size;
} nvmlGpuInstancePlacement_t;
NVML_ABI_SIZE(nvmlGpuInstancePlacement_t, 8);

typedef struct nvmlGpuInstanceProfileInfo_st {
  unsigned int id;
  unsigned int isP2pSupported;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int copyEngineCount;
  unsigned int decoderCount;
  unsigned int encoderCount;
  unsigned int jpegCount;
  unsigned int ofaCount;
  unsigned long long memorySizeMB; /* MiB */
} nvmlGpuInstanceProfileInfo_t;
NVML_ABI_SIZE(nvmlGpuInstanceProfileInfo_t, 48);

typedef struct nvmlGpuInstanceProfileInfo_v2_st {
  unsigned int version;
  unsigned int id;
  unsigned int isP2pSupported;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int copyEngineCount;
  unsigned int decoderCount;
  unsigned int encoderCount;
  unsigned int jpegCount;
  unsigned int ofaCount;
  unsigned long long memorySizeMB;
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE]; /* "MIG 1g.10gb" */
} nvmlGpuInstanceProfileInfo_v2_t;
NVML_ABI_SIZE(nvmlGpuInstanceProfileInfo_v2_t, 152);
NVML_ABI_AT(nvmlGpuInstanceProfileInfo_v2_t, name, 56);

enum { NVML_GPU_INSTANCE_PROFILE_CAPS_P2P = 1, NVML_GPU_INSTANCE_PROFILE_CAPS_GFX = 2 };

typedef struct nvmlGpuInstanceProfileInfo_v3_st {
  unsigned int version;
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int copyEngineCount;
  unsigned int decoderCount;
  unsigned int encoderCount;
  unsigned int jpegCount;
  unsigned int ofaCount;
  unsigned long long memorySizeMB;
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  unsigned int capabilities;
} nvmlGpuInstanceProfileInfo_v3_t;
NVML_ABI_SIZE(nvmlGpuInstanceProfileInfo_v3_t, 152);
NVML_ABI_AT(nvmlGpuInstanceProfileInfo_v3_t, capabilities, 144);

typedef struct nvmlGpuInstanceInfo_st {
  nvmlDevice_t device;
  unsigned int id;
  unsigned int profileId;
  nvmlGpuInstancePlacement_t placement;
} nvmlGpuInstanceInfo_t;
NVML_ABI_SIZE(nvmlGpuInstanceInfo_t, 24);

typedef struct nvmlComputeInstancePlacement_st { /* compute slices */
  unsigned int start;
  unsigned int size;
} nvmlComputeInstancePlacement_t;
NVML_ABI_SIZE(nvmlComputeInstancePlacement_t, 8);

typedef struct nvmlComputeInstanceProfileInfo_st {
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
} nvmlComputeInstanceProfileInfo_t;
NVML_ABI_SIZE(nvmlComputeInstanceProfileInfo_t, 36);

typedef struct nvmlComputeInstanceProfileInfo_v2_st {
  unsigned int version;
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
} nvmlComputeInstanceProfileInfo_v2_t;
NVML_ABI_SIZE(nvmlComputeInstanceProfileInfo_v2_t, 136);

typedef struct nvmlComputeInstanceProfileInfo_v3_st {
  unsigned int version;
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  unsigned int capabilities;
} nvmlComputeInstanceProfileInfo_v3_t;
NVML_ABI_SIZE(nvmlComputeInstanceProfileInfo_v3_t, 140);

typedef struct nvmlComputeInstanceInfo_st { /* the first layout had no placement */
  nvmlDevice_t device;                      /* the MIG device */
  nvmlGpuInstance_t gpuInstance;
  unsigned int id;
  unsigned int profileId;
  nvmlComputeInstancePlacement_t placement;
} nvmlComputeInstanceInfo_t;
NVML_ABI_SIZE(nvmlComputeInstanceInfo_t, 32);

/* NOLINTEND */

#endif
