# slipway-libarchive: libarchive, static if an archive of it is installed: the shared one loads libxml2 and ICU, 36 MB
# of libraries for formats that slipway does not read.
find_package(LibArchive REQUIRED)
find_library(SLIPWAY_LIBARCHIVE_ARCHIVE NAMES libarchive.a)
set(archive_libraries "")
# For some of them, only the shared library is installed with libarchive.
foreach(name z lzma zstd libbz2.so.1.0 liblz4.so.1 libacl.so.1 libnettle.so.8)
  find_library(SLIPWAY_LIBARCHIVE_${name} NAMES ${name})
  list(APPEND archive_libraries ${SLIPWAY_LIBARCHIVE_${name}})
endforeach()
add_library(slipway-libarchive INTERFACE)
if(SLIPWAY_LIBARCHIVE_ARCHIVE AND NOT archive_libraries MATCHES "NOTFOUND")
  find_package(OpenSSL REQUIRED COMPONENTS Crypto)
  target_include_directories(slipway-libarchive SYSTEM INTERFACE ${LibArchive_INCLUDE_DIRS})
  target_link_libraries(slipway-libarchive INTERFACE ${SLIPWAY_LIBARCHIVE_ARCHIVE} ${archive_libraries} OpenSSL::Crypto)
  target_link_options(slipway-libarchive INTERFACE -Wl,--gc-sections)  # otherwise includes the code of unused formats
else()
  target_link_libraries(slipway-libarchive INTERFACE LibArchive::LibArchive)
endif()
