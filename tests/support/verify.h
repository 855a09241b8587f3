// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Qt Test checks for Result and Status: a failure prints the error.

#include <QTest>
#include <string>

#include "ptc/base/result.h"

namespace tessera::test {
template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? std::string("a value") : result.error().ToString();
}
}  // namespace tessera::test

#define VERIFY_OK(result)                                             \
  do {                                                                \
    const auto& verified = (result);                                  \
    QVERIFY2(verified, ::tessera::test::MessageOf(verified).c_str()); \
  } while (false)

/// Fails unless `result` is an error of that code whose text contains `part`.
#define VERIFY_ERROR(result, expected_code, part)                     \
  do {                                                                \
    const auto& verified = (result);                                  \
    const std::string message = ::tessera::test::MessageOf(verified); \
    QVERIFY2(!verified && verified.error().code == (expected_code) && \
                 message.find(part) != std::string::npos,             \
             message.c_str());                                        \
  } while (false)
