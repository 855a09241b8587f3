// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What nearly every test includes, compiled once for all drivers.

#include <QByteArray>
#include <QCoreApplication>
#include <QString>
#include <QTest>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>
