# slipway_add_plugin: builds a plugin from its sources and its manifest.

# Builds one library with the plugin's note that exports only its entry.
# @param kind  slipway-manifest's name for it: library or service
function(_slipway_plugin_library target note sources libraries kind manifest)
  add_library(${target} MODULE ${sources} ${note})
  target_link_libraries(${target} PRIVATE slipway::sdk ${libraries})
  set_target_properties(${target} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # The SDK is private to each plugin: no plugin may use another one's copy.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${SLIPWAY_PLUGIN_EXPORTS})
  if(NOT SLIPWAY_SANITIZE)  # the sanitizers' functions are in the program
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(SLIPWAY_CHECKS_MANIFESTS)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND slipway::manifest ${kind} $<TARGET_FILE:${target}> ${manifest})
  endif()
endfunction()

# The program with a service, which no process loads as a library: at a fixed address, and with only the used parts of
# each library.
function(_slipway_service_program target note sources libraries)
  if(NOT TARGET slipway-service-main)
    message(FATAL_ERROR "SERVICE_PROGRAM is for plugins that are built with slipway; others have services in libraries")
  endif()
  add_executable(${target} ${sources} ${note})
  target_link_libraries(${target} PRIVATE slipway-service-main slipway::sdk ${libraries})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT SLIPWAY_SANITIZE)
    target_link_options(${target} PRIVATE -no-pie -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  endif()
endfunction()

# slipway_add_plugin(NAME SOURCES file... MANIFEST file.yaml [LIBRARIES target...] [VERSION x.y.z]
#                    [SERVICE_SOURCES file... [SERVICE_LIBRARIES target...] [SERVICE_PROGRAM]])
# Builds NAME.so. The manifest (YAML, one document per component) goes into an ELF note, so that slipway reads it
# without loading the plugin. VERSION is the plugin's own, else the project's. An error in the manifest, or a difference
# between it and SLIPWAY_PLUGIN(), stops the build. The object library NAME-manifest has the manifest's keys and
# defaults: link tests with it, and slipway::testing::spec_of() gives them specs as slipway does. UNCHECKED skips the
# checks, for plugins that are wrong on purpose.
# With SERVICE_SOURCES, the target NAME-service builds NAME.service.so into the same folder: the long-running part of
# components whose manifest says `service: beside`, so that planning does not load libraries that only the service
# needs. With SERVICE_PROGRAM (`service: program`) it builds the program NAME-service instead, which can be linked with
# static libraries that were not made for shared objects. Its main function is slipway's own, so this is for slipway's
# plugins.
function(slipway_add_plugin name)
  cmake_parse_arguments(ARG "SERVICE_PROGRAM;UNCHECKED" "MANIFEST;VERSION" "SOURCES;LIBRARIES;SERVICE_SOURCES;SERVICE_LIBRARIES" ${ARGN})
  if(NOT ARG_VERSION)
    set(ARG_VERSION ${PROJECT_VERSION})
  endif()
  if(NOT ARG_SOURCES OR NOT ARG_MANIFEST)
    message(FATAL_ERROR "slipway_add_plugin(${name}) needs SOURCES and a MANIFEST")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT CXX IN_LIST languages)
    message(FATAL_ERROR "slipway_add_plugin(${name}): the project has no C++; write LANGUAGES CXX in project()")
  endif()
  if(NOT "${ARG_VERSION}" MATCHES "^[0-9A-Za-z][0-9A-Za-z.+~_-]*$")
    message(FATAL_ERROR "slipway_add_plugin(${name}): '${ARG_VERSION}' is not a version; give VERSION x.y.z, or one to project()")
  endif()
  string(LENGTH "${ARG_VERSION}" length)
  if(length GREATER 64)
    message(FATAL_ERROR "slipway_add_plugin(${name}): the version ${ARG_VERSION} is longer than 64 characters")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_MANIFEST OUTPUT_VARIABLE SLIPWAY_MANIFEST_FILE)
  if(NOT EXISTS ${SLIPWAY_MANIFEST_FILE})
    message(FATAL_ERROR "slipway_add_plugin(${name}): there is no manifest ${SLIPWAY_MANIFEST_FILE}")
  endif()
  set(SLIPWAY_PLUGIN_VERSION ${ARG_VERSION})
  set(note ${CMAKE_CURRENT_BINARY_DIR}/${name}.note.S)
  configure_file(${SLIPWAY_NOTE_TEMPLATE} ${note} @ONLY)
  set_source_files_properties(${note} PROPERTIES LANGUAGE ASM OBJECT_DEPENDS ${SLIPWAY_MANIFEST_FILE})

  if(ARG_UNCHECKED)
    set(SLIPWAY_CHECKS_MANIFESTS OFF)  # in this function and those that it calls
  endif()
  if(SLIPWAY_CHECKS_MANIFESTS)
    set(known ${CMAKE_CURRENT_BINARY_DIR}/${name}.manifest.cpp)
    add_custom_command(OUTPUT ${known} VERBATIM DEPENDS slipway::manifest ${SLIPWAY_MANIFEST_FILE}
      COMMAND slipway::manifest embed ${SLIPWAY_MANIFEST_FILE} ${known})
    add_library(${name}-manifest OBJECT ${known})
    set_target_properties(${name}-manifest PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
    list(APPEND ARG_LIBRARIES ${name}-manifest)
    list(APPEND ARG_SERVICE_LIBRARIES ${name}-manifest)
  endif()

  _slipway_plugin_library(${name} ${note} "${ARG_SOURCES}" "${ARG_LIBRARIES}" library ${SLIPWAY_MANIFEST_FILE})
  if(ARG_SERVICE_SOURCES)
    set(folder $<TARGET_PROPERTY:${name},LIBRARY_OUTPUT_DIRECTORY>)
    set(folder $<IF:$<BOOL:${folder}>,${folder},${CMAKE_CURRENT_BINARY_DIR}>)
    if(ARG_SERVICE_PROGRAM)
      _slipway_service_program(${name}-service ${note} "${ARG_SERVICE_SOURCES}" "${ARG_SERVICE_LIBRARIES}")
      set_target_properties(${name}-service PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${folder})
    else()
      _slipway_plugin_library(${name}-service ${note} "${ARG_SERVICE_SOURCES}" "${ARG_SERVICE_LIBRARIES}" service
        ${SLIPWAY_MANIFEST_FILE})
      set_target_properties(${name}-service PROPERTIES OUTPUT_NAME ${name} SUFFIX .service.so
        LIBRARY_OUTPUT_DIRECTORY ${folder})
    endif()
    add_dependencies(${name} ${name}-service)
  endif()
endfunction()
# slipway-manifest runs during the build, so it must be a program for the build machine.
set(SLIPWAY_CHECKS_MANIFESTS ON)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(SLIPWAY_CHECKS_MANIFESTS OFF)
endif()
set(SLIPWAY_PLUGIN_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/plugin.exports)
set(SLIPWAY_NOTE_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/plugin_note.S.in)
