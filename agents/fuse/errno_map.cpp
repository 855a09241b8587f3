// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/errno_map.h"

#include <cerrno>

namespace tessera::agents {

int ErrnoOf(const Error& error, FileRequest request) {
  switch (error.code) {
    case ErrorCode::kPermissionDenied:
      return EACCES;
    case ErrorCode::kNotFound:
      return ENOENT;
    case ErrorCode::kFailedPrecondition:
      return ESTALE;
    case ErrorCode::kResourceExhausted:
      return ENOSPC;
    case ErrorCode::kInvalidArgument:
      return EINVAL;
    case ErrorCode::kTimeout:
      return ETIMEDOUT;
    case ErrorCode::kUnavailable:
      return request == FileRequest::kOpen || request == FileRequest::kWrite ? EBUSY : EIO;
    case ErrorCode::kAlreadyExists:
      return EEXIST;
    case ErrorCode::kUnimplemented:
      return EROFS;
    case ErrorCode::kCancelled:
      return ECANCELED;
    case ErrorCode::kDataLoss:
      return request == FileRequest::kWrite ? EBADMSG : EIO;
    default:
      return EIO;
  }
}

bool IsOrdinary(const Error& error, FileRequest request) {
  if (request == FileRequest::kWrite) return error.code == ErrorCode::kUnimplemented;
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kFailedPrecondition;
}

}  // namespace tessera::agents
