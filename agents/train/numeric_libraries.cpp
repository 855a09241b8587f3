// SPDX-License-Identifier: Apache-2.0
#include "agents/train/numeric_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

namespace tessera::agents::train {

std::string NumericLibraryWarning() {
  using CoreName = char* (*)();
  const auto core_name = reinterpret_cast<CoreName>(::dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (core_name == nullptr) {
    if (::dlsym(RTLD_DEFAULT, "mkl_get_version") != nullptr) return {};
    return "the BLAS library is not OpenBLAS but likely the reference one, about 15 times slower; "
           "install libopenblas0-pthread";
  }
  const std::string_view core = core_name();
#if defined(__x86_64__)
  for (const std::string_view old : {"Prescott", "Nehalem", "Core2", "Barcelona"}) {
    if (core == old && __builtin_cpu_supports("avx2")) {
      return fmt::format(
          "OpenBLAS runs its {} kernels, which do not use AVX; set "
          "OPENBLAS_CORETYPE=Haswell",
          core);
    }
  }
#endif
  return {};
}

}  // namespace tessera::agents::train
