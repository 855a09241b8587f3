/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a rank whose state is exact: each element is a hash of its tensor, its index in
 * the uncut tensor and the step. Parameters take their values from their gradients, so an update
 * that is made twice, left out or made with other gradients leaves wrong elements. A rank checks
 * all of its elements before each step, and ends with an error that names the first wrong one. It
 * has no libtorch, and starts in some milliseconds.
 *
 * tessera-exact-job [STEPS [MILLISECONDS]]: pauses after STEPS (default: never); a step takes at
 * least MILLISECONDS (default 10). EXACT_JOB_SLOW names a file "RANK MILLISECONDS", which is read in
 * each step: the steps of that rank take so much longer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/job/tessera_job.h"
#include "tests/support/begin_rank.h"
#include "tests/support/device_copy.h"

static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bU;
  x = (x ^ (x >> 16)) * 0x45d9f3bU;
  return x ^ (x >> 16);
}

/* FNV-1a. */
static uint32_t hash_of(const char* name) {
  uint32_t hash = 2166136261U;
  for (; *name != '\0'; ++name) hash = (hash ^ (uint8_t)*name) * 16777619U;
  return hash;
}

static int is_exact(const tessera_piece* piece) { return strcmp(piece->dtype, "f32") == 0; }

static size_t bytes_of(const tessera_piece* piece) { return (size_t)piece->num_elements * 4; }

static uint32_t* buffer_for(const tessera_piece* piece) {
  uint32_t* buffer = malloc(bytes_of(piece) + 1);
  if (buffer == NULL) abort();
  return buffer;
}

/* The elements of the piece after `step`, as bits of positive floats below 2. */
static void fill(const tessera_piece* piece, int64_t step, uint32_t* out) {
  const uint32_t salt = mix(hash_of(piece->name) ^ mix((uint32_t)step));
  const int last = piece->rank - 1;
  const int64_t width = last < 0 ? 1 : piece->end[last] - piece->begin[last];
  int64_t at[TESSERA_MAX_RANK];
  memcpy(at, piece->begin, sizeof at);
  for (int64_t row = 0; row < piece->num_elements; row += width) {
    int64_t place = 0;
    for (int dim = 0; dim <= last; ++dim) place = place * piece->shape[dim] + at[dim];
    for (int64_t i = 0; i < width; ++i) {
      out[row + i] = mix((uint32_t)(place + i) ^ salt) & 0x3fffffffU;
    }
    for (int dim = last - 1; dim >= 0 && ++at[dim] == piece->end[dim]; --dim) {
      at[dim] = piece->begin[dim];
    }
  }
}

static int check(const tessera_piece* piece, int64_t step) {
  uint32_t *found = buffer_for(piece), *expected = buffer_for(piece);
  int64_t i = 0;
  fill(piece, step, expected);
  read_piece(piece, found, bytes_of(piece));
  while (i < piece->num_elements && found[i] == expected[i]) ++i;
  if (i < piece->num_elements) {
    fprintf(stderr,
            "wrong state after step %lld: element %lld of this piece of '%s' is %08x, not %08x\n",
            (long long)step, (long long)i, piece->name, found[i], expected[i]);
  }
  free(found);
  free(expected);
  return i == piece->num_elements ? 0 : -1;
}

/* The work of a step. */
static void work(int rank, long milliseconds) {
  const char* path = getenv("EXACT_JOB_SLOW");
  FILE* file = path != NULL ? fopen(path, "r") : NULL;
  int slow_rank = -1;
  long more = 0;
  if (file != NULL) {
    if (fscanf(file, "%d %ld", &slow_rank, &more) == 2 && slow_rank == rank) milliseconds += more;
    fclose(file);
  }
  const struct timespec pace = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&pace, NULL);
}

static int64_t step_of(tessera_job* job) {
  int64_t step;
  read_piece(tessera_find_piece(job, "step"), &step, sizeof step);
  return step;
}

static int update(tessera_job* job, int64_t step) {
  const tessera_piece* pieces;
  size_t count;
  if (tessera_pieces(job, &pieces, &count) != 0 || tessera_begin_update(job, step) != 0) return -1;
  for (size_t p = 0; p < count; ++p) {
    uint32_t* values;
    if (!is_exact(&pieces[p])) continue;
    values = buffer_for(&pieces[p]);
    if (pieces[p].gradient != NULL) {
      read_gradient(&pieces[p], values, bytes_of(&pieces[p]));
    } else {
      fill(&pieces[p], step, values);
    }
    write_piece(&pieces[p], values, bytes_of(&pieces[p]));
    free(values);
  }
  write_piece(tessera_find_piece(job, "step"), &step, sizeof step);
  return tessera_end_update(job, step);
}

/* The state of step 0. */
static int initialise(tessera_job* job) {
  const tessera_piece* pieces;
  size_t count;
  if (tessera_pieces(job, &pieces, &count) != 0) return -1;
  for (size_t p = 0; p < count; ++p) {
    uint32_t* values;
    if (!is_exact(&pieces[p])) continue;
    values = buffer_for(&pieces[p]);
    fill(&pieces[p], 0, values);
    write_piece(&pieces[p], values, bytes_of(&pieces[p]));
    free(values);
  }
  return 0;
}

/* Checks the state after step - 1 and writes the gradients of `step`. */
static int compute(tessera_job* job, int64_t step) {
  const tessera_piece* pieces;
  size_t count;
  if (tessera_pieces(job, &pieces, &count) != 0) return -1;
  for (size_t p = 0; p < count; ++p) {
    uint32_t* values;
    if (!is_exact(&pieces[p])) continue;
    if (check(&pieces[p], step - 1) != 0) return -1;
    if (pieces[p].gradient == NULL) continue;
    values = buffer_for(&pieces[p]);
    fill(&pieces[p], step, values);
    write_gradient(&pieces[p], values, bytes_of(&pieces[p]));
    free(values);
  }
  return 0;
}

int main(int argc, char** argv) {
  const int64_t last_step = argc > 1 ? atoll(argv[1]) : INT64_MAX;
  const long milliseconds = argc > 2 ? atol(argv[2]) : 10;
  tessera_job* job = NULL;
  const tessera_view* view;
  int go_on = begin_rank(&job, update);
  if (go_on > 0 && tessera_must_initialise(job)) go_on = initialise(job) == 0 ? 1 : -1;
  if (go_on > 0) go_on = tessera_boundary(job, -1, 0, &view);
  while (go_on > 0) {
    int64_t step = step_of(job);
    tessera_decision decision = {.pause = step >= last_step};
    if (tessera_unfinished(job, &decision)) {
      if (update(job, decision.step) != 0) break;
      continue;
    }
    if (step < last_step) {
      /* Once per step, however many ranks there are: the loss of a step is known to its reader. */
      const int counts = view->rank == 0;
      const tessera_record mine = {.loss = counts ? 1.0 / (double)(step + 1) : 0, .tokens = counts};
      work(view->rank, milliseconds);
      if (compute(job, step + 1) != 0) {
        tessera_detach(job);
        return 1;
      }
      if (tessera_decide(job, step + 1, &mine, 0, NULL, NULL, &decision) != 0) break;
      if (!TESSERA_WAITS_BEFORE_UPDATE(decision) && update(job, ++step) != 0) break;
    }
    if (decision.pause) go_on = tessera_boundary(job, step, decision.pause, &view);
  }
  if (go_on != 0) fprintf(stderr, "%s\n", tessera_last_error());
  tessera_detach(job);
  return go_on != 0;
}
