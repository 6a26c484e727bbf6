/* What the library uses of ctype.h: ASCII (bindings/npm/wasm/libc.c). */
#ifndef SHIM_CTYPE_H
#define SHIM_CTYPE_H
int isalpha(int c);
int isdigit(int c);
int isalnum(int c);
int toupper(int c);
#endif
