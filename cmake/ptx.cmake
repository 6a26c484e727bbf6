# PTX of library programs, for the CUDA backend on machines without NVRTC: the host tool tools/gen_ptx.c makes it with the NVRTC of this machine, where there
# is one; else the file says that it has no kernels. What did not change is not compiled again.
set(runs_here ON)
if(HG_SANITIZE OR CMAKE_CROSSCOMPILING OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(runs_here OFF)
endif()
if(runs_here AND TARGET hologram_internal AND "cuda" IN_LIST HG_BUILT AND "null" IN_LIST HG_BUILT)
  add_executable(hg_gen_ptx tools/gen_ptx.c)
  target_include_directories(hg_gen_ptx PRIVATE src)
  target_link_libraries(hg_gen_ptx PRIVATE hg_flags hologram_internal)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/hologram.ptx COMMAND hg_gen_ptx ${PROJECT_BINARY_DIR}/hologram.ptx DEPENDS hg_gen_ptx VERBATIM
                     COMMENT "Making PTX of library programs")
  add_custom_target(hologram_ptx ALL DEPENDS ${PROJECT_BINARY_DIR}/hologram.ptx)
  # A file without kernels is of no use to anybody: it is not installed, and one of an earlier installation is removed.
  install(CODE "
    set(installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
    set(head \"no kernels\")
    if(EXISTS \"${PROJECT_BINARY_DIR}/hologram.ptx\")
      file(STRINGS \"${PROJECT_BINARY_DIR}/hologram.ptx\" head LIMIT_COUNT 1)
    endif()
    if(head MATCHES \"no kernels\")
      message(STATUS \"Not installed: hologram.ptx (made without NVRTC, it has no kernels)\")
      file(REMOVE \"\${installed}/hologram.ptx\")
    else()
      file(INSTALL \"${PROJECT_BINARY_DIR}/hologram.ptx\" DESTINATION \"\${installed}\")
    endif()")
endif()
