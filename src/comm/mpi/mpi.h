/* For tests. */
#ifndef HG_COMM_MPI_H
#define HG_COMM_MPI_H

/* NULL, or what is called before each call of MPI. */
extern void (*comm_mpi_watch)(void);

#endif
