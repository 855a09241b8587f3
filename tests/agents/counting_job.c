/* SPDX-License-Identifier: Apache-2.0 */
/* A job that uses no groups of the library: its tensors count its steps, and its ranks meet in
 * shared memory. It pauses if the file on which it "trains" is missing at the end of a step.
 * `tessera-counting-job STEPS [MILLISECONDS [FILE]]`. If COUNTING_JOB_NOTES names a folder, the
 * file EPOCH-RANK in it lists the tensors that the rank holds in that epoch. If COUNTING_JOB_FAILS
 * names a file, the ranks end with an error before their first step on as many ranks as one of the
 * numbers in it, and say so when they are asked. */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agents/job/tessera_job.h"

/* One group of ranks on one host: a slot per rank in shared memory. Two records per slot are
 * enough, because no rank can be two rounds ahead of another. */
struct slot {
  _Atomic long round;
  tessera_record record[2];
};
struct group {
  tessera_job* job;
  tessera_view view;
  long round;
  struct slot* slots;
};

/* Runs while the job trains: the group in use and the coming one have separate places. */
static int build(void* context, tessera_job* job, const tessera_view* view) {
  struct group* group = (struct group*)context + view->epoch % 2;
  size_t bytes = (size_t)view->world * sizeof(struct slot);
  int fd = tessera_shared_memory(job, view->epoch, view->attempt, "world", bytes);
  if (fd < 0) return fd;
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return -1;
  if (group->slots) munmap(group->slots, (size_t)group->view.world * sizeof(struct slot));
  *group = (struct group){job, *view, 0, memory};
  return 0;
}

static int gather(void* context, const tessera_record* mine, tessera_record* all) {
  struct group* group = context;
  long round = ++group->round;
  group->slots[group->view.rank].record[round % 2] = *mine;
  atomic_store(&group->slots[group->view.rank].round, round);
  for (int rank = 0; rank < group->view.world; ++rank) {
    while (atomic_load(&group->slots[rank].round) < round) {
      if (tessera_abandoned(group->job, group->view.epoch, group->view.attempt)) return -1;
      sched_yield();
    }
    all[rank] = group->slots[rank].record[round % 2];
  }
  return 0;
}

/* Adds `amount` to every element of this rank's pieces (f32); sets them to it if !keep. */
static void update(tessera_job* job, int keep, float amount) {
  const tessera_piece* pieces;
  size_t count;
  tessera_pieces(job, &pieces, &count);
  for (size_t p = 0; p < count; ++p) {
    float* x = pieces[p].data;
    for (int64_t i = 0; i < pieces[p].num_elements; ++i) x[i] = (keep ? x[i] : 0) + amount;
  }
}

/* Writes another file and renames it, so that a reader finds all names or no file. */
static void note(const tessera_view* view, const tessera_piece* pieces, size_t count) {
  const char* folder = getenv("COUNTING_JOB_NOTES");
  if (!folder) return;
  char path[4096], fresh[4100];
  snprintf(path, sizeof path, "%s/%lld-%d", folder, (long long)view->epoch, view->rank);
  snprintf(fresh, sizeof fresh, "%s.new", path);
  FILE* file = fopen(fresh, "w");
  if (!file) return;
  for (size_t p = 0; p < count; ++p) fprintf(file, "%s\n", pieces[p].name);
  if (fclose(file) == 0) rename(fresh, path);
}

static int fails_on(int world) {
  const char* path = getenv("COUNTING_JOB_FAILS");
  FILE* file = path ? fopen(path, "r") : NULL;
  if (!file) return 0;
  int number = 0, found = 0;
  while (!found && fscanf(file, "%d", &number) == 1) found = number == world;
  fclose(file);
  return found;
}

static int check(void* context, tessera_job* job, const int64_t* axis_size) {
  (void)context;
  int world = 1;
  for (int axis = 0; axis < 5; ++axis) world *= (int)axis_size[axis];
  if (!fails_on(world)) return 0;
  char reason[100];
  snprintf(reason, sizeof reason, "%d ranks have no equal parts", world);
  tessera_check_reason(job, reason);
  return 1;
}

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tessera_last_error());
  return 1;
}

int main(int argc, char** argv) {
  long last_step = argc > 1 ? atol(argv[1]) : 10;
  struct timespec pause = {0, (argc > 2 ? atol(argv[2]) : 0) * 1000000};
  const char* file = argc > 3 ? argv[3] : "/";
  struct group groups[2] = {0};
  tessera_job* job;
  if (tessera_attach(&job) != 0) return fail("attach");
  if (tessera_connect(job, build, groups) != 0) return fail("connect");
  if (tessera_on_check(job, check, NULL) != 0) return fail("on_check");
  if (tessera_must_initialise(job)) update(job, 0, 0);
  int64_t step = -1;    /* this process has made no step */
  uint64_t request = 0; /* why it waits at the boundary */
  for (;;) {
    tessera_command command;
    if (tessera_wait(job, step, request, &command) != 0) return fail("wait");
    if (command == TESSERA_LEAVE) break;
    const tessera_view* view = tessera_current_view(job);
    int stays_paused = 0;
    if (command == TESSERA_ADOPT &&
        (tessera_adopt(job, &view) != 0 || (stays_paused = tessera_attached(job)) < 0)) {
      return fail("adopt");
    }
    struct group* group = &groups[view->epoch % 2];
    const tessera_piece* pieces;
    size_t count;
    tessera_pieces(job, &pieces, &count);
    note(view, pieces, count);
    step = (int64_t)((float*)pieces[0].data)[0]; /* the position is part of the state */
    request = 0;
    if (!stays_paused && fails_on(view->world)) {
      fprintf(stderr, "%d ranks have no equal parts\n", view->world);
      return 1;
    }
    while (!stays_paused && request == 0) {
      if (step >= last_step) {
        request = 1; /* all steps are made */
        break;
      }
      nanosleep(&pause, NULL); /* the work of a step */
      tessera_record mine = {.loss = 1.0 / (double)view->world, .tokens = 1};
      if (access(file, R_OK) != 0) { /* what the next step needs */
        mine.request = TESSERA_PAUSE_DATA;
        tessera_pause_reason(job, file);
      }
      tessera_decision decision;
      if (tessera_log(job, "count", (double)(step + 1)) != 0) return fail("log");
      if (tessera_decide(job, ++step, &mine, 0, gather, group, &decision) != 0)
        return fail("decide");
      tessera_begin_update(job, step);
      update(job, 1, 1);
      tessera_end_update(job, step);
      request = decision.pause;
      if (step % 10 == 0) tessera_checkpoint(job); /* after the decision of this step */
    }
  }
  tessera_detach(job);
  return 0;
}
