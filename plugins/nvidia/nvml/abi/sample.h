/* SPDX-License-Identifier: Apache-2.0 */
/* plugins/nvidia/nvml/abi/sample.h - structs of field values, samples and profiling metrics. */
#ifndef SLIPWAY_NVML_ABI_SAMPLE_H
#define SLIPWAY_NVML_ABI_SAMPLE_H

/* NOLINTBEGIN: C, with the names and layouts of NVML */

#include "nvidia/nvml/abi/base.h"
#include "nvidia/nvml/abi/event.h"

typedef union nvmlValue_st {
  double dVal;
  int siVal;
  unsigned int uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
  signed long long sllVal;
  unsigned short usVal;
} nvmlValue_t;
NVML_ABI_SIZE(nvmlValue_t, 8);

enum { /* which member of nvmlValue_t holds the value */
       NVML_VALUE_TYPE_DOUBLE = 0,
       NVML_VALUE_TYPE_UNSIGNED_INT = 1,
       NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
       NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
       NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
       NVML_VALUE_TYPE_SIGNED_INT = 5,
       NVML_VALUE_TYPE_UNSIGNED_SHORT = 6
};

typedef struct nvmlFieldValue_st {
  unsigned int fieldId;
  unsigned int scopeId;  /* link, power scope, …: by field */
  long long timestamp;   /* microseconds */
  long long latencyUsec; /* microseconds */
  unsigned int valueType;
  nvmlReturn_t nvmlReturn; /* of this field alone */
  nvmlValue_t value;
} nvmlFieldValue_t;
NVML_ABI_SIZE(nvmlFieldValue_t, 40);

typedef struct nvmlSample_st {
  unsigned long long timeStamp; /* microseconds */
  nvmlValue_t sampleValue;
} nvmlSample_t;
NVML_ABI_SIZE(nvmlSample_t, 16);

typedef struct nvmlGpmMetricMetricInfo_st {
  char* shortName;
  char* longName;
  char* unit;
} nvmlGpmMetricMetricInfo_t;

typedef struct nvmlGpmMetric_st {
  unsigned int metricId;
  nvmlReturn_t nvmlReturn;
  double value;
  nvmlGpmMetricMetricInfo_t metricInfo;
} nvmlGpmMetric_t;
NVML_ABI_SIZE(nvmlGpmMetric_t, 40);

enum { NVML_GPM_METRIC_MAX = 333 }; /* the largest so far: allocate that many, whatever the driver */

typedef struct nvmlGpmMetricsGet_st {
  unsigned int version; /* 1 */
  unsigned int numMetrics;
  nvmlGpmSample_t sample1;
  nvmlGpmSample_t sample2;
  nvmlGpmMetric_t metrics[NVML_GPM_METRIC_MAX];
} nvmlGpmMetricsGet_t;
NVML_ABI_SIZE(nvmlGpmMetricsGet_t, 13344);

typedef struct nvmlGpmSupport_st {
  unsigned int version; /* 1 */
  unsigned int isSupportedDevice;
} nvmlGpmSupport_t;
NVML_ABI_SIZE(nvmlGpmSupport_t, 8);

/* NOLINTEND */

#endif
