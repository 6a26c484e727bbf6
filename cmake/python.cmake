# The Python package, as it lies in the build folder: PYTHONPATH=build/release/python python3. Its files are links to bindings/python/hologram,
# so that what is edited there is at once what runs; _interface.py is generated, the library is a link too.
set(python_package ${PROJECT_BINARY_DIR}/python/hologram)
find_package(Python3 COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "no Python package: there is no python3")
  return()
endif()
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hologram/*)
add_custom_command(OUTPUT ${python_package}/_interface.py
                   COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/interface > ${PROJECT_BINARY_DIR}/interface.json
                   COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/bindings/python/generate.py ${PROJECT_BINARY_DIR}/interface.json
                           > ${python_package}/_interface.py
                   DEPENDS ${public_headers} ${PROJECT_SOURCE_DIR}/tools/interface ${PROJECT_SOURCE_DIR}/tools/abi
                           ${PROJECT_SOURCE_DIR}/bindings/python/generate.py cmake/hologram.map VERBATIM)
file(GLOB_RECURSE package_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/bindings/python/hologram
     ${PROJECT_SOURCE_DIR}/bindings/python/hologram/*.py ${PROJECT_SOURCE_DIR}/bindings/python/hologram/*.pyi
     ${PROJECT_SOURCE_DIR}/bindings/python/hologram/py.typed)
foreach(file IN LISTS package_files)
  get_filename_component(folder ${python_package}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/bindings/python/hologram/${file} ${python_package}/${file} SYMBOLIC)
endforeach()
file(MAKE_DIRECTORY ${python_package}/lib)
file(CREATE_LINK ${PROJECT_BINARY_DIR}/libhologram.so ${python_package}/lib/libhologram.so.${PROJECT_VERSION_MAJOR} SYMBOLIC)
foreach(file libhologram_jit.so libexec hologram) # what the library and `python -m hologram` look for beside it; some may never be built
  file(CREATE_LINK ${PROJECT_BINARY_DIR}/${file} ${python_package}/lib/${file} SYMBOLIC)
endforeach()
add_custom_target(hologram_python ALL DEPENDS ${python_package}/_interface.py)

# The extension: the stable ABI of CPython 3.11, one file for all later ones.
if(NOT Python3_Development.Module_FOUND OR Python3_VERSION VERSION_LESS 3.11)
  message(STATUS "the Python package is without its extension: no headers of CPython 3.11 or newer (Debian package python3-dev)")
  return()
endif()
file(GLOB native_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/python/src/*.c)
add_library(hologram_native MODULE ${native_sources})
target_include_directories(hologram_native SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_link_libraries(hologram_native PRIVATE hg_flags hologram)
set_target_properties(hologram_native PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so LIBRARY_OUTPUT_DIRECTORY ${python_package}

                                                 INSTALL_RPATH "$ORIGIN/lib"
                                                 BUILD_WITH_INSTALL_RPATH ON)
target_link_options(hologram_native PRIVATE -Wl,--disable-new-dtags) # the package's library, whatever LD_LIBRARY_PATH has
add_dependencies(hologram_python hologram_native)
