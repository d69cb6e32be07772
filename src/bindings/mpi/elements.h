/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI's predefined types and operators are to Tributary. */
#ifndef TRIBUTARY_BINDINGS_MPI_ELEMENTS_H
#define TRIBUTARY_BINDINGS_MPI_ELEMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "host/c/tributary.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tributary_mpi_elements {
  tributary_type type;
  tributary_operator op;
  size_t each; /* so many of Tributary's elements are one of MPI's: two for complex numbers */
};

/* False where no operator of Tributary's gives the result that MPI promises; `elements` is left
 * alone then. */
bool tributary_mpi_elements_of(MPI_Datatype type, MPI_Op op,
                               struct tributary_mpi_elements* elements);

/* Bytes that `count` elements of any type give to a message. */
size_t tributary_mpi_bytes(MPI_Datatype type, int count);

/* Whether these bytes lie in memory as they are sent, one behind the other. False also of some
 * derived types of which that is true: they are packed for nothing. */
bool tributary_mpi_is_plain(MPI_Datatype type);

#ifdef __cplusplus
}
#endif

#endif
