# The generated handlers of the tile interpreter: the host tool tools/gen_tiles.c writes a C source at build time, which is
# compiled once for every CPU level of the target. Objects made here are appended to HG_OBJECTS.
# Cross builds cannot run the tool: they take the source that a native build left in ${HG_TILES_DIR}.
if(TARGET hg_tile)
  set(tile_source ${PROJECT_BINARY_DIR}/tiles/handlers.c)
  if(HG_TILES_DIR)
    set(tile_source ${HG_TILES_DIR}/handlers.c)
  else()
    add_executable(hg_gen_tiles tools/gen_tiles.c)
    foreach(room base io isa atlas kir kir_define kir_analysis kir_passes kir_build kir_legalise kir_device vector emit) # what stands before the handlers
      target_sources(hg_gen_tiles PRIVATE $<TARGET_OBJECTS:hg_${room}>)
    endforeach()
    target_include_directories(hg_gen_tiles PRIVATE include src)
    target_link_libraries(hg_gen_tiles PRIVATE hg_flags Threads::Threads m)
    add_custom_command(OUTPUT ${tile_source} COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/tiles
                       COMMAND hg_gen_tiles ${tile_source}.new # the same source again is not compiled again
                       COMMAND ${CMAKE_COMMAND} -E copy_if_different ${tile_source}.new ${tile_source} DEPENDS hg_gen_tiles VERBATIM
                       COMMENT "Generating tile handlers")
  endif()

  # The interpreter's loop jumps to handlers all over the library: where its own code lies decides a third of the time of a program of one
  # lane (0.81 to 1.05 s for the same instructions).
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/tile/exec.c PROPERTIES
                                COMPILE_OPTIONS "-falign-functions=64;-falign-loops=32;-falign-jumps=32;-falign-labels=16")
  endif()

  # Flags that keep every bit: no contraction, no reassociation. Traps and errno are not looked at by anybody.
  set(tile_options -std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing -fPIC -fvisibility=hidden -w)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # these passes make branches of selects, and then loops do not vectorise
    list(APPEND tile_options -fno-thread-jumps -fno-tree-pre -fno-code-hoisting -fno-tree-sink)
  endif()
  if(HG_SANITIZE)
    list(APPEND tile_options -O1 -DTILE_TURNS= -fsanitize=${HG_SANITIZE} -fno-omit-frame-pointer)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HG_SANITIZE)
    list(APPEND tile_options -fno-asynchronous-unwind-tables -fno-unwind-tables)
  endif()
  # Handlers are vectors, and few instructions for lanes that are left: -O3 writes each of those out. Folds are all in registers only so.
  set(handlers_options -O2)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND handlers_options -ftree-vectorize -fvect-cost-model=dynamic -funswitch-loops -fno-align-functions -fno-align-jumps)
    # A short loop that lies in two lines of 64 bytes takes up to 1.9 times as long. 20 KB a level, so whole lines only
    # where loops are more often short and many machines are, and half lines at v4.
    set(whole_lines -falign-loops=64)
    set(half_lines -falign-loops=32)
  endif()
  set(folds_options -O3)
  function(hg_tile_level name)
    set(part 0)
    foreach(what handlers folds)
      math(EXPR part "${part} + 1")
      set(target hg_tiles_${name}_${what})
      add_library(${target} OBJECT ${tile_source})
      target_include_directories(${target} PRIVATE include src)
      target_compile_definitions(${target} PRIVATE TILE_LEVEL=${name} TILE_PART=${part} _GNU_SOURCE)
      target_compile_options(${target} PRIVATE ${${what}_options} ${tile_options} ${ARGN})
      if(HG_SANITIZE AND NOT name STREQUAL "v3") # the level that most machines run: the others take as long to compile, and few tests ask for them
        target_compile_options(${target} PRIVATE -O0)
      endif()
      list(APPEND HG_OBJECTS $<TARGET_OBJECTS:${target}>)
    endforeach()
    set(HG_OBJECTS ${HG_OBJECTS} PARENT_SCOPE)
  endfunction()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "wasm")
    hg_tile_level(baseline -msimd128)
  else()
    hg_tile_level(baseline)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    hg_tile_level(v3 -march=x86-64-v3 ${whole_lines})
    hg_tile_level(v4 -march=x86-64-v4 -mprefer-vector-width=512 ${half_lines})
  endif()
endif()
