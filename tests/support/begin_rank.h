// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How the programs of ranks for tests and benchmarks begin. For C.

#include <stdint.h>
#include <stdlib.h>

#include "agents/job/tessera_job.h"

/// Attaches, makes the update that an earlier rank of this device has left out, and connects.
/// \return 1 to go on, 0 if the process was started for that update alone, -1 after an error
static inline int begin_rank(tessera_job** job, int (*update)(tessera_job*, int64_t)) {
  tessera_decision left;
  if (tessera_attach(job) != 0) return -1;
  if (tessera_unfinished(*job, &left) && update(*job, left.step) != 0) return -1;
  if (getenv("TESSERA_FINISH_UPDATE") != NULL) return 0;
  return tessera_connect(*job, NULL, NULL) == 0 ? 1 : -1;
}
