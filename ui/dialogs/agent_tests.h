// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The results of a connection test: one row per agent with verdict, finding and remedy.

#include <QWidget>
#include <vector>

#include "ui/connections.h"

class QVBoxLayout;

namespace tessera::ui {

class AgentTests : public QWidget {
  Q_OBJECT

 public:
  explicit AgentTests(QWidget* parent = nullptr);
  void clear();
  void add(const AgentTest& test);
  const std::vector<AgentTest>& tests() const { return m_tests; }
  /// "reached", "key refused", …
  static QString text(AgentTest::Verdict verdict);

 private:
  std::vector<AgentTest> m_tests;
  QVBoxLayout* m_column;
};

}  // namespace tessera::ui
