/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/mpi/elements.h"
#include "bindings/mpi/team.h"

/* Where MPI does not allow MPI_IN_PLACE, there is no buffer: the call fails, and is counted. */
static void* buffer_at(void* buffer) {
  return buffer == MPI_IN_PLACE ? NULL : buffer;
}

int tributary_mpi_reduce(struct tributary_mpi_team* team, const void* in, void* out, int count,
                         MPI_Datatype type, MPI_Op op, int root) {
  const bool has_result = root < 0 || root == team->rank;
  struct tributary_mpi_elements elements;
  tributary_request* request = NULL;
  tributary_result posted;
  size_t all;
  if (!tributary_mpi_elements_of(type, op, &elements)) {
    return MPI_ERR_OP;
  }
  all = (size_t)count * elements.each;
  out = has_result ? buffer_at(out) : NULL;
  in = in == MPI_IN_PLACE ? out : in;
  if (root < 0) {
    posted = tributary_iallreduce(team->comm, in, out, all, elements.type, elements.op, &request);
    return tributary_mpi_finish(team, "allreduce", posted, &request);
  }
  posted = tributary_ireduce(team->comm, in, out, all, elements.type, elements.op, (uint32_t)root,
                             &request);
  return tributary_mpi_finish(team, "reduce", posted, &request);
}

int tributary_mpi_reduce_scatter_block(struct tributary_mpi_team* team, const void* in, void* out,
                                       int count, MPI_Datatype type, MPI_Op op) {
  struct tributary_mpi_elements elements;
  tributary_request* request = NULL;
  tributary_result posted;
  if (!tributary_mpi_elements_of(type, op, &elements)) {
    return MPI_ERR_OP;
  }
  out = buffer_at(out);
  posted = tributary_ireduce_scatter(team->comm, in == MPI_IN_PLACE ? out : in, out,
                                     (size_t)count * elements.each, elements.type, elements.op,
                                     &request);
  return tributary_mpi_finish(team, "reduce_scatter_block", posted, &request);
}

static const char no_memory[] = "there is no memory for a buffer";

/* Of a call that only counts, so that later ones stay in step, the error that follows says nothing.
 */
static void say_why(const struct tributary_mpi_team* team, const char* collective,
                    const char* why) {
  fprintf(stderr, "tributary: %s, rank %d: %s: %s\n", team->name, team->rank, collective, why);
}

/* Parts differ: each rank has the sum of all, and keeps its own of it. */
int tributary_mpi_reduce_scatter(struct tributary_mpi_team* team, const void* in, void* out,
                                 const int counts[], MPI_Datatype type, MPI_Op op) {
  const bool misplaced = out == MPI_IN_PLACE; /* where MPI does not allow it */
  struct tributary_mpi_elements elements;
  tributary_request* request = NULL;
  tributary_result posted;
  size_t before = 0; /* elements of the ranks before this one, as MPI counts them */
  size_t all = 0;    /* elements of all ranks, as Tributary counts them */
  size_t bytes;      /* of one of MPI's: pairs have gaps, which MPI_Type_size() leaves out */
  char* sum;
  int result;
  if (!tributary_mpi_elements_of(type, op, &elements)) {
    return MPI_ERR_OP;
  }
  for (int rank = 0; rank < team->size; ++rank) {
    before += rank < team->rank ? (size_t)counts[rank] : 0;
    all += (size_t)counts[rank] * elements.each;
  }
  bytes = elements.each * tributary_type_size(elements.type);
  sum = misplaced ? NULL : malloc(all / elements.each * bytes);
  if (sum == NULL) { /* the call fails here, and is counted, so that later ones stay in step */
    say_why(team, "reduce_scatter", misplaced ? "MPI_IN_PLACE is no receive buffer" : no_memory);
    posted =
        tributary_iallreduce(team->comm, NULL, NULL, all, elements.type, elements.op, &request);
    (void)tributary_mpi_finish(team, "reduce_scatter", posted, &request);
    return misplaced ? MPI_ERR_BUFFER : MPI_ERR_NO_MEM;
  }
  posted = tributary_iallreduce(team->comm, in == MPI_IN_PLACE ? out : in, sum, all, elements.type,
                                elements.op, &request);
  result = tributary_mpi_finish(team, "reduce_scatter", posted, &request);
  if (result == MPI_SUCCESS && counts[team->rank] != 0) { /* otherwise `out` may be anything */
    memcpy(out, sum + before * bytes, (size_t)counts[team->rank] * bytes);
  }
  free(sum);
  return result;
}

int tributary_mpi_barrier(struct tributary_mpi_team* team) {
  tributary_request* request = NULL;
  const tributary_result posted = tributary_ibarrier(team->comm, &request);
  return tributary_mpi_finish(team, "barrier", posted, &request);
}

static int bcast_bytes(struct tributary_mpi_team* team, void* inout, size_t bytes, int root) {
  tributary_request* request = NULL;
  const tributary_result posted =
      tributary_ibroadcast(team->comm, inout, bytes, TRIBUTARY_I8, (uint32_t)root, &request);
  return tributary_mpi_finish(team, "bcast", posted, &request);
}

static int bcast_packed(struct tributary_mpi_team* team, void* inout, int count, MPI_Datatype type,
                        int root, int bytes) {
  int place = 0;
  int result = MPI_SUCCESS;
  void* packed = malloc((size_t)bytes);
  if (packed == NULL) {
    say_why(team, "bcast", no_memory);
    (void)bcast_bytes(team, NULL, (size_t)bytes, root);
    return MPI_ERR_NO_MEM;
  }
  if (root == team->rank) {
    result = PMPI_Pack(inout, count, type, packed, bytes, &place, MPI_COMM_SELF);
  }
  if (result == MPI_SUCCESS) {
    result = bcast_bytes(team, packed, (size_t)bytes, root);
  } else {
    say_why(team, "bcast", "MPI_Pack refuses the elements");
    (void)bcast_bytes(team, NULL, (size_t)bytes, root);
  }
  if (result == MPI_SUCCESS && root != team->rank) {
    result = PMPI_Unpack(packed, bytes, &place, inout, count, type, MPI_COMM_SELF);
  }
  free(packed);
  return result;
}

/* Types, and counts with them, may differ between ranks: only their bytes are the same. */
int tributary_mpi_bcast(struct tributary_mpi_team* team, void* inout, int count, MPI_Datatype type,
                        int root) {
  const size_t bytes = tributary_mpi_bytes(type, count);
  if (tributary_mpi_is_plain(type)) {
    return bcast_bytes(team, inout, bytes, root);
  }
  return bcast_packed(team, inout, count, type, root, (int)bytes);
}
