/* Which process a driver's library belongs to: one that was opened before a fork has threads and
 * locks in the parent only.
 * Must not know: any backend by name. */
#include "base/fork.h"
#include "driver/driver.h"

enum { MOST_DRIVERS = 32 };

static struct {
    const hg_driver *driver; /* atomic; NULL: free */
    uint32_t used_in; /* atomic: hg_fork_count + 1 of the process that used it first; 0: nobody yet
                       */
} first_use[MOST_DRIVERS];

bool hg_driver_is_ours(const hg_driver *driver) {
    if (driver->forks) return true;
    for (int i = 0; i < MOST_DRIVERS; i++) {
        const hg_driver *none = NULL;
        if (!hg_atomic_compare_exchange(&first_use[i].driver, &none, driver, HG_SEQ_CST) &&
            none != driver)
            continue;
        uint32_t nobody = 0, own = hg_fork_count + 1;
        return hg_atomic_compare_exchange(&first_use[i].used_in, &nobody, own, HG_SEQ_CST) ||
               nobody == own;
    }
    return true;
}
