/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI communicator's ranks over Tributary: which of its collectives Tributary carries, and how.
 * It knows no MPI library from within: the one beneath progresses and gathers by two functions.
 */
#ifndef TRIBUTARY_BINDINGS_MPI_TEAM_H
#define TRIBUTARY_BINDINGS_MPI_TEAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/c/tributary.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tributary_mpi_beneath {
  /* Gets messages of the MPI library on, of which a rank that waits elsewhere may have some. */
  void (*progress)(void);
  /* Of the communicator's ranks, by the MPI library's own means. */
  tributary_allgather_function allgather;
  void* context;
};

enum tributary_mpi_state {
  TRIBUTARY_MPI_NOT_ASKED, /* it would come into being with the first collective that may create it
                            */
  TRIBUTARY_MPI_RUNS,
  TRIBUTARY_MPI_REFUSED /* it could not be created, on none of the ranks */
};

/* Why the MPI library carries a call by itself. */
enum tributary_mpi_reason {
  TRIBUTARY_MPI_ELEMENTS, /* of that type, or by that operator */
  TRIBUTARY_MPI_SIZE,
  TRIBUTARY_MPI_EARLY, /* the communicator has not been created yet */
  TRIBUTARY_MPI_IN_VAIN,
  TRIBUTARY_MPI_REASONS
};

struct tributary_mpi_team {
  char name[MPI_MAX_OBJECT_NAME]; /* for people */
  int rank;
  int size;
  bool is_world; /* MPI_COMM_WORLD: it has the job, and the trees, that were set up for the job */
  bool share_machine; /* ranks of one machine go to the switches together, if all want that */
  size_t threshold;
  struct tributary_mpi_beneath beneath;
  enum tributary_mpi_state state;
  bool wanted; /* by a collective that could not wait for the other ranks */
  unsigned long left[TRIBUTARY_MPI_REASONS]; /* calls to the MPI library, by reason */
  tributary_comm* comm;
};

/* The rest of *team is filled in already; communicators of one rank may have one, for nothing. */
void tributary_mpi_team_begin(struct tributary_mpi_team* team);
/* Waits for what was posted, and says what was left to the MPI library, if people want to know. */
void tributary_mpi_team_end(struct tributary_mpi_team* team);

/*
 * Whether Tributary carries a collective of so many bytes. It follows from what is the same on all
 * ranks: the bytes, the threshold, and which collectives there were before. A collective that may
 * wait for the other ranks, as blocking ones may, creates the communicator if need be. What is left
 * to the MPI library is counted.
 */
bool tributary_mpi_carries(struct tributary_mpi_team* team, size_t bytes, bool may_wait);
bool tributary_mpi_carries_reduction(struct tributary_mpi_team* team, int count, MPI_Datatype type,
                                     MPI_Op op, bool may_wait);
/* The vector is what each rank gives: `count` elements for each of all ranks. */
bool tributary_mpi_carries_reduce_scatter_block(struct tributary_mpi_team* team, int count,
                                                MPI_Datatype type, MPI_Op op);
/* `counts`: a part for each rank. */
bool tributary_mpi_carries_reduce_scatter(struct tributary_mpi_team* team, const int counts[],
                                          MPI_Datatype type, MPI_Op op);
bool tributary_mpi_carries_bcast(struct tributary_mpi_team* team, int count, MPI_Datatype type);
/* A barrier has no bytes, and is carried where others are. */
bool tributary_mpi_carries_barrier(struct tributary_mpi_team* team);

/* Waits for a collective as MPI has it: the messages of this rank get on meanwhile. An error class
 * of MPI; the reason is said. */
int tributary_mpi_finish(struct tributary_mpi_team* team, const char* collective,
                         tributary_result posted, tributary_request** request);
/* The error class, and the reason said, of a collective that has ended so. */
int tributary_mpi_outcome(const struct tributary_mpi_team* team, const char* collective,
                          tributary_result result);

/* ---- Collectives that Tributary carries. Arguments are MPI's. ---- */

/* Allreduce, and with a root that is not negative reduce. */
int tributary_mpi_reduce(struct tributary_mpi_team* team, const void* in, void* out, int count,
                         MPI_Datatype type, MPI_Op op, int root);
int tributary_mpi_bcast(struct tributary_mpi_team* team, void* inout, int count, MPI_Datatype type,
                        int root);
int tributary_mpi_barrier(struct tributary_mpi_team* team);
int tributary_mpi_reduce_scatter_block(struct tributary_mpi_team* team, const void* in, void* out,
                                       int count, MPI_Datatype type, MPI_Op op);
int tributary_mpi_reduce_scatter(struct tributary_mpi_team* team, const void* in, void* out,
                                 const int counts[], MPI_Datatype type, MPI_Op op);

#ifdef __cplusplus
}
#endif

#endif
