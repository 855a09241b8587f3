// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Tick positions and labels of the plot axes.

#include <QDateTime>
#include <QSharedPointer>
#include <QString>

class QCPAxisTicker;

namespace tessera::ui {

/// Converts seconds since 1970 to local time, to the millisecond.
QDateTime clockOf(double time);
/// "14:03:07".
QString clockText(double time);

/// Clock times, with a step that fits the range.
QSharedPointer<QCPAxisTicker> clockTicker();
/// About `count` ticks, with as many decimals as distinguish them.
QSharedPointer<QCPAxisTicker> valueTicker(int count);
/// About `count` ticks of tokens per second: "950", "5.8 k".
QSharedPointer<QCPAxisTicker> rateTicker(int count);
/// About `count` ticks of a number of unknown size: "0.25", "1.5 M", "3.0E-05".
QSharedPointer<QCPAxisTicker> quantityTicker(int count);

}  // namespace tessera::ui
