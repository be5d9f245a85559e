/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/vgpu.h - structs of vGPU licences and confidential computing. */
#ifndef SLIPWAY_NVML_ABI_VGPU_H
#define SLIPWAY_NVML_ABI_VGPU_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

#include "nvidia/nvml/abi/base.h"

typedef struct nvmlGridLicenseExpiry_st {
  unsigned int year;
  unsigned short month;
  unsigned short day;
  unsigned short hour;
  unsigned short min;
  unsigned short sec;
  unsigned char status;
} nvmlGridLicenseExpiry_t;
NVML_ABI_SIZE(nvmlGridLicenseExpiry_t, 16);

typedef struct nvmlGridLicensableFeature_st {
  unsigned int featureCode;
  unsigned int featureState;
  char licenseInfo[128];
  char productName[128];
  unsigned int featureEnabled;
  nvmlGridLicenseExpiry_t licenseExpiry;
} nvmlGridLicensableFeature_t;
NVML_ABI_SIZE(nvmlGridLicensableFeature_t, 284);

typedef struct nvmlGridLicensableFeatures_st {
  int isGridLicenseSupported;
  unsigned int licensableFeaturesCount;
  nvmlGridLicensableFeature_t gridLicensableFeatures[3];
} nvmlGridLicensableFeatures_t;
NVML_ABI_SIZE(nvmlGridLicensableFeatures_t, 860);

typedef struct nvmlConfComputeSystemCaps_st {
  unsigned int cpuCaps;
  unsigned int gpusCaps;
} nvmlConfComputeSystemCaps_t;

typedef struct nvmlConfComputeSystemState_st {
  unsigned int environment;
  unsigned int ccFeature;
  unsigned int devToolsMode;
} nvmlConfComputeSystemState_t;
NVML_ABI_SIZE(nvmlConfComputeSystemState_t, 12);

typedef struct nvmlConfComputeMemSizeInfo_st {
  unsigned long long protectedMemSizeKib;
  unsigned long long unprotectedMemSizeKib;
} nvmlConfComputeMemSizeInfo_t;
NVML_ABI_SIZE(nvmlConfComputeMemSizeInfo_t, 16);

/* NOLINTEND */

#endif
