/* Prints the table of common types of docs/reference/tensor-operations.md:
 * tools/docs_tensor_operations compiles it together with src/tensor/types.c and src/base/types.c.
 */
#include <hologram/tensor.h>
#include <stdio.h>

static const hg_element TYPES[] = {
    HG_ELEMENT_BOOL, HG_TYPE_I8,   HG_TYPE_I16,          HG_TYPE_I32,
    HG_TYPE_I64,     HG_TYPE_U8,   HG_TYPE_U16,          HG_TYPE_U32,
    HG_TYPE_U64,     HG_TYPE_F16,  HG_TYPE_BF16,         HG_TYPE_F32,
    HG_TYPE_F64,     HG_TYPE_I128, HG_ELEMENT_COMPLEX64, HG_ELEMENT_COMPLEX128};
enum { COUNT = sizeof TYPES / sizeof *TYPES };

int main(void) {
    printf("| |");
    for (int b = 0; b < COUNT; b++) printf(" `%s` |", hg_element_name(TYPES[b]));
    printf("\n|---|");
    for (int b = 0; b < COUNT; b++) printf("---|");
    for (int a = 0; a < COUNT; a++) {
        printf("\n| `%s` |", hg_element_name(TYPES[a]));
        for (int b = 0; b < COUNT; b++) {
            hg_element type = hg_element_promote(TYPES[a], TYPES[b]);
            printf(" %s |", type == HG_TYPE_COUNT ? "-" : hg_element_name(type));
        }
    }
    printf("\n");
    return 0;
}
