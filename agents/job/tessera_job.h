/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_JOB_H_
#define TESSERA_JOB_H_

/* The rank library: what a training process calls so that its state lives outside of it.
 *
 * One process is one rank on one device. Its parameters, moments and scalars are views into the
 * device's arena (tessera_pieces); once a step all ranks agree on the step decision
 * (tessera_decide); when the decision says pause, the rank waits at the step boundary
 * (tessera_boundary) until it may train on, perhaps with another mesh and other pieces, or is to
 * leave. example.c beside this file is a whole job.
 *
 * Threads: all calls come from one thread, except the connect callback, which the library runs on
 * a thread of its own so that training goes on while the groups of a coming epoch are built.
 * Errors: 0 is success; otherwise a negative number, and tessera_last_error() names what failed.
 * The library reconnects to a restarted agent by itself; no call fails because of that.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It is the SOVERSION of libtessera_job and increments when programs
 * must be compiled again. */
#define TESSERA_JOB_VERSION 1
/* The TESSERA_JOB_VERSION that the library was compiled with. A program that loads the library at
 * run time compares it with its own. */
int tessera_job_version(void);

#define TESSERA_MAX_RANK 8
#define TESSERA_MAX_AXES 5
/* Indices of axis_size and axis_coord. */
enum { TESSERA_PP, TESSERA_DP, TESSERA_EP, TESSERA_CP, TESSERA_TP };

typedef struct tessera_job tessera_job;

/* One box of one tensor on this device. */
typedef struct tessera_piece {
  const char* name;  /* of the tensor */
  const char* dtype; /* "f32", … */
  const char* role;  /* "param", "exp_avg", "exp_avg_sq", "scalar", … */
  int rank;
  int64_t shape[TESSERA_MAX_RANK]; /* of the uncut tensor */
  int64_t begin[TESSERA_MAX_RANK]; /* the box */
  int64_t end[TESSERA_MAX_RANK];
  int64_t num_elements;
  void* data;     /* row-major, in the arena */
  void* gradient; /* same shape, in the arena, for role "param"; NULL otherwise */
} tessera_piece;

/* A layout as one rank sees it. */
typedef struct tessera_view {
  int64_t epoch;
  int64_t attempt; /* distinguishes tries to reach the same epoch */
  int rank;        /* -1: this device is not in the mesh */
  int world;
  int64_t axis_size[TESSERA_MAX_AXES]; /* by TESSERA_PP … TESSERA_TP */
  int64_t axis_coord[TESSERA_MAX_AXES];
  int64_t micro_batch;         /* samples of one forward and backward pass; 0: the job chooses */
  const int32_t* node_of_rank; /* [world]: node number of each rank's device */
  const int32_t* host_of_rank; /* [world]: ranks with equal hosts can share memory */
  const char* const* address_of_rank; /* [world]: network address for groups that cross hosts */
} tessera_view;

/* Attaches to the device that the agent chose for this process. Reads the environment that the
 * agent set (TESSERA_RANK_SOCKET, TESSERA_ARENA_FD, …). */
int tessera_attach(tessera_job** job);
void tessera_detach(tessera_job* job);
const char* tessera_last_error(void);

/* The job's own settings, as the JSON text that `job start` recorded. Owned by the job. */
const char* tessera_settings(tessera_job* job);
/* The view that this process was started for; becomes the current one by adopt. */
const tessera_view* tessera_current_view(tessera_job* job);
/* 1 for a process that starts the job: its pieces hold zeros and it must initialise them, before
 * its first step boundary, where zeros will not do. */
int tessera_must_initialise(tessera_job* job);

/* Standard normal numbers of elements first_element, first_element + 1, … of the stream that `seed`
 * and `tensor` name. An element's number depends on nothing else, so every cut of a tensor, and any
 * number of ranks, see the same; the built-in trainer initialises its weights from them. */
void tessera_random_normal(int64_t seed, const char* tensor, int64_t first_element, float* out,
                           size_t count);

/* Numbers in [0, 1) of consecutive elements of one sample's tensor, from `first_element` of the
 * uncut one, of the stream that `seed` and `name` name. `sample` counts the samples of the whole
 * run: step * global batch + place in the batch, so that one which comes again in a later pass gets
 * other numbers. The mesh has no part in it. */
void tessera_random_uniform(int64_t seed, const char* name, int64_t sample, int64_t first_element,
                            float* out, size_t count);
/* The same for dropout: 0 with `probability`, to the nearest 1/65536, else 1 / (1 - probability).
 * `site` numbers the place in the model. The built-in trainer drops by the same masks. Fails for a
 * probability below 0 or from 1 on. */
int tessera_dropout_mask(int64_t seed, uint64_t site, int64_t sample, int64_t first_element,
                         double probability, float* out, size_t count);

/* Where a job stands in its data: pass `pass` visits the samples in an order of its own, drawn from
 * (seed, pass); the next global batch begins at position `next` of it. All zero but the seed is the
 * beginning. It is state: keep it in a tensor of three i64, or make it anew from the step, as
 * example.c does. */
typedef struct tessera_cursor {
  int64_t seed, pass, next;
} tessera_cursor;
/* The cursor `count` samples later in a data set of `num_samples`: after a step, the global batch.
 */
int tessera_advance(tessera_cursor* cursor, int64_t num_samples, int64_t count);
/* The samples that are this rank's in the global batch after `cursor`, by its place on dp in the
 * current view: numbers in [0, num_samples). Ranks that differ on other axes only get the same. The
 * first global_batch mod dp ranks get one more than the others, so global_batch / dp + 1 is room
 * enough. *first_place, where not NULL, is the place of the first in the global batch. Over all
 * ranks and steps each sample comes once a pass, also across changes of the mesh. */
int tessera_samples(tessera_job* job, const tessera_cursor* cursor, int64_t num_samples,
                    int64_t global_batch, int64_t* samples, size_t room, size_t* count,
                    int64_t* first_place);

/* Pieces of the current epoch in order of (tensor name, box). Valid until the next adopt. */
int tessera_pieces(tessera_job* job, const tessera_piece** pieces, size_t* count);
/* The first piece of a tensor, or NULL where this device holds none of it. */
const tessera_piece* tessera_find_piece(tessera_job* job, const char* tensor);

/* How far this process is with what it reads before its groups are built, a data set for example:
 * `done` of `total` bytes, 0 of 0 while the total is not known, total of total once all is read.
 * The total may grow. People see it; and a start, or a change of the mesh, whose new ranks say so
 * is not given up after two minutes, as others are that do not come about, but two minutes after a
 * rank said it the last time. Say it as often as you like: few are sent. Any thread. */
void tessera_loading(tessera_job* job, int64_t done, int64_t total);

/* Builds the process groups of `view` beside those in use. Called on a thread of the library, once
 * all ranks of the view are ready for it; returns 0 when every group of this rank stands. Must come
 * back soon after tessera_abandoned() turns 1 for the same epoch and attempt. */
typedef int (*tessera_connect_fn)(void* context, tessera_job* job, const tessera_view* view);
/* Sets the callback and builds the groups of the current view (blocks until done). Without a
 * callback (NULL) the library has groups of its own: all ranks, and those along each axis. They use
 * shared memory where all members are on one host, TCP elsewhere; TCP is not encrypted. */
int tessera_connect(tessera_job* job, tessera_connect_fn connect, void* context);
/* 1 once groups of (epoch, attempt) are no longer wanted. Any thread. */
int tessera_abandoned(tessera_job* job, int64_t epoch, int64_t attempt);

/* Rendezvous for connect callbacks, kept by the agents, keyed by (epoch, attempt). Any thread.
 * get blocks until the key is set, the attempt is abandoned, or timeout_ms passed. The caller
 * frees *value with tessera_free. */
int tessera_store_set(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                      const void* value, size_t size);
int tessera_store_get(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                      void** value, size_t* size, int timeout_ms);
void tessera_free(void* value);
/* A zeroed shared-memory file for a group of ranks on one host, the same for every caller that
 * names the same key; sized by the first. Returns a file descriptor owned by the caller, or < 0. */
int tessera_shared_memory(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                          size_t size);

/* Adds up values[count] over ranks, in place; all get the same bits. `axis` ("dp", "tp", …) names
 * those that differ in this coordinate only, NULL all. All of them make the same calls in the same
 * order. Needs the library's own groups. */
int tessera_all_reduce_sum(tessera_job* job, const char* axis, float* values, size_t count);

/* What each rank puts into the step decision. Unused fields are 0. */
typedef struct tessera_record {
  double loss;  /* this rank's share: shares add up to the loss */
  double norm2; /* this rank's share of the squared gradient norm */
  int64_t found_inf;
  int64_t tokens;   /* this rank's share of the tokens of the step */
  uint64_t request; /* 0 or TESSERA_PAUSE_DATA; what the agent asks for is added by the library */
} tessera_record;
/* Why a rank waits at a boundary without being asked to. All ranks do so at the same one: they
 * agree on it in a decision, or find it out together. */
#define TESSERA_PAUSE_DONE UINT64_C(1) /* all steps are made */
#define TESSERA_PAUSE_DATA UINT64_MAX  /* the data of the coming step cannot be read */
/* What people are told of a pause for TESSERA_PAUSE_DATA: "web.bin at byte 96: checksum differs".
 * Holds for the next wait of this rank; one rank that says it is enough, an empty text is none. The
 * job is then paused with this reason, and `job resume` lets the ranks try again. */
void tessera_pause_reason(tessera_job* job, const char* reason);
typedef struct tessera_decision {
  int64_t step;
  double loss, norm2;
  int64_t found_inf, tokens;
  double clip;    /* coefficient for the gradients; 1 without clipping */
  int skip;       /* 1: no update in this step (found_inf) */
  uint64_t pause; /* not 0: wait at the boundary after this step */
} tessera_decision;
/* All-gathers `mine` from every rank of the current epoch into all[world], in rank order. */
typedef int (*tessera_gather_fn)(void* context, const tessera_record* mine, tessera_record* all);
/* The step decision of `step` (from 1). \pre the reduced gradients lie in the arena. `max_norm` is
 * the limit of the global norm, 0 for none. Publishes grads_step before and the decision after the
 * gather; every rank gets the same values. Without `gather` (NULL) the library's own groups serve.
 */
int tessera_decide(tessera_job* job, int64_t step, const tessera_record* mine, double max_norm,
                   tessera_gather_fn gather, void* context, tessera_decision* decision);
/* Around the update of the state in place; no collective in between. begin waits while the agent
 * holds updates of this step, as it does while it copies the state of the step before. */
int tessera_begin_update(tessera_job* job, int64_t step);
int tessera_end_update(tessera_job* job, int64_t step);

/* The step boundary after `step` (-1: this process has made none): waits for what follows, does it,
 * and returns 1 to train on, 0 to leave (exit with status 0), or a negative number for an error.
 * `request` is decision.pause, one of TESSERA_PAUSE_, or 0 before the first step. To train on,
 * *view is what holds now, and pieces must be asked for again. tessera_wait, tessera_adopt and
 * tessera_attached below are the parts of this, for a job that has its own to do in between. */
int tessera_boundary(tessera_job* job, int64_t step, uint64_t request, const tessera_view** view);

typedef enum tessera_command {
  TESSERA_RESUME = 1, /* go on in the same epoch */
  TESSERA_ADOPT = 2,  /* a new layout is committed: call tessera_adopt, rebuild views, go on */
  TESSERA_LEAVE = 3   /* this device is no longer in the job: exit with status 0 */
} tessera_command;
/* Reports "paused after `step`" and waits for what follows. `request` is decision.pause or one of
 * TESSERA_PAUSE_. A newly started rank of a coming epoch calls it first (after connect) with step
 * -1. The first rank of a starting job gets TESSERA_RESUME. */
int tessera_wait(tessera_job* job, int64_t step, uint64_t request, tessera_command* command);
/* Makes the committed layout current: the pieces change; views of the old ones must no longer be
 * used. Then tessera_attached reports it and blocks until all ranks have: it returns 0 to train on,
 * or 1 if the job was paused and stays so: call tessera_wait with request 0 before any step. */
int tessera_adopt(tessera_job* job, const tessera_view** view);
int tessera_attached(tessera_job* job);

#ifdef __cplusplus
}
#endif
#endif
