/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_TESTS_SUPPORT_DEVICE_COPY_H_
#define TESSERA_TESTS_SUPPORT_DEVICE_COPY_H_

/* The bytes of a piece, for programs of ranks that compute on the CPU: on a CUDA device they go
 * through the driver, which is loaded when the first piece of that kind appears. A failure ends the
 * program with a line that says what failed. */

#include <stddef.h>

#include "agents/job/tessera_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `bytes` from the beginning of the piece on. */
void read_piece(const tessera_piece* piece, void* out, size_t bytes);
void write_piece(const tessera_piece* piece, const void* in, size_t bytes);
/* Likewise of its gradient. */
void read_gradient(const tessera_piece* piece, void* out, size_t bytes);
void write_gradient(const tessera_piece* piece, const void* in, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
