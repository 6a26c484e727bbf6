/* Rows of the reference that the command carries. */
#ifndef HG_CLI_REFERENCE_H
#define HG_CLI_REFERENCE_H

#include "base/base.h"
#include "pages.h"

/* The page; where there is none of that name, the end of the list. */
const cli_page *cli_page_find(const char *name);
/* Appends what the reference says of an instruction ("add.f32", "setlt.u32"): its forms, what they
 * do, types. base: its name without types. False: there is no such instruction. */
bool cli_reference_instruction(const char *word, hg_text *out, char base[64]);
/* Appends the rows of a page's tables whose first cell has code that begins with the word: its form
 * and what it is. False: there are none. */
bool cli_reference_rows(const char *page, const char *word, hg_text *out);

#endif
