# Writes the texts of library programs as C arrays: cmake -DOUT=file.c -DTEXTS=a.atlas;b.atlas -P texts.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/bytes.cmake)
set(text "/* Library programs, written by cmake/texts.cmake: generated */\n")
foreach(file IN LISTS TEXTS)
  get_filename_component(name ${file} NAME_WE)
  bytes_of(${file} bytes)
  string(APPEND text "extern const char library_text_${name}[];\nconst char library_text_${name}[] = {\n${bytes}};\n")
endforeach()
file(WRITE ${OUT} "${text}")
