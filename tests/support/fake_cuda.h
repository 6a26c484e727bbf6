/* The CUDA driver and NVRTC of tests/fake_cuda, where a process has them (tests/devices/on.sh
 * fake_cuda). */
#ifndef HG_TESTS_FAKE_CUDA_H
#define HG_TESTS_FAKE_CUDA_H

#include <stdbool.h>

bool fake_cuda_is_here(void); /* opens the driver's library */
long fake_cuda_things(void);  /* what the driver has not been given back; 0 with another driver */
long fake_cuda_graphs(void);  /* launches of graphs so far */
int fake_cuda_compilations(void); /* that NVRTC made; -1: it was not opened */

#endif
