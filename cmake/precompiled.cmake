# Kernels of the operator table as native code: the host tool tools/gen_precompiled.c writes them as C for x86-64-v3 and -v4. Some 60 seconds
# of a compiler for v3 alone: builds with sanitizers, for fuzzing and for other machines leave it out, and are the same but for the time of these kernels.
option(HG_PRECOMPILE "carry kernels of the operator table as native code" ON)
if(HG_PRECOMPILE AND TARGET hg_native AND NOT HG_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"
   AND NOT HG_TILES_DIR)
  add_executable(hg_gen_precompiled tools/gen_precompiled.c)
  foreach(room base io atlas isa translators kir kir_define kir_analysis kir_passes kir_build kir_legalise kir_device kir_pipeline library plan plan_steps
               vector emit) # what stands before the drivers
    target_sources(hg_gen_precompiled PRIVATE $<TARGET_OBJECTS:hg_${room}>)
  endforeach()
  target_include_directories(hg_gen_precompiled PRIVATE include src)
  target_link_libraries(hg_gen_precompiled PRIVATE hg_flags Threads::Threads m)
  foreach(level v3 v3_narrow v4 v4_narrow v4_thin)
    set(precompiled_source ${PROJECT_BINARY_DIR}/tiles/precompiled_${level}.c)
    add_custom_command(OUTPUT ${precompiled_source} COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/tiles
                       COMMAND hg_gen_precompiled ${level} ${precompiled_source}.new # the same source again is not compiled again
                       COMMAND ${CMAKE_COMMAND} -E copy_if_different ${precompiled_source}.new ${precompiled_source}
                       DEPENDS hg_gen_precompiled VERBATIM COMMENT "Generating precompiled kernels, ${level}")
    string(SUBSTRING ${level} 0 2 machine)
    add_library(hg_precompiled_${level} OBJECT ${precompiled_source})
    target_include_directories(hg_precompiled_${level} PRIVATE include src)
    # The text is what the passes over vector form left: with these of -O2's passes it is as fast as with all of them (products, softmax, norms,
    # attention, convolution, transforms at v3: within what two runs differ by) and compiled in half of the time.
    target_compile_options(hg_precompiled_${level} PRIVATE -std=gnu17 -O1 -fstrict-aliasing -fschedule-insns2 -falign-functions -falign-loops
                                                           -falign-jumps -ffp-contract=off -fno-math-errno -fno-trapping-math
                                                           -fPIC -fvisibility=hidden -fstack-clash-protection -w -march=x86-64-${machine})
    list(APPEND HG_OBJECTS $<TARGET_OBJECTS:hg_precompiled_${level}>)
  endforeach()
  target_compile_definitions(hg_native PRIVATE HG_PRECOMPILED)
endif()
