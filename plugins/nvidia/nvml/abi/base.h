/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/base.h - NVML's return codes, handles and buffer sizes, as its library has them on 64-bit
 * Linux. */
#ifndef SLIPWAY_NVML_ABI_BASE_H
#define SLIPWAY_NVML_ABI_BASE_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

/* Layouts are facts of the interface, taken from NVIDIA's header history and checked below and in the other headers of
 * this folder by static assertions. Enumerations are plain integers here: a newer driver may return values that
 * have no name yet. Handles are pointers that only the library dereferences. */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef int nvmlReturn_t;
enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_ALREADY_INITIALIZED = 5,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_INSUFFICIENT_POWER = 8,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_IRQ_ISSUE = 11,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_CORRUPTED_INFOROM = 14,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_RESET_REQUIRED = 16,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_IN_USE = 19,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_NO_DATA = 21,
  NVML_ERROR_VGPU_ECC_NOT_SUPPORTED = 22,
  NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
  NVML_ERROR_FREQ_NOT_SUPPORTED = 24,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_DEPRECATED = 26,
  NVML_ERROR_NOT_READY = 27,
  NVML_ERROR_GPU_NOT_FOUND = 28,
  NVML_ERROR_INVALID_STATE = 29,
  NVML_ERROR_RESET_TYPE_NOT_SUPPORTED = 30,
  NVML_ERROR_UNKNOWN = 999
};

typedef struct nvmlDevice_st* nvmlDevice_t;
typedef struct nvmlGpuInstance_st* nvmlGpuInstance_t;
typedef struct nvmlComputeInstance_st* nvmlComputeInstance_t;
typedef struct nvmlEventSet_st* nvmlEventSet_t;
typedef struct nvmlUnit_st* nvmlUnit_t;
typedef struct nvmlGpmSample_st* nvmlGpmSample_t;

/* 0 or 1: nvmlEnableState_t. */
typedef unsigned int nvmlEnableState_t;

enum {
  NVML_INIT_FLAG_NO_GPUS = 1,   /* no error when there is no GPU */
  NVML_INIT_FLAG_NO_ATTACH = 2, /* no GPU is initialized */
  NVML_NO_INSTANCE = 0xFFFFFFFF /* GPU or compute instance id where there is none */
};

/* Bytes with the final NUL; the larger of two where it grew. */
enum {
  NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE = 16,
  NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE = 32,
  NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96,
  NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96,
  NVML_DEVICE_SERIAL_BUFFER_SIZE = 30,
  NVML_DEVICE_PART_NUMBER_BUFFER_SIZE = 80,
  NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE = 32,
  NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE = 16,
  NVML_GSP_FIRMWARE_VERSION_BUF_SIZE = 64,
  NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80,
  NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE = 80
};

/* The first member of a versioned struct: its size and the number of its layout. */
#define NVML_STRUCT_VERSION(type, number) ((unsigned int)(sizeof(type) | ((unsigned int)(number) << 24U)))

#define NVML_ABI_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "layout of " #type)
#define NVML_ABI_AT(type, member, bytes) static_assert(offsetof(type, member) == (bytes), "layout of " #type)

/* NOLINTEND */

#endif
