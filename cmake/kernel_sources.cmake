# cmake -DSOURCE=FOLDER -DOUT=FILE -P kernel_sources.cmake: one number for all that makes native code of kernel IR, as a C source. Objects in caches were
# made by sources with that number (src/native/native.c); those of the module itself are known by its file.
file(GLOB files RELATIVE ${SOURCE} ${SOURCE}/src/vector/* ${SOURCE}/src/jit/* ${SOURCE}/src/native/helpers.c ${SOURCE}/src/native/native.c
     ${SOURCE}/include/hologram/vector.h)
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} sum)
  string(APPEND all "${file} ${sum}\n")
endforeach()
string(SHA256 sum "${all}")
file(WRITE ${OUT} "/* cmake/kernel_sources.cmake: generated */\n#include \"native/native.h\"\nconst char *native_sources = \"${sum}\";\n")
