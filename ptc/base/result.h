// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Errors as values. `Result<T>` is `[[nodiscard]]`; nothing in ptc, engine or agents throws across
/// a function boundary.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tessera {

/// The kinds of errors, a small closed set. Only kUnavailable is worth a retry.
enum class ErrorCode {
  kInvalidArgument,
  kNotFound,
  kAlreadyExists,
  kFailedPrecondition,
  kUnavailable,
  kTimeout,
  kCancelled,
  kDataLoss,
  kResourceExhausted,
  kUnimplemented,
  kInternal,
  kPermissionDenied,
  kOutcomeUnknown,  // a request that changes something was sent, and its reply was lost
};
inline constexpr ErrorCode kLastErrorCode = ErrorCode::kOutcomeUnknown;

/// "invalid argument", "not found", …
std::string_view ToString(ErrorCode code);

/// What went wrong. `message` names the thing, the value and the limit, in lower case and without a
/// full stop. Callers on the way up prepend to `context`.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string context;

  /// "context: message", one line.
  std::string ToString() const;
  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(const Error& error) : tl::expected<T, Error>(tl::unexpect, error) {}
  Result(Error&& error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}

  /// Returns this result. If it is an error, `where` is prepended to its context.
  Result Context(std::string_view where) && {
    if (!this->has_value()) {
      auto& c = this->error().context;
      c = c.empty() ? std::string(where) : std::string(where) + ": " + c;
    }
    return std::move(*this);
  }
};

using Status = Result<void>;
inline Status OkStatus() { return Status(); }

inline Error InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message), {}};
}
inline Error NotFound(std::string message) {
  return {ErrorCode::kNotFound, std::move(message), {}};
}
inline Error AlreadyExists(std::string message) {
  return {ErrorCode::kAlreadyExists, std::move(message), {}};
}
inline Error FailedPrecondition(std::string message) {
  return {ErrorCode::kFailedPrecondition, std::move(message), {}};
}
inline Error Unavailable(std::string message) {
  return {ErrorCode::kUnavailable, std::move(message), {}};
}
inline Error Timeout(std::string message) { return {ErrorCode::kTimeout, std::move(message), {}}; }
inline Error Cancelled(std::string message) {
  return {ErrorCode::kCancelled, std::move(message), {}};
}
inline Error DataLoss(std::string message) {
  return {ErrorCode::kDataLoss, std::move(message), {}};
}
inline Error ResourceExhausted(std::string message) {
  return {ErrorCode::kResourceExhausted, std::move(message), {}};
}
inline Error PermissionDenied(std::string message) {
  return {ErrorCode::kPermissionDenied, std::move(message), {}};
}
inline Error OutcomeUnknown(std::string message) {
  return {ErrorCode::kOutcomeUnknown, std::move(message), {}};
}
inline Error Internal(std::string message) {
  return {ErrorCode::kInternal, std::move(message), {}};
}

}  // namespace tessera

#define TESSERA_CONCAT_INNER(a, b) a##b
#define TESSERA_CONCAT(a, b) TESSERA_CONCAT_INNER(a, b)

/// `TESSERA_TRY(auto x, Expression());` binds the value, or returns the error from the enclosing
/// function.
#define TESSERA_TRY(decl, expr) \
  TESSERA_TRY_IMPL(TESSERA_CONCAT(tessera_try_, __COUNTER__), decl, expr)
// `decl` declares a variable and cannot be in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_TRY_IMPL(tmp, decl, expr)  \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp).error(); \
  decl = std::move(*tmp)
// NOLINTEND(bugprone-macro-parentheses)

/// Returns from the enclosing function with the error of a Status-valued expression, if it has one.
#define TESSERA_RETURN_IF_ERROR(expr)                                                            \
  do {                                                                                           \
    if (auto tessera_status = (expr); !tessera_status) return std::move(tessera_status).error(); \
  } while (false)
