/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a vector from noisy samples of it, on any mesh: its elements are cut over tp, the samples
 * over dp. The order of the samples does not depend on the mesh. */
#include <stdio.h>
#include <stdlib.h>

#include "agents/job/tessera_job.h"
enum { kSize = 256, kSamples = 1000, kBatch = 32 };
/* Gradients and decision of a step. */
static int train(tessera_job* job, const tessera_view* view, int64_t step, tessera_decision* out) {
  const tessera_piece* part = tessera_find_piece(job, "weights"); /* of this rank */
  float *w = part->data, *gradient = part->gradient, look[kSize];
  tessera_record mine = {0};
  tessera_cursor at = {.seed = 1}; /* computed from the step */
  int64_t samples[kBatch];
  size_t count;
  if (tessera_advance(&at, kSamples, (step - 1) * kBatch) != 0) return -1;
  if (tessera_samples(job, &at, kSamples, kBatch, samples, kBatch, &count, NULL) != 0) return -1;
  for (int64_t i = 0; i < part->num_elements; ++i) gradient[i] = 0;
  for (size_t s = 0; s < count; ++s) {
    int64_t first = samples[s] * kSize + part->begin[0];
    tessera_random_normal(1, "looks", first, look, (size_t)part->num_elements);
    for (int64_t i = 0; i < part->num_elements; ++i) {
      float error = w[i] - (1 + 0.01F * look[i]);
      gradient[i] += error / kBatch;
      if (view->axis_coord[TESSERA_PP] > 0) continue; /* other stages hold replicas: count one */
      mine.loss += error * error / kBatch, ++mine.tokens;
    }
  }
  if (tessera_all_reduce_sum(job, "dp", gradient, (size_t)part->num_elements) != 0) return -1;
  return tessera_decide(job, step, &mine, 0, NULL, NULL, out);
}
static int update(tessera_job* job, int64_t step) {
  const tessera_piece* part = tessera_find_piece(job, "weights");
  float *w = part->data, *gradient = part->gradient;
  tessera_begin_update(job, step);
  for (int64_t i = 0; i < part->num_elements; ++i) w[i] -= 0.05F * gradient[i];
  *(int64_t*)tessera_find_piece(job, "step")->data = step; /* the position is state, too */
  return tessera_end_update(job, step);
}
/* The update that an earlier rank of this device has left out. */
static int make_up(tessera_job* job) {
  tessera_decision left;
  return tessera_unfinished(job, &left) ? update(job, left.step) : 0;
}
int main(int argc, char** argv) {
  int64_t last_step = argc > 1 ? atol(argv[1]) : 1000;
  tessera_job* job = NULL;
  const tessera_view* view;
  int go_on = tessera_attach(&job) || make_up(job) ? -1 : getenv("TESSERA_FINISH_UPDATE") == NULL;
  if (go_on > 0 && tessera_connect(job, NULL, NULL) != 0) go_on = -1;
  if (go_on > 0) go_on = tessera_boundary(job, -1, 0, &view);
  while (go_on > 0) { /* mesh and pieces may change at each boundary */
    int64_t step = *(int64_t*)tessera_find_piece(job, "step")->data;
    tessera_decision decision = {.pause = step >= last_step}; /* 1: all steps are made */
    if (tessera_unfinished(job, &decision)) { /* the ranks have paused before this update */
      if (update(job, decision.step) != 0) break;
      continue;
    }
    if (step < last_step) {
      if (train(job, view, step + 1, &decision) != 0) break;
      if (!TESSERA_WAITS_BEFORE_UPDATE(decision) && update(job, ++step) != 0) break;
    }
    if (decision.pause) go_on = tessera_boundary(job, step, decision.pause, &view);
  }
  if (go_on != 0) fprintf(stderr, "%s\n", tessera_last_error());
  tessera_detach(job);
  return go_on != 0;
}
