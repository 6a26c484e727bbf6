/* What programs compiled with an older header call. Read by tests/abi/run.py, never built. */
#include <hologram/small.h>

HG_API hg_launch hg_launch_default(void);
