# slipway_add_plugin: a plugin from its sources and its manifest.

# slipway_add_plugin(NAME SOURCES file... MANIFEST file.yaml [LIBRARIES target...] [VERSION x.y.z])
# Builds NAME.so. The manifest (YAML, one document per component) goes into an ELF note, so that slipway reads it without
# loading the plugin. VERSION is the plugin's own, else the project's.
function(slipway_add_plugin name)
  cmake_parse_arguments(ARG "" "MANIFEST;VERSION" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_VERSION)
    set(ARG_VERSION ${PROJECT_VERSION})
  endif()
  if(NOT ARG_SOURCES OR NOT ARG_MANIFEST)
    message(FATAL_ERROR "slipway_add_plugin(${name}) needs SOURCES and a MANIFEST")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_MANIFEST OUTPUT_VARIABLE SLIPWAY_MANIFEST_FILE)
  set(SLIPWAY_PLUGIN_VERSION ${ARG_VERSION})
  set(note ${CMAKE_CURRENT_BINARY_DIR}/${name}.note.S)
  configure_file(${SLIPWAY_NOTE_TEMPLATE} ${note} @ONLY)
  set_source_files_properties(${note} PROPERTIES LANGUAGE ASM OBJECT_DEPENDS ${SLIPWAY_MANIFEST_FILE})

  add_library(${name} MODULE ${ARG_SOURCES} ${note})
  target_link_libraries(${name} PRIVATE slipway::sdk ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # The SDK is private to each plugin: nothing of it may be found by another one, or find another one's.
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${SLIPWAY_PLUGIN_EXPORTS} -Wl,-z,defs)
endfunction()
set(SLIPWAY_PLUGIN_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/plugin.exports)
set(SLIPWAY_NOTE_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/plugin_note.S.in)
