# libhologram.so, libhologram.a, and what an installed copy needs: headers, hologram.pc, the CMake package.
set(export_list ${PROJECT_SOURCE_DIR}/cmake/hologram.map)

add_library(hologram SHARED ${HG_OBJECTS})
set_target_properties(hologram PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${export_list})
target_link_options(hologram PRIVATE -Wl,--version-script=${export_list})
# Tables of pointers have thousands of relocations: packed they are a few kilobytes, which loaders read from glibc 2.36 on.
option(HG_PACK_RELOCATIONS "Pack relocations of libhologram.so where this machine's loader reads them so" ON)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
check_c_source_compiles("#include <features.h>\n#if !__GLIBC_PREREQ(2, 36)\n#error\n#endif\nint main(void) { return 0; }" HG_LOADER_PACKS)
check_linker_flag(C -Wl,-z,pack-relative-relocs HG_LINKER_PACKS)
if(HG_PACK_RELOCATIONS AND HG_LOADER_PACKS AND HG_LINKER_PACKS AND NOT CMAKE_CROSSCOMPILING)
  target_link_options(hologram PRIVATE -Wl,-z,pack-relative-relocs)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT HG_SANITIZE) # hg_small
  target_link_options(hologram PRIVATE -Wl,--gc-sections)
endif()
if(NOT HG_SANITIZE) # sanitizers leave their own symbols to the program
  target_link_options(hologram PRIVATE -Wl,-z,defs)
endif()

# With all names of the library's own: for what is built here and looks inside.
add_library(hologram_internal STATIC ${HG_OBJECTS})

# The archive for applications: one object in which only the names that libhologram.so exports are global. Every other one is hidden by the
# compiler, and becomes local, so that an application may call its functions as it likes.
set(public_object ${PROJECT_BINARY_DIR}/libhologram.o)
if(CMAKE_OBJCOPY AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  separate_arguments(machine UNIX_COMMAND "${CMAKE_C_FLAGS}")
  if(CMAKE_C_COMPILER_TARGET)
    list(APPEND machine --target=${CMAKE_C_COMPILER_TARGET})
  endif()
  add_custom_command(OUTPUT ${public_object}
                     COMMAND ${CMAKE_C_COMPILER} ${machine} -r -nostdlib -Wl,--whole-archive $<TARGET_FILE:hologram_internal>
                             -o ${public_object}.whole
                     COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${public_object}.whole ${public_object}
                     COMMAND ${CMAKE_COMMAND} -E rm ${public_object}.whole
                     DEPENDS hologram_internal VERBATIM COMMENT "Making the names of libhologram.a local")
  set_source_files_properties(${public_object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(hologram_static STATIC ${public_object})
else()
  add_library(hologram_static STATIC ${HG_OBJECTS})
endif()
set_target_properties(hologram_static PROPERTIES OUTPUT_NAME hologram)

foreach(library hologram hologram_static hologram_internal)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
target_link_libraries(hologram PRIVATE $<BUILD_INTERFACE:hg_flags> Threads::Threads m ${CMAKE_DL_LIBS})
foreach(library hologram_static hologram_internal)
  target_link_libraries(${library} PUBLIC Threads::Threads m ${CMAKE_DL_LIBS})
endforeach()

install(TARGETS hologram hologram_static EXPORT hologram-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hologram DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE-MIT ${PROJECT_SOURCE_DIR}/LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The package finds its own place at use, so an installed tree can be moved or packed.
file(RELATIVE_PATH HG_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/hologram.pc.in ${PROJECT_BINARY_DIR}/hologram.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hologram.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hologram)
install(EXPORT hologram-targets NAMESPACE hologram:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hologram-config.cmake.in ${PROJECT_BINARY_DIR}/hologram-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hologram-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hologram-config.cmake ${PROJECT_BINARY_DIR}/hologram-config-version.cmake DESTINATION ${package_dir})
