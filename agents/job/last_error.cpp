// SPDX-License-Identifier: Apache-2.0
#include "agents/job/last_error.h"

#include <string>

#include "agents/job/tessera_job.h"

namespace tessera::agents {
namespace {
thread_local std::string last_error;
}  // namespace

int Failed(const Error& error) {
  last_error = error.ToString();
  return -1 - static_cast<int>(error.code);
}

}  // namespace tessera::agents

const char* tessera_last_error(void) { return tessera::agents::last_error.c_str(); }
