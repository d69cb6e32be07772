/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of MPI for programs in Fortran. MPICH's own call those of C, but for these, which its
 * module mpi_f08 has: they call the names with a P, and would pass the library by.
 */
#include <mpi.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

static void tell(MPI_Fint* error, int result) {
  if (error != NULL) {
    *error = result;
  }
}

EXPORTED void mpi_init_f08_(MPI_Fint* error) {
  tell(error, MPI_Init(NULL, NULL));
}

EXPORTED void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  tell(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

EXPORTED void mpi_finalize_f08_(MPI_Fint* error) {
  tell(error, MPI_Finalize());
}

/* A communicator of that module has its number alone. */
EXPORTED void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  tell(error, MPI_Barrier(MPI_Comm_f2c(*comm)));
}
