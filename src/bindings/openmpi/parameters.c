/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters on which the ranks of a communicator have to agree, by what Open MPI's ranks tell
 * each other as they start. */
#include <opal/mca/pmix/pmix.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/openmpi/coll_tributary.h"

static char key[] = "coll_tributary_parameters";

struct published {
  uint64_t threshold;
  uint8_t enable;
  uint8_t share_machine;
  uint8_t unused[2];
  int32_t priority;
};

void coll_tributary_publish_parameters(void) {
  const struct coll_tributary_parameters* const mine = &coll_tributary_parameters;
  struct published published = {
      mine->threshold, mine->enable, mine->share_machine, {0}, mine->priority};
  int result;
  OPAL_MODEX_SEND_STRING(result, OPAL_PMIX_GLOBAL, key, &published, sizeof published);
  (void)result; /* where that fails nobody finds them, and nothing is carried */
}

bool coll_tributary_agreed_parameters(struct ompi_communicator_t* comm,
                                      struct coll_tributary_parameters* agreed) {
  const struct ompi_proc_t* const first = ompi_comm_peer_lookup(comm, 0);
  struct published published;
  uint8_t* bytes = NULL;
  size_t size = 0;
  int result;
  OPAL_MODEX_RECV_STRING(result, key, &first->super.proc_name, &bytes, &size);
  if (result != OPAL_SUCCESS || size != sizeof published) {
    return false;
  }
  memcpy(&published, bytes, sizeof published);
  free(bytes);
  *agreed = coll_tributary_parameters;
  agreed->threshold = published.threshold;
  agreed->enable = published.enable != 0;
  agreed->share_machine = published.share_machine != 0;
  agreed->priority = published.priority;
  return true;
}
