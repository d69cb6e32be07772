/* SPDX-License-Identifier: BSD-3-Clause */
#include <opal/runtime/opal_progress.h>
#include <stdio.h>

#include "bindings/mpi/elements.h"
#include "bindings/openmpi/coll_tributary.h"

static void construct(coll_tributary_module_t* module) {
  module->comm = NULL;
  tributary_mpi_team_begin(&module->team);
}

OBJ_CLASS_INSTANCE(coll_tributary_module_t, mca_coll_base_module_t, construct, NULL);

static coll_tributary_module_t* ours(mca_coll_base_module_t* module) {
  return (coll_tributary_module_t*)module;
}

/* ---- The functions that MPI's call ---- */

static int allreduce(const void* in, void* out, int count, struct ompi_datatype_t* type,
                     struct ompi_op_t* op, struct ompi_communicator_t* comm,
                     mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  if (tributary_mpi_carries_reduction(&mine->team, count, type, op, true)) {
    return tributary_mpi_reduce(&mine->team, in, out, count, type, op, -1);
  }
  return mine->below.coll_allreduce(in, out, count, type, op, comm,
                                    mine->below.coll_allreduce_module);
}

/* Open MPI's own, of one int, while it duplicates a communicator without blocking. It posts them
 * when it looks at messages, so on each rank at another place between the program's calls. */
static bool may_be_its_own(int count, struct ompi_datatype_t* type) {
  return tributary_mpi_bytes(type, count) <= sizeof(int);
}

/* Must not wait for other ranks, as creating a communicator does: the next blocking call does. */
static int iallreduce(const void* in, void* out, int count, struct ompi_datatype_t* type,
                      struct ompi_op_t* op, struct ompi_communicator_t* comm,
                      ompi_request_t** request, mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  struct tributary_mpi_elements elements;
  tributary_request* posted = NULL;
  tributary_result result;
  if (may_be_its_own(count, type) ||
      !tributary_mpi_carries_reduction(&mine->team, count, type, op, false) ||
      !tributary_mpi_elements_of(type, op, &elements)) {
    return mine->below.coll_iallreduce(in, out, count, type, op, comm, request,
                                       mine->below.coll_iallreduce_module);
  }
  result = tributary_iallreduce(mine->team.comm, in == MPI_IN_PLACE ? out : in, out,
                                (size_t)count * elements.each, elements.type, elements.op, &posted);
  if (result != TRIBUTARY_SUCCESS) {
    return tributary_mpi_outcome(&mine->team, "iallreduce", result);
  }
  return coll_tributary_request(mine, posted, "iallreduce", request);
}

static int reduce(const void* in, void* out, int count, struct ompi_datatype_t* type,
                  struct ompi_op_t* op, int root, struct ompi_communicator_t* comm,
                  mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  if (tributary_mpi_carries_reduction(&mine->team, count, type, op, true)) {
    return tributary_mpi_reduce(&mine->team, in, out, count, type, op, root);
  }
  return mine->below.coll_reduce(in, out, count, type, op, root, comm,
                                 mine->below.coll_reduce_module);
}

static int bcast(void* inout, int count, struct ompi_datatype_t* type, int root,
                 struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  if (tributary_mpi_carries_bcast(&mine->team, count, type)) {
    return tributary_mpi_bcast(&mine->team, inout, count, type, root);
  }
  return mine->below.coll_bcast(inout, count, type, root, comm, mine->below.coll_bcast_module);
}

static int barrier(struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  if (tributary_mpi_carries_barrier(&mine->team)) {
    return tributary_mpi_barrier(&mine->team);
  }
  return mine->below.coll_barrier(comm, mine->below.coll_barrier_module);
}

static int reduce_scatter_block(const void* in, void* out, int count, struct ompi_datatype_t* type,
                                struct ompi_op_t* op, struct ompi_communicator_t* comm,
                                mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  if (tributary_mpi_carries_reduce_scatter_block(&mine->team, count, type, op)) {
    return tributary_mpi_reduce_scatter_block(&mine->team, in, out, count, type, op);
  }
  return mine->below.coll_reduce_scatter_block(in, out, count, type, op, comm,
                                               mine->below.coll_reduce_scatter_block_module);
}

static int reduce_scatter(const void* in, void* out, const int counts[],
                          struct ompi_datatype_t* type, struct ompi_op_t* op,
                          struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  coll_tributary_module_t* const mine = ours(module);
  if (tributary_mpi_carries_reduce_scatter(&mine->team, counts, type, op)) {
    return tributary_mpi_reduce_scatter(&mine->team, in, out, counts, type, op);
  }
  return mine->below.coll_reduce_scatter(in, out, counts, type, op, comm,
                                         mine->below.coll_reduce_scatter_module);
}

/* ---- A module's life ---- */

static int allgather_below(void* context, const void* in, void* out, size_t bytes) {
  coll_tributary_module_t* const mine = context;
  return mine->below.coll_allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, mine->comm,
                                    mine->below.coll_allgather_module);
}

/* Calls `use` for each function that goes on below: its name in Open MPI. */
#define EACH_BELOW(use)                                                             \
  use(allgather) use(allreduce) use(iallreduce) use(reduce) use(bcast) use(barrier) \
      use(reduce_scatter_block) use(reduce_scatter)

#define IS_MISSING(name) || comm->c_coll->coll_##name == NULL
#define KEEP(name)                                                       \
  mine->below.coll_##name = comm->c_coll->coll_##name;                   \
  mine->below.coll_##name##_module = comm->c_coll->coll_##name##_module; \
  OBJ_RETAIN(mine->below.coll_##name##_module);
#define LET_GO(name) OBJ_RELEASE(mine->below.coll_##name##_module);

/* Modules are enabled from the lowest priority up: those there are now are those below. */
static int enable(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
  coll_tributary_module_t* const mine = ours(module);
  if (comm->c_coll == NULL EACH_BELOW(IS_MISSING)) {
    return OMPI_ERR_NOT_AVAILABLE;
  }
  EACH_BELOW(KEEP)
  snprintf(mine->team.name, sizeof mine->team.name, "%s", comm->c_name);
  mine->comm = comm;
  mine->team.rank = ompi_comm_rank(comm);
  mine->team.size = ompi_comm_size(comm);
  mine->team.is_world = comm == MPI_COMM_WORLD;
  mine->team.threshold = mine->parameters.threshold;
  mine->team.share_machine = mine->parameters.share_machine;
  mine->team.beneath.progress = opal_progress;
  mine->team.beneath.allgather = allgather_below;
  mine->team.beneath.context = mine;
  return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
  coll_tributary_module_t* const mine = ours(module);
  (void)comm;
  if (mine->comm == NULL) {
    return OMPI_SUCCESS; /* never enabled */
  }
  coll_tributary_finish_requests(mine);
  tributary_mpi_team_end(&mine->team);
  EACH_BELOW(LET_GO)
  mine->comm = NULL;
  return OMPI_SUCCESS;
}

mca_coll_base_module_t* coll_tributary_comm_query(struct ompi_communicator_t* comm, int* priority) {
  coll_tributary_module_t* mine;
  struct coll_tributary_parameters agreed;
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 ||
      !coll_tributary_agreed_parameters(comm, &agreed) || !agreed.enable) {
    return NULL;
  }
  mine = OBJ_NEW(coll_tributary_module_t);
  if (mine == NULL) {
    return NULL;
  }
  mine->parameters = agreed;
  *priority = agreed.priority;
  mine->super.coll_module_enable = enable;
  mine->super.coll_module_disable = disable;
  mine->super.coll_allreduce = allreduce;
  mine->super.coll_iallreduce = iallreduce;
  mine->super.coll_reduce = reduce;
  mine->super.coll_bcast = bcast;
  mine->super.coll_barrier = barrier;
  mine->super.coll_reduce_scatter_block = reduce_scatter_block;
  mine->super.coll_reduce_scatter = reduce_scatter;
  return &mine->super;
}
