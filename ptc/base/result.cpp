// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/result.h"

#include "ptc/base/enum_names.h"
namespace tessera {

constexpr EnumNames kErrorCodes(kLastErrorCode,
                                {"invalid argument", "not found", "already exists",
                                 "failed precondition", "unavailable", "timeout", "cancelled",
                                 "data loss", "resource exhausted", "unimplemented", "internal",
                                 "permission denied", "outcome unknown"});
std::string_view ToString(ErrorCode code) { return kErrorCodes.Of(code); }

std::string Error::ToString() const { return context.empty() ? message : context + ": " + message; }

}  // namespace tessera
