// SPDX-License-Identifier: Apache-2.0
#include "agents/train/blas_environment.h"

#include <cstdlib>

namespace tessera::agents::train {
namespace {

#if defined(__x86_64__)
bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool IsIntel() { return __builtin_cpu_is("intel"); }
#else
bool HasAvx512() { return false; }
bool HasAvx2() { return false; }
bool IsIntel() { return false; }
#endif

}  // namespace

std::vector<std::string> BlasEnvironment() {
  std::vector<std::string> variables;
  const auto add = [&](const char* key, const char* value) {
    if (std::getenv(key) == nullptr) variables.push_back(std::string(key) + "=" + value);
  };
  add("OMP_NUM_THREADS", "1");
  add("OPENBLAS_NUM_THREADS", "1");
  if (IsIntel() && HasAvx512()) {
    add("OPENBLAS_CORETYPE", "SkylakeX");
  } else if (IsIntel() && HasAvx2()) {
    add("OPENBLAS_CORETYPE", "Haswell");
  }
  if (HasAvx512()) add("ATEN_CPU_CAPABILITY", "avx512");
  return variables;
}

}  // namespace tessera::agents::train
