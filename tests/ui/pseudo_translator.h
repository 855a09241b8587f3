// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A language for tests: the panel's texts, 40 % longer, in letters with accents.

#include <QTranslator>

namespace tessera::test {

/// "Apply" becomes "[Áþþļý ~~]". What a text has of mnemonics, placeholders and markup stays.
QString pseudo(const QString& text);

class PseudoTranslator : public QTranslator {
 public:
  bool isEmpty() const override { return false; }
  /// Translates the panel's own contexts only.
  QString translate(const char* context, const char* text, const char*, int) const override {
    const bool own = QByteArrayView(context).startsWith("tessera::");
    return own ? pseudo(QString::fromUtf8(text)) : QString();
  }
};

}  // namespace tessera::test
