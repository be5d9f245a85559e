// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/engine/abi.hpp - the called part of libdcgm.so.4: types, numbers and layouts, from DCGM's public headers
// dcgm_agent.h, dcgm_structs.h and dcgm_fields.h (version read: 4.6.0).
#pragma once

#include <cstddef>
#include <cstdint>

namespace slipway::dcgm::abi {

using Return = int;  ///< dcgmReturn_t
inline constexpr Return kOk = 0;
inline constexpr Return kBadParameter = -1;
inline constexpr Return kNoData = -14;
inline constexpr Return kFunctionNotFound = -20;
inline constexpr Return kConnectionNotValid = -21;

using Handle = std::uintptr_t;      ///< dcgmHandle_t
using Group = std::uintptr_t;       ///< dcgmGpuGrp_t
using FieldGroup = std::uintptr_t;  ///< dcgmFieldGrp_t

inline constexpr Group kAllGpus = 0x7fffffff;                      ///< DCGM_GROUP_ALL_GPUS
inline constexpr int kGpu = 1;                                     ///< DCGM_FE_GPU
inline constexpr int kSwitch = 3;                                  ///< DCGM_FE_SWITCH
inline constexpr int kLink = 6;                                    ///< DCGM_FE_LINK
inline constexpr int kEmptyGroup = 1;                              ///< DCGM_GROUP_EMPTY
inline constexpr std::size_t kMostEntitiesOfAGroup = 1024;         ///< DCGM_GROUP_MAX_ENTITIES_V2
inline constexpr std::size_t kMostFieldsOfAGroup = 128;            ///< DCGM_MAX_FIELD_IDS_PER_FIELD_GROUP
inline constexpr unsigned short kUuidField = 54;                   ///< DCGM_FI_DEV_UUID
inline constexpr std::size_t kTextBytes = 256;                     ///< DCGM_MAX_STR_LENGTH
inline constexpr std::size_t kBlobBytes = 4096;                    ///< DCGM_MAX_BLOB_LENGTH
inline constexpr std::int64_t kBlankInteger = 0x7ffffffffffffff0;  ///< this value and all above: no value
inline constexpr double kBlankReal = 140737488355328.0;            ///< likewise
inline constexpr const char* kBlankText = "<<<";                   ///< prefix of texts that mean "no value"

/// dcgmConnectV2Params_v2
struct ConnectParameters {
  unsigned version;
  unsigned persist_after_disconnect;
  unsigned timeout_ms;
  unsigned address_is_unix_socket;
};
static_assert(sizeof(ConnectParameters) == 16);
inline constexpr unsigned kConnectParametersVersion = sizeof(ConnectParameters) | 2U << 24U;

/// dcgmFieldValue_v1
struct FieldValue {
  unsigned version;
  unsigned short field;
  unsigned short type;  ///< 'i', 't', 'd', 's' or 'b'
  int status;           ///< kOk, or the reason why there is no value
  std::int64_t time_us;
  union {
    std::int64_t integer;
    double real;
    char text[kTextBytes];
    char blob[kBlobBytes];
  } value;
};
static_assert(offsetof(FieldValue, time_us) == 16 && offsetof(FieldValue, value) == 24);
static_assert(sizeof(FieldValue) == 4120);

/// dcgmNvLinkStatus_v4, which every release of DCGM 4 accepts.
struct LinkStates {
  static constexpr int kUp = 3;  ///< DcgmNvLinkLinkStateUp
  struct OfGpu {
    unsigned gpu;
    int states[18];
  };
  struct OfSwitch {
    unsigned number;
    int states[256];
  };
  unsigned version;
  unsigned gpu_count;
  OfGpu gpus[32];
  unsigned switch_count;
  OfSwitch switches[12];
};
static_assert(sizeof(LinkStates) == 12 + 32 * 76 + 12 * 1028);
inline constexpr unsigned kLinkStatesVersion = sizeof(LinkStates) | 4U << 24U;

/// dcgm_link_t, as it is since DCGM 4.4. @param of  kGpu or kSwitch  @param owner  number of the GPU or NVSwitch
constexpr unsigned link_entity(int of, unsigned owner, unsigned link) {
  return static_cast<unsigned>(of) | link << 8U | owner << 24U;
}
constexpr int owner_kind(unsigned link_entity) { return static_cast<int>(link_entity & 0xffU); }
constexpr unsigned owner_of(unsigned link_entity) { return link_entity >> 24U; }
constexpr unsigned link_of(unsigned link_entity) { return link_entity >> 8U & 0xffffU; }

/// dcgmFieldValueEntityEnumeration_f. @return less than 0 to stop
using TakeValues = int (*)(int entity_group, unsigned entity, FieldValue* values, int count, void* context);

// The functions, by their names in the library.
using Init = Return (*)();                                                                       // dcgmInit
using Shutdown = Return (*)();                                                                   // dcgmShutdown
using Connect = Return (*)(const char* address, ConnectParameters*, Handle*);                    // dcgmConnect_v2
using Disconnect = Return (*)(Handle);                                                           // dcgmDisconnect
using CreateFieldGroup = Return (*)(Handle, int count, const unsigned short* fields,             //
                                    const char* name, FieldGroup*);                              // dcgmFieldGroupCreate
using Watch = Return (*)(Handle, Group, FieldGroup, long long interval_us, double keep_seconds,  //
                         int keep_samples);                                                      // dcgmWatchFields
using Update = Return (*)(Handle, int wait);                                                     // dcgmUpdateAllFields
using Latest = Return (*)(Handle, Group, FieldGroup, TakeValues, void* context);  // dcgmGetLatestValues_v2
using Entities = Return (*)(Handle, int entity_group, unsigned* entities, int* count,
                            unsigned flags);                                     // dcgmGetEntityGroupEntities
using GetLinkStates = Return (*)(Handle, LinkStates*);                           // dcgmGetNvLinkLinkStatus
using CreateGroup = Return (*)(Handle, int type, const char* name, Group*);      // dcgmGroupCreate
using AddEntity = Return (*)(Handle, Group, int entity_group, unsigned entity);  // dcgmGroupAddEntity
using DestroyGroup = Return (*)(Handle, Group);                                  // dcgmGroupDestroy
using ErrorText = const char* (*)(Return);                                       // errorString

}  // namespace slipway::dcgm::abi
