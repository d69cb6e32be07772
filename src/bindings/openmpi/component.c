/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>

#include "bindings/openmpi/coll_tributary.h"

struct coll_tributary_parameters coll_tributary_parameters = {
    .enable = true,
    .priority = 90, /* "tuned" has 30, and components of single networks up to 80 */
    .threshold = 16384,
    .share_machine = true,
};

static int register_parameters(void);
static int open_component(void);
static int close_component(void);
static int init_query(bool enable_progress_threads, bool enable_mpi_threads);

/* Open MPI looks for this name: mca_FRAMEWORK_NAME_component. */
extern mca_coll_base_component_t mca_coll_tributary_component;
__attribute__((visibility("default"))) mca_coll_base_component_t mca_coll_tributary_component = {
    .collm_version =
        {
            MCA_COLL_BASE_VERSION_2_0_0,
            .mca_component_name = "tributary",
            .mca_component_major_version = TRIBUTARY_MAJOR,
            .mca_component_minor_version = TRIBUTARY_MINOR,
            .mca_component_release_version = 0,
            .mca_open_component = open_component,
            .mca_close_component = close_component,
            .mca_register_component_params = register_parameters,
        },
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init_query,
    .collm_comm_query = coll_tributary_comm_query,
};

static int parameter(const char* name, const char* meaning, mca_base_var_type_t type,
                     void* storage) {
  return mca_base_component_var_register(&mca_coll_tributary_component.collm_version, name, meaning,
                                         type, NULL, 0, 0, OPAL_INFO_LVL_4,
                                         MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static int register_parameters(void) {
  struct coll_tributary_parameters* const all = &coll_tributary_parameters;
  if (parameter("enable",
                "Whether Tributary carries any collectives; that of rank 0 counts (default: true)",
                MCA_BASE_VAR_TYPE_BOOL, &all->enable) < 0 ||
      parameter("priority", "Priority of the component (default: 90)", MCA_BASE_VAR_TYPE_INT,
                &all->priority) < 0 ||
      parameter("threshold",
                "The fewest bytes of a vector that Tributary carries; that of rank 0 counts "
                "(default: 16384)",
                MCA_BASE_VAR_TYPE_SIZE_T, &all->threshold) < 0 ||
      parameter("share_machine",
                "Whether ranks of one machine go to the switches together; the same on all ranks "
                "(default: true)",
                MCA_BASE_VAR_TYPE_BOOL, &all->share_machine) < 0) {
    return OMPI_ERROR;
  }
  return OMPI_SUCCESS;
}

static int open_component(void) {
  coll_tributary_publish_parameters();
  return OMPI_SUCCESS;
}

static int close_component(void) {
  coll_tributary_close_requests();
  return OMPI_SUCCESS;
}

static int init_query(bool enable_progress_threads, bool enable_mpi_threads) {
  (void)enable_progress_threads;
  (void)enable_mpi_threads;
  return OMPI_SUCCESS;
}
