/* SPDX-License-Identifier: BSD-3-Clause */
/* A component of Open MPI's framework "coll": collectives by Tributary, where it carries them. */
#ifndef TRIBUTARY_BINDINGS_OPENMPI_COLL_TRIBUTARY_H
#define TRIBUTARY_BINDINGS_OPENMPI_COLL_TRIBUTARY_H

#include <mpi.h>
#include <ompi/communicator/communicator.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/request/request.h>
#include <ompi_config.h>
#include <stddef.h>

#include "bindings/mpi/team.h"

/* What it takes from the environment, and the command line of mpirun. */
struct coll_tributary_parameters {
  bool enable;
  int priority;
  size_t threshold;
  bool share_machine;
};
extern struct coll_tributary_parameters coll_tributary_parameters;

/* Puts this rank's parameters where others find them; called while MPI_Init gathers such things. */
void coll_tributary_publish_parameters(void);
/* Those of the communicator's rank 0, which count on all of its ranks: calls would hang where a
 * rank takes another way than the others. False where that rank has published none. */
bool coll_tributary_agreed_parameters(struct ompi_communicator_t* comm,
                                      struct coll_tributary_parameters* agreed);

/* One of each communicator. What Tributary does not carry goes to the modules that were there
 * before, which are kept as `below`. */
struct coll_tributary_module {
  mca_coll_base_module_t super;
  struct tributary_mpi_team team;
  struct mca_coll_base_comm_coll_t below;
  struct ompi_communicator_t* comm;
  struct coll_tributary_parameters parameters; /* of the communicator */
};
typedef struct coll_tributary_module coll_tributary_module_t;
OBJ_CLASS_DECLARATION(coll_tributary_module_t);

mca_coll_base_module_t* coll_tributary_comm_query(struct ompi_communicator_t* comm, int* priority);

/* A request of MPI for one of Tributary's, which was posted. */
int coll_tributary_request(coll_tributary_module_t* module, tributary_request* posted,
                           const char* collective, ompi_request_t** request);
/* Waits for all requests of the module; as MPI ends they are given up, as nobody waits for them. */
void coll_tributary_finish_requests(coll_tributary_module_t* module);
/* When the component leaves. */
void coll_tributary_close_requests(void);

#endif
