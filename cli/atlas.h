/* What the files of `hologram atlas` share. */
#ifndef HG_CLI_ATLAS_H
#define HG_CLI_ATLAS_H

#include "cli.h"

/* atlas_read.c */
bool atlas_read_number(const char *text, uint64_t most, uint64_t *value); /* decimal or 0x, up to
                                                                             most */
/* Argument i, decimal or 0x, from least to most; reports what is not. */
bool atlas_number(cli *c, uint64_t i, const char *what, uint64_t least, uint64_t most,
                  uint64_t *value);
void atlas_refuse(cli *c); /* the algebra's last error: a question without an answer is a failure,
                              not wrong usage */

void atlas_answer_character(cli *c); /* atlas_character.c */

/* atlas_draw.c */
void atlas_draw_table(hg_text *svg); /* the 96 classes by coordinates */
void atlas_draw_graph(hg_text *svg); /* both components, edges by the label they change */

#endif
