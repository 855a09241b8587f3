// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks of digests. Two digests that are both missing are not equal: they are not known.

#include <QTest>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/support/program.h"

namespace tessera::test {

/// Returns whether `text` is a digest: 16 hexadecimal digits, as ptc::Hex16 prints them.
bool IsDigest(std::string_view text);

/// Compares two digests of a state: texts, or the JSON of texts.
/// \return what is wrong; empty: both are digests, and they are equal
std::string WrongDigests(const Json& before, const Json& after);

}  // namespace tessera::test

/// Fails unless both are digests, and equal.
#define VERIFY_DIGESTS(before, after)                                                \
  do {                                                                               \
    const std::string wrong_digests = ::tessera::test::WrongDigests(before, after);  \
    QVERIFY2(wrong_digests.empty(), wrong_digests.c_str());                          \
  } while (false)
