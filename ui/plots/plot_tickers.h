// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Where the ticks of the plots' axes stand, and what they say.

#include <QDateTime>
#include <QSharedPointer>
#include <QString>

class QCPAxisTicker;

namespace tessera::ui {

/// Local time of a wall clock in seconds since 1970, to the millisecond.
QDateTime clockOf(double time);
/// "14:03:07".
QString clockText(double time);

/// Clock times, as fine as the range needs.
QSharedPointer<QCPAxisTicker> clockTicker();
/// Numbers with as many decimals as tell the ticks apart; about `count` ticks.
QSharedPointer<QCPAxisTicker> valueTicker(int count);
/// "950", "5.8 k": tokens a second; about `count` ticks.
QSharedPointer<QCPAxisTicker> rateTicker(int count);

}  // namespace tessera::ui
