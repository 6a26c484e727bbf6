# Writes texts as C arrays PREFIX_a, PREFIX_b: cmake -DOUT=file.c -DPREFIX=library_text "-DTEXTS=a.atlas;b.atlas" -P texts.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/bytes.cmake)
set(text "/* Texts, written by cmake/texts.cmake: generated */\n")
foreach(file IN LISTS TEXTS)
  get_filename_component(name ${file} NAME_WE)
  bytes_of(${file} bytes)
  string(APPEND text "extern const char ${PREFIX}_${name}[];\nconst char ${PREFIX}_${name}[] = {\n${bytes}};\n")
endforeach()
file(WRITE ${OUT} "${text}")
