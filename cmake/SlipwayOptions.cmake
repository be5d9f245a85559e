# slipway_options: an interface target with the warnings, sanitizers and link settings of all of slipway.
add_library(slipway_options INTERFACE)
target_compile_options(slipway_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion -Wsign-conversion
  -Wno-missing-field-initializers)
# gcc 12 reports overlaps and overruns in std::string that do not exist (GCC bugs 105329 and 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(slipway_options INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread)
endif()
if(SLIPWAY_WERROR)
  target_compile_options(slipway_options INTERFACE -Werror)
endif()
if(SLIPWAY_SANITIZE)
  target_compile_options(slipway_options INTERFACE -fsanitize=${SLIPWAY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(slipway_options INTERFACE -fsanitize=${SLIPWAY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SLIPWAY_SANITIZE MATCHES "undefined")
    # Functions of a library that is loaded by name (NVML) have that library's types, which always differ from ours.
    target_compile_options(slipway_options INTERFACE -fno-sanitize=function)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # gcc does this by default
    string(REGEX MATCHALL "address|thread" sanitizers "${SLIPWAY_SANITIZE}")
    list(TRANSFORM sanitizers TOUPPER)
    list(TRANSFORM sanitizers REPLACE "(.+)" "__SANITIZE_\\1__")
    target_compile_definitions(slipway_options INTERFACE ${sanitizers})
  endif()
endif()
target_compile_definitions(slipway_options INTERFACE _FILE_OFFSET_BITS=64
  $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
target_link_options(slipway_options INTERFACE -Wl,--as-needed)

find_program(SLIPWAY_LLD ld.lld)
if(SLIPWAY_LLD)
  target_link_options(slipway_options INTERFACE -fuse-ld=lld)
endif()
find_program(SLIPWAY_CCACHE ccache)
if(SLIPWAY_CCACHE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # a precompiled header with its time in it is different each time
    target_compile_options(slipway_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  # In the compiler's command, so that they apply however the build is started: precompiled headers are cached too.
  # Checkouts in different folders share few objects, as the sources of unity builds name absolute paths.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SLIPWAY_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# slipway_own_libraries(TARGET): a program in libexec/slipway looks for its libraries, and for those of libraries that
# it loads, first in the folder where `slipway install` puts libraries that an image lacks, then in the system's
# folders. A RUNPATH would not apply to the libraries' own dependencies.
function(slipway_own_libraries target)
  # Uses the final path from the start: a path that CMake replaces later ends in a colon, which means the current
  # folder.
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../../lib/slipway/libraries")
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()
