# Writes texts as hg_packed PREFIX_a, PREFIX_b (src/io/packed.h): cmake -DOUT=file.c -DPREFIX=library_text "-DTEXTS=a.atlas;b.atlas" -P texts.cmake.
# Called in the folder of OUT.
include(${CMAKE_CURRENT_LIST_DIR}/bytes.cmake)
set(text "/* Texts, written by cmake/texts.cmake: generated */\n#include \"io/packed.h\"\n")
foreach(file IN LISTS TEXTS)
  get_filename_component(name ${file} NAME_WE)
  # A copy, as CMake packs no file through a link, and none whose path from here has characters that the locale has not.
  file(COPY_FILE ${file} ${OUT}.text)
  file(SIZE ${OUT}.text length)
  file(ARCHIVE_CREATE OUTPUT ${OUT}.gz PATHS ${OUT}.text FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  file(READ ${OUT}.gz hex HEX)
  # A header of 10 bytes, that names no file and no more; 8 bytes behind the data.
  if(NOT hex MATCHES "^1f8b0800")
    message(FATAL_ERROR "${file}: CMake packed it with a header that is not looked for here: ${hex}")
  endif()
  string(LENGTH "${hex}" digits)
  math(EXPR digits "${digits} - 36")
  string(SUBSTRING "${hex}" 20 ${digits} hex)
  bytes_of_hex(${hex} bytes)
  string(APPEND text "static const uint8_t data_${name}[] = {\n${bytes}};\nstatic char text_${name}[${length} + 1];\n"
                     "hg_packed ${PREFIX}_${name} = {data_${name}, sizeof data_${name}, ${length}, text_${name}, false};\n")
endforeach()
file(REMOVE ${OUT}.gz ${OUT}.text)
file(WRITE ${OUT} "${text}")
