/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a rank that only holds state, for benchmarks of moves: every element of every
 * tensor has a value of its own, and a step changes nothing but the number of the step. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agents/job/tessera_job.h"

/* The elements of a box of up to two dims, from their places in the uncut tensor. */
static void fill(const tessera_piece* piece) {
  const int64_t width = piece->rank == 2 ? piece->shape[1] : 1;
  const int64_t left = piece->rank == 2 ? piece->begin[1] : 0;
  const int64_t right = piece->rank == 2 ? piece->end[1] : 1;
  uint32_t* out = piece->data;
  for (int64_t row = piece->begin[0]; row < piece->end[0]; ++row) {
    for (int64_t column = left; column < right; ++column) {
      uint32_t x = (uint32_t)(row * width + column);
      x = (x ^ (x >> 16)) * 0x45d9f3bU;
      *out++ = (x ^ (x >> 16)) & 0x3fffffffU; /* positive floats below 2 */
    }
  }
}

static int step_once(tessera_job* job, int64_t step, tessera_decision* decision) {
  const struct timespec pace = {.tv_nsec = 20 * 1000 * 1000};
  const tessera_record nothing = {0};
  nanosleep(&pace, NULL);
  if (tessera_decide(job, step, &nothing, 0, NULL, NULL, decision) != 0) return -1;
  tessera_begin_update(job, step);
  *(int64_t*)tessera_find_piece(job, "step")->data = step;
  return tessera_end_update(job, step);
}

int main(void) {
  tessera_job* job = NULL;
  const tessera_view* view;
  int go_on = tessera_attach(&job) || tessera_connect(job, NULL, NULL) ? -1 : 1;
  if (go_on > 0 && tessera_must_initialise(job)) {
    const tessera_piece* pieces;
    size_t count;
    if (tessera_pieces(job, &pieces, &count) != 0) go_on = -1;
    for (size_t i = 0; go_on > 0 && i < count; ++i) {
      if (strcmp(pieces[i].dtype, "f32") == 0) fill(&pieces[i]);
    }
  }
  if (go_on > 0) go_on = tessera_boundary(job, -1, 0, &view);
  while (go_on > 0) {
    int64_t step = *(int64_t*)tessera_find_piece(job, "step")->data + 1;
    tessera_decision decision = {0};
    if (step_once(job, step, &decision) != 0) break;
    if (decision.pause) go_on = tessera_boundary(job, step, decision.pause, &view);
  }
  if (go_on != 0) fprintf(stderr, "%s\n", tessera_last_error());
  tessera_detach(job);
  return go_on != 0;
}
