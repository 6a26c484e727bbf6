# libhologram.so, libhologram.a, and what an installed copy needs: headers, hologram.pc, the CMake package.
set(export_list ${PROJECT_SOURCE_DIR}/cmake/hologram.map)

add_library(hologram SHARED ${HG_OBJECTS})
set_target_properties(hologram PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${export_list})
target_link_options(hologram PRIVATE -Wl,--version-script=${export_list})
if(NOT HG_SANITIZE) # sanitizers leave their own symbols to the program
  target_link_options(hologram PRIVATE -Wl,-z,defs)
endif()

add_library(hologram_static STATIC ${HG_OBJECTS})
set_target_properties(hologram_static PROPERTIES OUTPUT_NAME hologram)

foreach(library hologram hologram_static)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
target_link_libraries(hologram PRIVATE $<BUILD_INTERFACE:hg_flags> Threads::Threads m ${CMAKE_DL_LIBS})
target_link_libraries(hologram_static PUBLIC Threads::Threads m ${CMAKE_DL_LIBS})

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
