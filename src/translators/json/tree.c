/* A kernel's body to its tape of nodes. Tasks stand on a stack of their own: an expression of any
 * depth takes no recursion.
 * Provides: nodes in the order of evaluation, all typed; conversions written out; k->names complete.
 * Must not know: instructions. */
#include "translators/json/kernel.h"

void jk_read_body(jk_kernel *k, uint32_t body) {
    jk_add_node(k, JK_SKIP, 0, JK_ERROR, body, 0, JK_NONE, JK_NONE); /* node 0: no mistake in the
                                                                        memory's end can reach
                                                                        behind it */
    k->reachable = true;
    jk_push(k, JK_TASK_BLOCK, body, body + 1);
    while (k->tasks.count && !k->out_of_memory && k->errors < JK_MOST_ERRORS) {
        jk_task t = k->tasks.data[--k->tasks.count];
        if (t.kind < JK_TASK_EXPRESSION)
            jk_do_statement(k, t);
        else
            jk_do_expression(k, t);
    }
}
