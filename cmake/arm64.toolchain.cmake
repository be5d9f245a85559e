# Builds for arm64 on another processor: Debian's cross compiler, libraries from a sysroot, tests under qemu-user.
# `./dev arm64` makes the folder that SLIPWAY_ARM64 names (tests/e2e/arm64-sysroot.sh) and configures with this file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT SLIPWAY_ARM64)
  if(DEFINED ENV{SLIPWAY_E2E_CACHE})
    set(SLIPWAY_ARM64 $ENV{SLIPWAY_E2E_CACHE}/arm64)
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(SLIPWAY_ARM64 $ENV{XDG_CACHE_HOME}/slipway-e2e/arm64)
  else()
    set(SLIPWAY_ARM64 $ENV{HOME}/.cache/slipway-e2e/arm64)
  endif()
endif()
set(SLIPWAY_ARM64 ${SLIPWAY_ARM64} CACHE PATH "The folder with sysroot, prefix and qemu-aarch64-static")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SLIPWAY_ARM64)
if(NOT EXISTS ${SLIPWAY_ARM64}/sysroot/usr/include)
  message(FATAL_ERROR "There is no arm64 sysroot in ${SLIPWAY_ARM64}: ./dev arm64 makes it")
endif()

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${SLIPWAY_ARM64}/sysroot)
# Libraries and packages come only from the sysroot; programs (protoc, ccache) are those of this machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
# gcc looks for a cross linker by its target's name, and Debian's lld has no such name.
set(SLIPWAY_LLD NO CACHE FILEPATH "")

set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../tests/e2e/arm64-emulator;${SLIPWAY_ARM64})
