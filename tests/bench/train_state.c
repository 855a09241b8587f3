/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a rank for benchmarks of moves while a job computes: parameters with two moments,
 * gradients that take a while, and an elementwise update of all of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/job/tessera_job.h"
#include "tests/support/begin_rank.h"
#include "tests/support/device_copy.h"

static const char* const kMoments[] = {"exp_avg", "exp_avg_sq"};

/* A value for each element, which does not depend on the layout. */
static float value(int64_t place, uint32_t salt) {
  uint32_t x = (uint32_t)place * 2654435761U + salt;
  x = (x ^ (x >> 16)) * 0x45d9f3bU;
  return (float)((x ^ (x >> 16)) & 0xffff) / 65536.0F - 0.5F;
}

static int is_parameter(const tessera_piece* piece) { return piece->gradient != NULL; }

/* Runs `visit(piece, i, place)` for each element. */
#define FOR_EACH_ELEMENT(piece, i, place)                                                          \
  for (int64_t i = 0, width_ = (piece)->end[1] - (piece)->begin[1], place = 0;                     \
       i < (piece)->num_elements &&                                                                \
       (place =                                                                                    \
            ((piece)->begin[0] + i / width_) * (piece)->shape[1] + (piece)->begin[1] + i % width_, \
       1);                                                                                         \
       ++i)

/* Memory of the process as large as the piece. */
static float* buffer_for(const tessera_piece* piece) {
  float* buffer = malloc((size_t)piece->num_elements * sizeof(float) + 1);
  if (buffer == NULL) abort();
  return buffer;
}
static size_t bytes_of(const tessera_piece* piece) {
  return (size_t)piece->num_elements * sizeof(float);
}

static void initialise(const tessera_piece* piece) {
  float* out = buffer_for(piece);
  FOR_EACH_ELEMENT(piece, i, place) out[i] = is_parameter(piece) ? value(place, 1) : 0;
  write_piece(piece, out, bytes_of(piece));
  free(out);
}

/* As long as a rank of a GPU would compute, without occupying the cores that its node copies with.
 */
static void compute(tessera_job* job, int64_t step, const struct timespec* pace) {
  const tessera_piece* pieces;
  size_t count;
  nanosleep(pace, NULL);
  if (tessera_pieces(job, &pieces, &count) != 0) return;
  for (size_t p = 0; p < count; ++p) {
    if (!is_parameter(&pieces[p])) continue;
    const float scale = value(step, 7);
    float* gradient = buffer_for(&pieces[p]);
    for (int64_t i = 0; i < pieces[p].num_elements; ++i) gradient[i] = scale;
    write_gradient(&pieces[p], gradient, bytes_of(&pieces[p]));
    free(gradient);
  }
}

static const tessera_piece* moment_of(tessera_job* job, const tessera_piece* parameter,
                                      const char* moment) {
  char name[256];
  snprintf(name, sizeof name, "%s.%s", parameter->name, moment);
  return tessera_find_piece(job, name);
}

static void update_parameter(tessera_job* job, const tessera_piece* parameter) {
  const size_t bytes = bytes_of(parameter);
  const tessera_piece* moments[2];
  float *w = buffer_for(parameter), *gradient = buffer_for(parameter);
  float *first = buffer_for(parameter), *second = buffer_for(parameter);
  for (int i = 0; i < 2; ++i) moments[i] = moment_of(job, parameter, kMoments[i]);
  read_piece(parameter, w, bytes);
  read_gradient(parameter, gradient, bytes);
  read_piece(moments[0], first, bytes);
  read_piece(moments[1], second, bytes);
  for (int64_t i = 0; i < parameter->num_elements; ++i) {
    first[i] = 0.9F * first[i] + 0.1F * gradient[i];
    second[i] = 0.99F * second[i] + 0.01F * gradient[i] * gradient[i];
    w[i] -= 0.001F * first[i] / (1e-3F + second[i]);
  }
  write_piece(parameter, w, bytes);
  write_piece(moments[0], first, bytes);
  write_piece(moments[1], second, bytes);
  free(w);
  free(gradient);
  free(first);
  free(second);
}

static int update(tessera_job* job, int64_t step) {
  const tessera_piece* pieces;
  size_t count;
  if (tessera_pieces(job, &pieces, &count) != 0) return -1;
  tessera_begin_update(job, step);
  for (size_t p = 0; p < count; ++p) {
    if (is_parameter(&pieces[p])) update_parameter(job, &pieces[p]);
  }
  write_piece(tessera_find_piece(job, "step"), &step, sizeof step);
  return tessera_end_update(job, step);
}

int main(int argc, char** argv) {
  const long milliseconds = argc > 1 ? atol(argv[1]) : 500;
  const struct timespec pace = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  tessera_job* job = NULL;
  const tessera_view* view;
  int go_on = begin_rank(&job, update);
  if (go_on > 0 && tessera_must_initialise(job)) {
    const tessera_piece* pieces;
    size_t count;
    if (tessera_pieces(job, &pieces, &count) != 0) go_on = -1;
    for (size_t i = 0; go_on > 0 && i < count; ++i) {
      if (pieces[i].rank == 2) initialise(&pieces[i]);
    }
  }
  if (go_on > 0) go_on = tessera_boundary(job, -1, 0, &view);
  while (go_on > 0) {
    const tessera_record nothing = {0};
    int64_t step;
    read_piece(tessera_find_piece(job, "step"), &step, sizeof step);
    tessera_decision decision = {0};
    if (tessera_unfinished(job, &decision)) {
      if (update(job, decision.step) != 0) break;
      continue;
    }
    compute(job, step + 1, &pace);
    if (tessera_decide(job, step + 1, &nothing, 0, NULL, NULL, &decision) != 0) break;
    if (!TESSERA_WAITS_BEFORE_UPDATE(decision) && update(job, ++step) != 0) break;
    if (decision.pause) go_on = tessera_boundary(job, step, decision.pause, &view);
  }
  if (go_on != 0) fprintf(stderr, "%s\n", tessera_last_error());
  tessera_detach(job);
  return go_on != 0;
}
