/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a rank that only holds state, to measure and to test moves: every element of every
 * tensor has a value of its own, and a step changes nothing but the number of the step. With the
 * argument `check` it compares all elements with their values whenever it has come to a layout, and
 * ends with an error if one differs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/job/tessera_job.h"
#include "tests/support/begin_rank.h"
#include "tests/support/device_copy.h"

/* The elements of a box of up to two dims, from their places in the uncut tensor. */
static void fill(const tessera_piece* piece, uint32_t* out) {
  const int64_t width = piece->rank == 2 ? piece->shape[1] : 1;
  const int64_t left = piece->rank == 2 ? piece->begin[1] : 0;
  const int64_t right = piece->rank == 2 ? piece->end[1] : 1;
  for (int64_t row = piece->begin[0]; row < piece->end[0]; ++row) {
    for (int64_t column = left; column < right; ++column) {
      uint32_t x = (uint32_t)(row * width + column);
      x = (x ^ (x >> 16)) * 0x45d9f3bU;
      *out++ = (x ^ (x >> 16)) & 0x3fffffffU; /* positive floats below 2 */
    }
  }
}

/* Whether the piece has its values. */
static int is_intact(const tessera_piece* piece, const uint32_t* expected) {
  const size_t bytes = (size_t)piece->num_elements * 4;
  uint32_t* found = malloc(bytes);
  int64_t i = 0;
  if (found == NULL) return 0;
  read_piece(piece, found, bytes);
  while (i < piece->num_elements && found[i] == expected[i]) ++i;
  if (i < piece->num_elements) {
    fprintf(stderr, "%s: element %lld is %08x instead of %08x\n", piece->name, (long long)i,
            found[i], expected[i]);
  }
  free(found);
  return i == piece->num_elements;
}

/* Gives all pieces their values, or looks whether they have them. */
static int for_all(tessera_job* job, int writes) {
  const tessera_piece* pieces;
  size_t count;
  if (tessera_pieces(job, &pieces, &count) != 0) return -1;
  for (size_t i = 0; i < count; ++i) {
    const tessera_piece* piece = &pieces[i];
    uint32_t* values;
    int is_done = 1;
    if (strcmp(piece->dtype, "f32") != 0 || piece->num_elements == 0) continue;
    values = malloc((size_t)piece->num_elements * 4);
    if (values == NULL) return -1;
    fill(piece, values);
    if (writes) {
      write_piece(piece, values, (size_t)piece->num_elements * 4);
    } else {
      is_done = is_intact(piece, values);
    }
    free(values);
    if (!is_done) return -1;
  }
  return 0;
}

static int update(tessera_job* job, int64_t step) {
  tessera_begin_update(job, step);
  write_piece(tessera_find_piece(job, "step"), &step, sizeof step);
  return tessera_end_update(job, step);
}

static int step_once(tessera_job* job, int64_t step, tessera_decision* decision) {
  const struct timespec pace = {.tv_nsec = 20 * 1000 * 1000};
  const tessera_record nothing = {0};
  nanosleep(&pace, NULL);
  if (tessera_decide(job, step, &nothing, 0, NULL, NULL, decision) != 0) return -1;
  return update(job, step);
}

int main(int argc, char** argv) {
  const int checks = argc > 1 && strcmp(argv[1], "check") == 0;
  tessera_job* job = NULL;
  const tessera_view* view;
  int64_t epoch = -1;
  int go_on = begin_rank(&job, update);
  if (go_on > 0 && tessera_must_initialise(job) && for_all(job, 1) != 0) go_on = -1;
  if (go_on > 0) go_on = tessera_boundary(job, -1, 0, &view);
  while (go_on > 0) {
    int64_t step;
    tessera_decision decision = {0};
    if (checks && view->epoch != epoch && for_all(job, 0) != 0) return 1;
    epoch = view->epoch;
    if (tessera_unfinished(job, &decision)) {
      if (update(job, decision.step) != 0) break;
      continue;
    }
    read_piece(tessera_find_piece(job, "step"), &step, sizeof step);
    if (step_once(job, step + 1, &decision) != 0) break;
    if (decision.pause) go_on = tessera_boundary(job, step + 1, decision.pause, &view);
  }
  if (go_on != 0) fprintf(stderr, "%s\n", tessera_last_error());
  tessera_detach(job);
  return go_on != 0;
}
