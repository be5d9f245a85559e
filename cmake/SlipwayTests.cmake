# slipway_add_test: builds a test program from its sources; CTest finds its cases one by one.
find_package(GTest REQUIRED)
include(GoogleTest)

# The code of tests is compiled as fast as possible; the tested code is compiled as for users.
add_library(slipway_test_options INTERFACE)
target_compile_options(slipway_test_options INTERFACE -O0 -U_FORTIFY_SOURCE)

# One set of precompiled headers for all test programs: separate ones would cost ten seconds and 140 MB each.
add_executable(slipway_test_headers EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/test_headers.cpp)
target_link_libraries(slipway_test_headers PRIVATE slipway_options slipway_test_options slipway::sdk GTest::gmock GTest::gtest_main)
target_precompile_headers(slipway_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <slipway/json.hpp> <string> <vector>)

# Ends a hanging test: no test takes that long. Sanitizers and emulators make all of them slower.
set(SLIPWAY_TEST_LIMIT 300)
if(SLIPWAY_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(SLIPWAY_TEST_LIMIT 1200)
endif()

# slipway_add_test(NAME SOURCES file... [LIBRARIES target...] [LABELS label...] [LOCK resource])
# LOCK: a resource that no two cases may use at the same time.
function(slipway_add_test name)
  cmake_parse_arguments(ARG "" "LOCK" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE slipway_options slipway_test_options ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_precompile_headers(${name} REUSE_FROM slipway_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # One process for each case, so that no case depends on another one; but starting a process with sanitizers takes
  # longer than most unit tests, so those use one process for all cases of their program.
  if(SLIPWAY_SANITIZE AND ARG_LABELS STREQUAL "unit")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${SLIPWAY_TEST_LIMIT})
  else()
    set(lock)
    if(ARG_LOCK)
      set(lock RESOURCE_LOCK ${ARG_LOCK})
    endif()
    gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${SLIPWAY_TEST_LIMIT} ${lock} DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
