// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tables of errors in rules and tensors files: each row changes one position of a correct file.

#include <QString>
#include <QTest>
#include <string>

namespace tessera::test {

/// The text with the first `old_text` replaced; aborts if there is none.
inline std::string Edited(std::string text, const QString& old_text, const QString& new_text) {
  const std::size_t at = text.find(old_text.toStdString());
  if (at == std::string::npos) qFatal("the text has no such place: %s", qPrintable(old_text));
  return text.replace(at, static_cast<std::size_t>(old_text.toUtf8().size()),
                      new_text.toStdString());
}

/// The columns and rows of such a table. The name of a row is its message.
struct EditColumns {
  EditColumns() {
    QTest::addColumn<bool>("in_rules");
    QTest::addColumn<QString>("old_text");
    QTest::addColumn<QString>("new_text");
    QTest::addColumn<QString>("message");
  }
  static void InTensors(const char* old_text, const char* new_text, const char* message) {
    QTest::addRow("%s", message) << false << old_text << new_text << message;
  }
  static void InRules(const char* old_text, const char* new_text, const char* message) {
    QTest::addRow("%s", message) << true << old_text << new_text << message;
  }
};

}  // namespace tessera::test
