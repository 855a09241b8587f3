/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESSERA_JOB_H_
#define TESSERA_JOB_H_

/* The rank library: a training process calls it to keep its state outside of the process.
 *
 * One process is one rank on one device. Its parameters, moments and scalars are views into the
 * device's arena (tessera_pieces). In each step all ranks agree on the step decision
 * (tessera_decide). If the decision requests a pause, the rank waits at the step boundary
 * (tessera_boundary). Then it trains on, perhaps with another mesh and other pieces, or leaves the
 * job. example.c beside this file is a whole job.
 *
 * Threads: all calls come from one thread. The exception is the connect callback: the library runs
 * it on a thread of its own, so that training continues while the groups of a coming epoch are
 * built.
 * Errors: 0 is success. A negative number is an error, and tessera_last_error() has its text. The
 * library reconnects to a restarted agent; no call fails because of a restart.
 * Exits: a rank that ends by itself suspends its job, whose ranks start again, at most twice within
 * ten steps. After the status TESSERA_EXIT_REFUSED only `tesseractl job resume` starts them again.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It is the SOVERSION of libtessera_job and increments when programs
 * must be compiled again. */
#define TESSERA_JOB_VERSION 2
/* The TESSERA_JOB_VERSION that the library was compiled with. A program that loads the library at
 * run time compares it with its own. */
int tessera_job_version(void);

/* The exit status of a rank whose program is wrong, so that another start would fail in the same
 * way. The last line that it writes to stderr is the reason (EX_CONFIG of sysexits.h). */
#define TESSERA_EXIT_REFUSED 78

#define TESSERA_MAX_RANK 8
#define TESSERA_MAX_AXES 5
/* Indices of axis_size and axis_coord. */
enum { TESSERA_PP, TESSERA_DP, TESSERA_EP, TESSERA_CP, TESSERA_TP };

typedef struct tessera_job tessera_job;

/* Where a piece lies. */
enum {
  TESSERA_HOST, /* in memory of this process */
  TESSERA_CUDA  /* in memory of a CUDA device: pointers are device pointers */
};

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
  int memory;     /* TESSERA_HOST or TESSERA_CUDA, of both pointers */
  int device;     /* number of the CUDA device; -1 in host memory */
} tessera_piece;

/* On a CUDA device nothing is under way on a piece when the library hands it out, so no stream has
 * to wait. In return, tessera_decide and tessera_end_update wait until everything that this process
 * has begun on the device has ended: gradients and state are complete in the arena then. */

/* A layout as one rank sees it. A view stays readable until the second adopt after it. */
typedef struct tessera_view {
  int64_t epoch;
  int64_t attempt; /* distinguishes attempts to reach the same epoch */
  int rank;        /* -1: this device is not in the mesh */
  int world;
  int64_t axis_size[TESSERA_MAX_AXES]; /* by TESSERA_PP … TESSERA_TP */
  int64_t axis_coord[TESSERA_MAX_AXES];
  int64_t micro_batch;         /* samples of one forward and backward pass; 0: the job chooses */
  const int32_t* node_of_rank; /* [world]: node number of each rank's device */
  const int32_t* host_of_rank; /* [world]: ranks with equal hosts can share memory */
  const char* const* address_of_rank; /* [world]: network address for groups that cross hosts */
} tessera_view;

/* Attaches to the device of this process. Reads the environment that the agent has set
 * (TESSERA_RANK_SOCKET, TESSERA_ARENA_FD, …). */
int tessera_attach(tessera_job** job);
void tessera_detach(tessera_job* job);
const char* tessera_last_error(void);

/* The job's settings: the JSON text that `job start` has recorded. Owned by the job. */
const char* tessera_settings(tessera_job* job);
/* The current view. At first it is the view that the process was started for; tessera_adopt
 * replaces it. */
const tessera_view* tessera_current_view(tessera_job* job);
/* 1 in a process that starts the job. Its pieces hold zeros. It must initialise those that need
 * other values before its first step boundary. */
int tessera_must_initialise(tessera_job* job);

/* Fills `out` with the standard normal numbers of elements first_element, first_element + 1, … of
 * the stream that `seed` and `tensor` name. The number of an element depends on nothing else, so
 * every cut of a tensor and any number of ranks get equal values. The built-in trainer initialises
 * its weights with them. */
void tessera_random_normal(int64_t seed, const char* tensor, int64_t first_element, float* out,
                           size_t count);

/* Fills `out` with numbers in [0, 1) for consecutive elements of one sample's tensor, from
 * `first_element` of the uncut tensor, of the stream that `seed` and `name` name. `sample` counts
 * the samples of the whole run (step * global batch + position in the batch), so a sample that is
 * read again in a later pass gets other numbers. They do not depend on the mesh. */
void tessera_random_uniform(int64_t seed, const char* name, int64_t sample, int64_t first_element,
                            float* out, size_t count);
/* Fills `out` with a dropout mask: 0 with `probability`, rounded to 1/65536, else
 * 1 / (1 - probability). `site` numbers the operation in the model. The built-in trainer uses the
 * same masks. Fails for a probability outside of [0, 1). */
int tessera_dropout_mask(int64_t seed, uint64_t site, int64_t sample, int64_t first_element,
                         double probability, float* out, size_t count);

/* The position of a job in its data. Each pass visits the samples in an order of its own, drawn
 * from (seed, pass). The next global batch begins at position `next` of that order. A cursor of
 * zeros except the seed is the beginning. The cursor is state: keep it in a tensor of three i64, or
 * compute it from the step, as example.c does. */
typedef struct tessera_cursor {
  int64_t seed, pass, next;
} tessera_cursor;
/* Advances the cursor by `count` samples in a data set of `num_samples`. After a step `count` is
 * the global batch. */
int tessera_advance(tessera_cursor* cursor, int64_t num_samples, int64_t count);
/* The samples of this rank in the global batch at `cursor`: numbers in [0, num_samples). They
 * depend on the rank's dp coordinate in the current view; ranks that differ only on other axes get
 * equal samples. The first global_batch mod dp ranks get one sample more than the others, so
 * global_batch / dp + 1 is enough room. *first_place, if not NULL, gets the position of the first
 * one in the global batch. All ranks and steps together read each sample once per pass, also across
 * changes of the mesh. */
int tessera_samples(tessera_job* job, const tessera_cursor* cursor, int64_t num_samples,
                    int64_t global_batch, int64_t* samples, size_t room, size_t* count,
                    int64_t* first_place);

/* The pieces of the current epoch in order of (tensor name, box). Valid until the next adopt. */
int tessera_pieces(tessera_job* job, const tessera_piece** pieces, size_t* count);
/* Behind the last byte of the memory that all pieces of this device lie in. */
const void* tessera_memory_end(tessera_job* job);
/* The first piece of a tensor, or NULL if this device holds none. */
const tessera_piece* tessera_find_piece(tessera_job* job, const char* tensor);

/* Reports how much this process has read of the data that it needs before its groups are built:
 * `done` of `total` bytes, 0 of 0 while the total is unknown, total of total at the end. The total
 * may grow. Users see it. A start or a change of the mesh fails two minutes after the last report,
 * instead of two minutes after its beginning. May be called often, because few reports are sent.
 * Any thread. */
void tessera_loading(tessera_job* job, int64_t done, int64_t total);

/* Builds the process groups of `view` beside those in use. Called on a thread of the library, once
 * all ranks of the view are ready. Returns 0 when every group of this rank is built. Must return
 * soon after tessera_abandoned() turns 1 for the same epoch and attempt. */
typedef int (*tessera_connect_fn)(void* context, tessera_job* job, const tessera_view* view);
/* Sets the callback and builds the groups of the current view (blocks until done). Without a
 * callback (NULL) the library builds groups of its own: one of all ranks, and one along each axis.
 * They use shared memory if all members are on one host, else TCP, which is not encrypted. */
int tessera_connect(tessera_job* job, tessera_connect_fn connect, void* context);
/* Says why a connect callback fails, for users. The callback calls it and then returns another
 * value than 0. The start or the change of the mesh ends with this reason; in a change the job
 * trains on as it was. */
void tessera_connect_reason(tessera_job* job, const char* reason);
/* Checks whether the program can run on a mesh with these sizes of the axes pp, dp, ep, cp and tp.
 * Nothing changes: users who plan a change want to know what it would be refused for. Called on a
 * thread of the library, one check at a time, while the job trains or waits. Returns 0 if it can, 1
 * if it cannot, another value if this is not known. Must return soon after
 * tessera_check_abandoned() turns 1. */
typedef int (*tessera_check_fn)(void* context, tessera_job* job, const int64_t* axis_size);
/* Sets the callback. Without one the job is not asked. Only rank 0 is. */
int tessera_on_check(tessera_job* job, tessera_check_fn check, void* context);
/* Says why the program cannot run there, for users, in a check callback that returns 1. Use the
 * same sentence as for tessera_connect_reason. */
void tessera_check_reason(tessera_job* job, const char* reason);
/* 1 once the answer of the running check is no longer wanted. On the thread of the callback. */
int tessera_check_abandoned(tessera_job* job);
/* 1 once the groups of (epoch, attempt) are no longer wanted. Any thread. */
int tessera_abandoned(tessera_job* job, int64_t epoch, int64_t attempt);

/* Rendezvous for connect callbacks. The agents keep the entries by (epoch, attempt). Any thread.
 * get blocks until the key is set, the attempt is abandoned, or timeout_ms has passed. The caller
 * frees *value with tessera_free. */
int tessera_store_set(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                      const void* value, size_t size);
int tessera_store_get(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                      void** value, size_t* size, int timeout_ms);
void tessera_free(void* value);
/* A zeroed shared-memory file for a group of ranks on one host: the same file for every caller with
 * the same key, with the size of the first caller. Returns a descriptor that the caller owns, or a
 * negative number. */
int tessera_shared_memory(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                          size_t size);

/* Sums values[count] over ranks, in place; all get equal bits. `axis` ("dp", "tp", …) selects the
 * ranks that differ in this coordinate only, NULL all ranks. They must make the same calls in the
 * same order. Needs the library's own groups. */
int tessera_all_reduce_sum(tessera_job* job, const char* axis, float* values, size_t count);

/* The contribution of a rank to the step decision. Unused fields are 0. */
typedef struct tessera_record {
  double loss;  /* this rank's share: shares add up to the loss */
  double norm2; /* this rank's share of the squared gradient norm */
  int64_t found_inf;
  int64_t tokens;   /* this rank's share of the tokens of the step */
  uint64_t request; /* 0 or TESSERA_PAUSE_DATA; the library adds the agent's request */
} tessera_record;
/* Why a rank waits at a boundary without a request of the agent. All ranks wait at the same
 * boundary: they agree on it in a decision, or each finds out by itself. */
#define TESSERA_PAUSE_DONE UINT64_C(1) /* all steps are made */
#define TESSERA_PAUSE_DATA UINT64_MAX  /* the data of the coming step cannot be read */
/* In a decision's `pause` that is not TESSERA_PAUSE_DATA: the ranks wait with the gradients of the
 * step before its update, after the step before it. After the wait tessera_unfinished says whether
 * it is to be made, by the same ranks or by those of a new layout, to which state and gradients
 * have moved: call it before each step, and before the first wait. Only programs that were started
 * with `job start --pauses-before-updates` are asked to. */
#define TESSERA_PAUSE_BEFORE_UPDATE (UINT64_C(1) << 62)
#define TESSERA_WAITS_BEFORE_UPDATE(decision) \
  ((decision).pause != TESSERA_PAUSE_DATA && ((decision).pause & TESSERA_PAUSE_BEFORE_UPDATE) != 0)
/* Sets the reason of a pause for TESSERA_PAUSE_DATA, such as "web.bin at byte 96: checksum
 * differs". It holds for the next wait of this rank. A reason of one rank is enough; an empty text
 * is none. The job is then paused with this reason, and `job resume` lets the ranks try again. */
void tessera_pause_reason(tessera_job* job, const char* reason);
typedef struct tessera_decision {
  int64_t step;
  double loss, norm2;
  int64_t found_inf, tokens;
  double clip;    /* coefficient for the gradients; 1 without clipping */
  int skip;       /* 1: no update in this step (found_inf) */
  uint64_t pause; /* not 0: the ranks wait at the boundary after this step */
} tessera_decision;
/* All-gathers `mine` from every rank of the current epoch into all[world], in rank order. */
typedef int (*tessera_gather_fn)(void* context, const tessera_record* mine, tessera_record* all);
/* Makes the step decision of `step` (from 1); every rank gets equal values. The reduced gradients
 * must be in the arena. `max_norm` limits the global norm, 0: no limit. Publishes grads_step before
 * the gather and the decision after it. Without `gather` (NULL) it uses the library's own groups.
 */
int tessera_decide(tessera_job* job, int64_t step, const tessera_record* mine, double max_norm,
                   tessera_gather_fn gather, void* context, tessera_decision* decision);
/* How long this rank computed for the coming decision, in seconds, without waiting for other ranks.
 * Users see it, and ranks that are much slower than others are named. With the library's own groups
 * it is measured, so a call is not needed. */
void tessera_busy(tessera_job* job, double seconds);
/* Reports a number of the program, such as its accuracy, with the next decision, or with the last
 * one if all steps are made. Users see it per step, and the history records it. Only calls of rank
 * 0 count; those of other ranks are accepted. A later call for the same name before the decision
 * replaces the value. `value` may be NaN, which is a gap, or infinite. Fails for a name that is not
 * [A-Za-z_][A-Za-z0-9_./-]* of at most TESSERA_MAX_METRIC_NAME characters, and for more than
 * TESSERA_MAX_METRICS names. */
#define TESSERA_MAX_METRICS 16
#define TESSERA_MAX_METRIC_NAME 40
int tessera_log(tessera_job* job, const char* name, double value);
/* Requests a checkpoint of the state after the next step boundary and returns at once. Only calls
 * of rank 0 count, once per step. The folder is that of the job's schedule for checkpoints, else
 * that of its newest checkpoint, else the first folder that agent.json of the first node allows.
 * The outcome is an event. A job without a folder gets a warning and continues to train. */
int tessera_checkpoint(tessera_job* job);
/* For a rank that was started again (tessera_must_initialise is 0): 1 if an earlier rank of this
 * device ended between a decision and its update. Fills in step, clip and skip of *decision. The
 * reduced gradients of that step are in the arena; make the update before the first
 * tessera_boundary or tessera_wait. Else 0.
 * With the variable TESSERA_FINISH_UPDATE a process is started for this alone: it makes the update
 * without tessera_connect, because there are no other ranks, and exits with status 0. That is only
 * asked of programs that were started with `job start --finishes-updates`. */
int tessera_unfinished(tessera_job* job, tessera_decision* decision);
/* Enclose the update of the state in place, which must contain no collective. begin waits while the
 * agent holds updates of this step, for example while it copies the state of the step before. */
int tessera_begin_update(tessera_job* job, int64_t step);
int tessera_end_update(tessera_job* job, int64_t step);

/* The step boundary after `step` (-1: this process has made none). Waits for the next command and
 * carries it out. Returns 1 to train on, 0 to leave (exit with status 0), or a negative number for
 * an error. `request` is decision.pause, one of TESSERA_PAUSE_, or 0 before the first step. If the
 * rank trains on, *view is the current view, and the pieces must be read again. It combines
 * tessera_wait, tessera_adopt and tessera_attached below, for jobs that do nothing in between. */
int tessera_boundary(tessera_job* job, int64_t step, uint64_t request, const tessera_view** view);

typedef enum tessera_command {
  TESSERA_RESUME = 1, /* train on in the same epoch */
  TESSERA_ADOPT = 2,  /* a new layout is committed: call tessera_adopt, rebuild views, train on */
  TESSERA_LEAVE = 3   /* this device is no longer in the job: exit with status 0 */
} tessera_command;
/* Reports "paused after `step`" and waits for a command. `request` is decision.pause or one of
 * TESSERA_PAUSE_. A new rank calls it with step -1 after connect. The ranks of a starting job get
 * TESSERA_RESUME. */
int tessera_wait(tessera_job* job, int64_t step, uint64_t request, tessera_command* command);
/* Makes the committed layout current. The pieces change; pointers into old pieces are invalid. Then
 * tessera_attached reports it and blocks until all ranks have reported it. It returns 0 to train
 * on, or 1 if the job was paused and stays paused: call tessera_wait with request 0 before any
 * step. */
int tessera_adopt(tessera_job* job, const tessera_view** view);
int tessera_attached(tessera_job* job);

#ifdef __cplusplus
}
#endif
#endif
