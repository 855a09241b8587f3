// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Command lines of tesseractl as text, for "Copy as command".

#include <QString>
#include <QStringList>

namespace tessera::ui {

/// The word as a POSIX shell reads it back: quoted if necessary.
QString shellWord(const QString& word);
/// "tesseractl --cluster NAME WORDS…". It always names the cluster, if there is a name.
QString commandLine(const QString& cluster, const QStringList& words);

}  // namespace tessera::ui
