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

/// \pre `result` is a variable
#define VERIFY_OK(result) QVERIFY2(result, ::tessera::test::MessageOf(result).c_str())

/// Fails unless `result` is an error of that code whose text contains `part`.
#define VERIFY_ERROR(result, expected_code, part)                     \
  do {                                                                \
    const auto& verified = (result);                                  \
    const std::string message = ::tessera::test::MessageOf(verified); \
    QVERIFY2(!verified && verified.error().code == (expected_code) && \
                 message.find(part) != std::string::npos,             \
             message.c_str());                                        \
  } while (false)
