# bytes_of_hex(HEX VARIABLE): bytes in hexadecimal as the items of a C array.
function(bytes_of_hex hex variable)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${variable} "${hex}" PARENT_SCOPE)
endfunction()
# bytes_of(FILE VARIABLE): those of a file, 0 behind them.
function(bytes_of file variable)
  file(READ ${file} hex HEX)
  bytes_of_hex("${hex}" bytes)
  set(${variable} "${bytes}0" PARENT_SCOPE)
endfunction()
