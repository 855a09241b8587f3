// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Entries of test_main.h for tests of widgets, which run without a screen.

#include <QApplication>

#include "tests/support/test_main.h"
#include "ui/theme.h"

namespace tessera::test {

template <typename Test>
int RunWithWidgets(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  Test test;
  return QTest::qExec(&test, argc, argv);
}

template <typename Test>
int RunWithTheme(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  ui::applyTheme(application, ui::ThemeMode::Light);
  Test test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace tessera::test

/// A test within a QApplication.
#define TESSERA_WIDGET_TEST(Test) TESSERA_TEST_REGISTER(&::tessera::test::RunWithWidgets<Test>)

/// A test within a QApplication that has the panel's light theme.
#define TESSERA_THEMED_TEST(Test) TESSERA_TEST_REGISTER(&::tessera::test::RunWithTheme<Test>)
