/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/device_copy.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the driver API reference. */
static int (*retain_context)(void**, int);
static int (*set_context)(void*);
static int (*copy_to_device)(uint64_t, const void*, size_t);
static int (*copy_from_device)(void*, uint64_t, size_t);

static void check(int failed, const char* call) {
  if (!failed) return;
  fprintf(stderr, "CUDA: %s failed (%d)\n", call, failed);
  exit(1);
}

static void* find(void* library, const char* name) {
  void* found = library != NULL ? dlsym(library, name) : NULL;
  if (found == NULL) check(-1, name);
  return found;
}

/* Makes the context of the device that of this thread. */
static void enter(int device) {
  static int current = -1;
  void* context;
  if (current == device) return;
  if (current < 0) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned);
    *(void**)&init = find(library, "cuInit");
    *(void**)&retain_context = find(library, "cuDevicePrimaryCtxRetain");
    *(void**)&set_context = find(library, "cuCtxSetCurrent");
    *(void**)&copy_to_device = find(library, "cuMemcpyHtoD_v2");
    *(void**)&copy_from_device = find(library, "cuMemcpyDtoH_v2");
    check(init(0), "cuInit");
  }
  check(retain_context(&context, device), "cuDevicePrimaryCtxRetain");
  check(set_context(context), "cuCtxSetCurrent");
  current = device;
}

static void read_bytes(const tessera_piece* piece, const void* from, void* out, size_t bytes) {
  if (piece->memory == TESSERA_HOST) {
    memcpy(out, from, bytes);
    return;
  }
  enter(piece->device);
  check(copy_from_device(out, (uint64_t)(uintptr_t)from, bytes), "cuMemcpyDtoH");
}

static void write_bytes(const tessera_piece* piece, void* to, const void* in, size_t bytes) {
  if (piece->memory == TESSERA_HOST) {
    memcpy(to, in, bytes);
    return;
  }
  enter(piece->device);
  check(copy_to_device((uint64_t)(uintptr_t)to, in, bytes), "cuMemcpyHtoD");
}

void read_piece(const tessera_piece* piece, void* out, size_t bytes) {
  read_bytes(piece, piece->data, out, bytes);
}
void write_piece(const tessera_piece* piece, const void* in, size_t bytes) {
  write_bytes(piece, piece->data, in, bytes);
}
void read_gradient(const tessera_piece* piece, void* out, size_t bytes) {
  read_bytes(piece, piece->gradient, out, bytes);
}
void write_gradient(const tessera_piece* piece, const void* in, size_t bytes) {
  write_bytes(piece, piece->gradient, in, bytes);
}
