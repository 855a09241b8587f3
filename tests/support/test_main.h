// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How a test class enters the driver program of its folder. Each test file ends with one of the macros
/// below and its moc include. The test's name is the file's name without ".cpp".
///
/// A test that starts its own program again, with words that its TESSERA_TEST_MAIN understands, reaches
/// the same test: the driver passes the name on in the environment.

#include <QCoreApplication>
#include <QTest>

namespace tessera::test {

/// Adds a test to the driver's list.
struct Registration {
  /// \param file `__FILE__` of the test
  /// \param run returns the exit code; gets the arguments without the test's name
  Registration(const char* file, int (*run)(int argc, char** argv));
};

template <typename Test>
int RunWithoutApplication(int argc, char** argv) {
  Test test;
  return QTest::qExec(&test, argc, argv);
}

template <typename Test>
int RunWithCoreApplication(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  Test test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace tessera::test

#define TESSERA_TEST_REGISTER(run) \
  static const ::tessera::test::Registration kTesseraTestRegistration(__FILE__, run);

/// A test without a QCoreApplication.
#define TESSERA_TEST_APPLESS(Test) \
  TESSERA_TEST_REGISTER(&::tessera::test::RunWithoutApplication<Test>)

/// A test within a QCoreApplication.
#define TESSERA_TEST(Test) TESSERA_TEST_REGISTER(&::tessera::test::RunWithCoreApplication<Test>)

/// A test with a main function of its own: `TESSERA_TEST_MAIN(argc, argv) { … }`.
#define TESSERA_TEST_MAIN(argc, argv)               \
  static int TesseraTestMain(int argc, char** argv); \
  TESSERA_TEST_REGISTER(&TesseraTestMain)           \
  static int TesseraTestMain(int argc, char** argv)
