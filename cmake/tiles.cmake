# The generated handlers of the tile interpreter: the host tool tools/gen_tiles.c writes C sources at build time, each of
# which is compiled once for every CPU level of the target. Objects made here are appended to HG_OBJECTS.
# Cross builds cannot run the tool: they take the sources that a native build left in ${HG_TILES_DIR}.
