// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks for bugs in this program. Input from outside is decoded into a Result and never checked
/// with these macros, because a failed check ends the process.

namespace tessera {
/// Prints the place and the expression to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression);
}  // namespace tessera

#define TESSERA_CHECK(cond) \
  ((cond) ? static_cast<void>(0) : ::tessera::CheckFailed(__FILE__, __LINE__, #cond))

#ifdef NDEBUG
// sizeof does not evaluate the condition, but it counts as a use of the names in it. So a variable
// that only a check reads causes no warning about an unused variable.
#define TESSERA_DCHECK(cond) static_cast<void>(sizeof((cond) ? 1 : 0))
#else
#define TESSERA_DCHECK(cond) TESSERA_CHECK(cond)
#endif
