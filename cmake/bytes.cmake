# bytes_of(FILE VARIABLE): the bytes of a file as the items of a C array, 0 behind them.
function(bytes_of file variable)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${variable} "${hex}0" PARENT_SCOPE)
endfunction()
