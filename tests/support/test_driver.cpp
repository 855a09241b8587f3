// SPDX-License-Identifier: Apache-2.0
// The program of a folder's tests: `DRIVER NAME [QT TEST OPTIONS…]` runs one, `DRIVER` lists them.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/test_main.h"

namespace tessera::test {
namespace {

using TestMain = int (*)(int argc, char** argv);

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of packaging/cmake/TesseraTest.cmake
constexpr const char* kNameVariable = "TESSERA_TEST_NAME";
#ifdef TESSERA_FAIL_ON_WARNINGS
constexpr bool kFailsOnWarnings = true;  // of Qt, and those of the panel
#else
constexpr bool kFailsOnWarnings = false;
#endif

std::map<std::string, TestMain>& Tests() {
  static std::map<std::string, TestMain> tests;
  return tests;
}

std::string StemOf(const std::string& path) {
  const std::size_t begin = path.rfind('/') + 1;
  return path.substr(begin, path.rfind('.') - begin);
}

/// Whether a Qt Test log has skips and no function that passed. Qt counts initTestCase and
/// cleanupTestCase as functions that pass.
bool HasSkipsOnly(const std::string& log) {
  std::ifstream lines(log);
  int passed = 0;
  int skipped = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("SKIP ")) ++skipped;
    const bool frame = line.find("::initTestCase(") != std::string::npos ||
                       line.find("::cleanupTestCase(") != std::string::npos;
    if (line.starts_with("PASS ") && !frame) ++passed;
  }
  return skipped > 0 && passed == 0;
}

/// Prints the warnings in a Qt Test log; that of platforms without a screen is none.
/// \return whether there are any
bool HasWarnings(const std::string& log) {
  std::ifstream lines(log);
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("QWARN ") || line.find(") This plugin does not support ") != line.npos) {
      continue;
    }
    std::fprintf(stderr, "a warning fails this test: %s\n", line.c_str());
    found = true;
  }
  return found;
}

int ListTests() {
  for (const auto& [name, run] : Tests()) std::puts(name.c_str());
  return 0;
}

/// Runs a test with a second log, from which the driver reads whether everything was skipped.
int RunTest(TestMain run, std::vector<char*> words) {
  char log[] = "/tmp/tessera-test-log.XXXXXX";
  const int descriptor = ::mkstemp(log);
  if (descriptor < 0) {
    std::perror("test driver: no temporary file in /tmp");
    return 1;
  }
  std::string option = "-o";
  std::string terminal = "-,txt";
  std::string file = std::string(log) + ",txt";
  for (std::string* word : {&option, &terminal, &option, &file}) words.push_back(word->data());
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  const int code = run(count, words.data());
  const bool skipped = code == 0 && HasSkipsOnly(log);
  const bool warned = kFailsOnWarnings && HasWarnings(log);
  std::remove(log);
  if (skipped) return kSkipped;
  return code == 0 && warned ? 1 : code;
}

}  // namespace

Registration::Registration(const char* file, TestMain run) { Tests()[StemOf(file)] = run; }

}  // namespace tessera::test

int main(int argc, char** argv) {
  using namespace tessera::test;
  if (argc < 2) return ListTests();
  if (const auto test = Tests().find(argv[1]); test != Tests().end()) {
    ::setenv(kNameVariable, argv[1], 1);
    std::vector<char*> words(argv, argv + argc);
    words.erase(words.begin() + 1);
    return RunTest(test->second, words);
  }
  const char* inherited = std::getenv(kNameVariable);  // a test that started its program again
  if (const auto test = Tests().find(inherited ? inherited : ""); test != Tests().end()) {
    return test->second(argc, argv);
  }
  std::fprintf(stderr, "%s: no test is called '%s'; without arguments it lists its tests\n", argv[0], argv[1]);
  return 2;
}
