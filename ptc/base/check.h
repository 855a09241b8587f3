// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks for our own bugs only. Bytes from outside are decoded into a Result, never checked here.

namespace tessera {
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression);
}  // namespace tessera

#define TESSERA_CHECK(cond) \
  ((cond) ? static_cast<void>(0) : ::tessera::CheckFailed(__FILE__, __LINE__, #cond))

#ifdef NDEBUG
// Not evaluated, but seen: what only a check names is not unused.
#define TESSERA_DCHECK(cond) static_cast<void>(sizeof((cond) ? 1 : 0))
#else
#define TESSERA_DCHECK(cond) TESSERA_CHECK(cond)
#endif
