/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of MPI for programs in Fortran. Open MPI's own call those of C by the names with a P,
 * and would pass the library by; these do the same by the other names.
 */
#include <mpi.h>
#include <stddef.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts are the same in both languages");

/* What stands for the constants of C in Fortran, by its address. In a program in C there is none.
 */
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void* buffer_of(void* given) {
  if (given == NULL) {
    return given;
  }
  if (given == &mpi_fortran_in_place_) {
    return MPI_IN_PLACE;
  }
  return given == &mpi_fortran_bottom_ ? MPI_BOTTOM : given;
}

static void tell(MPI_Fint* error, int result) {
  if (error != NULL) {
    *error = result;
  }
}

/* Compilers call the first name for mpif.h and the module mpi. The module mpi_f08 calls the second.
 */
#define FORTRAN(name, parameters)                                                                  \
  __attribute__((visibility("default"))) void mpi_##name##_ parameters;                            \
  __attribute__((visibility("default"), alias("mpi_" #name "_"))) void ompi_##name##_f parameters; \
  void mpi_##name##_ parameters

FORTRAN(init, (MPI_Fint * error)) {
  tell(error, MPI_Init(NULL, NULL));
}

FORTRAN(init_thread, (MPI_Fint * required, MPI_Fint* provided, MPI_Fint* error)) {
  tell(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

FORTRAN(finalize, (MPI_Fint * error)) {
  tell(error, MPI_Finalize());
}

FORTRAN(allreduce, (void* in, void* out, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                    MPI_Fint* comm, MPI_Fint* error)) {
  tell(error, MPI_Allreduce(buffer_of(in), buffer_of(out), *count, PMPI_Type_f2c(*type),
                            PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

FORTRAN(reduce, (void* in, void* out, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* root,
                 MPI_Fint* comm, MPI_Fint* error)) {
  tell(error, MPI_Reduce(buffer_of(in), buffer_of(out), *count, PMPI_Type_f2c(*type),
                         PMPI_Op_f2c(*op), *root, PMPI_Comm_f2c(*comm)));
}

FORTRAN(bcast, (void* inout, MPI_Fint* count, MPI_Fint* type, MPI_Fint* root, MPI_Fint* comm,
                MPI_Fint* error)) {
  tell(error,
       MPI_Bcast(buffer_of(inout), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm)));
}

FORTRAN(reduce_scatter_block, (void* in, void* out, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op,
                               MPI_Fint* comm, MPI_Fint* error)) {
  tell(error, MPI_Reduce_scatter_block(buffer_of(in), buffer_of(out), *count, PMPI_Type_f2c(*type),
                                       PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

FORTRAN(reduce_scatter, (void* in, void* out, MPI_Fint* counts, MPI_Fint* type, MPI_Fint* op,
                         MPI_Fint* comm, MPI_Fint* error)) {
  tell(error, MPI_Reduce_scatter(buffer_of(in), buffer_of(out), counts, PMPI_Type_f2c(*type),
                                 PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

FORTRAN(barrier, (MPI_Fint * comm, MPI_Fint* error)) {
  tell(error, MPI_Barrier(PMPI_Comm_f2c(*comm)));
}
