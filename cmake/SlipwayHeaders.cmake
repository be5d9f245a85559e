# slipway_share_headers: the same precompiled headers for all libraries that are compiled with the common options, in a
# build for speed (CMAKE_UNITY_BUILD): each of them would otherwise parse json.hpp again. A build without it shows
# missing includes.
if(CMAKE_UNITY_BUILD)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/shared_headers.cpp CONTENT "")
  foreach(visibility default hidden)
    set(target slipway-headers-${visibility})
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/shared_headers.cpp)
    target_link_libraries(${target} PRIVATE slipway_options slipway::sdk)
    target_precompile_headers(${target} PRIVATE <algorithm> <filesystem> <functional> <map> <string> <vector>
      <slipway/json.hpp> <slipway/plan.hpp>)
  endforeach()
  set_target_properties(slipway-headers-hidden PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endif()

# True when a target has C++ sources, the common options, and none that the headers were not compiled with.
function(_slipway_may_share result target)
  set(${result} OFF PARENT_SCOPE)
  get_target_property(type ${target} TYPE)
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(sources ${target} SOURCES)
  if(type MATCHES "^(STATIC|MODULE)_LIBRARY$" AND NOT options AND libraries MATCHES "slipway_options"
      AND NOT sources MATCHES "[.]c(;|$)")
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# slipway_share_headers(FOLDER): for the libraries of a folder and its subfolders.
function(slipway_share_headers folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    _slipway_may_share(may ${target})
    if(may)
      get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
      if(NOT visibility)
        set(visibility default)
      endif()
      set_property(TARGET ${target} PROPERTY PRECOMPILE_HEADERS)  # its own headers
      target_precompile_headers(${target} REUSE_FROM slipway-headers-${visibility})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    slipway_share_headers(${below})
  endforeach()
endfunction()
