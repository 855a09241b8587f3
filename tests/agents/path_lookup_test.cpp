// SPDX-License-Identifier: Apache-2.0
// A file system that hangs holds up nobody who resolves a path.
#include "agents/node/path_lookup.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <semaphore>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLong{60000};

}  // namespace

class PathLookupTest : public QObject {
  Q_OBJECT
 private slots:
  void linksAreResolved() {
    const QTemporaryDir folder;
    QVERIFY(QFile::link(folder.path(), folder.filePath("link")));
    const std::string own = ResolvePath(folder.path().toStdString());
    const std::string path = folder.filePath("link/missing/../file").toStdString();
    QCOMPARE(ResolvePath(path), own + "/file");
    const auto within = ResolvePathWithin(path, kLong);
    VERIFY_OK(within);
    QCOMPARE(*within, own + "/file");
  }

  void aFileSystemThatHangsIsLeft() {
    std::counting_semaphore<> answers(0);
    std::atomic<int> asked = 0;
    const auto hangs = [&](const std::string& path) {
      ++asked;
      answers.acquire();
      return path;
    };
    VERIFY_ERROR(ResolvePathWithin("/hangs", milliseconds(1), hangs), ErrorCode::kUnavailable,
                 "the file system of '/hangs' does not answer");
    QTRY_COMPARE(asked.load(), 1);
    // Nobody waits for it again, or for another thread.
    VERIFY_ERROR(ResolvePathWithin("/hangs", kLong, hangs), ErrorCode::kUnavailable, "'/hangs'");
    QCOMPARE(asked.load(), 1);
    VERIFY_OK(ResolvePathWithin("/", kLong));
    answers.release(1000);  // for any number of tries
    QTRY_VERIFY(ResolvePathWithin("/hangs", kLong, hangs).has_value());
    QVERIFY(asked.load() >= 2);
  }

  void theThreadsAreLimited() {
    std::counting_semaphore<> answers(0);
    const auto hangs = [&](const std::string& path) {
      answers.acquire();
      return path;
    };
    int hanging = 0;
    Result<std::string> last = std::string();
    do {
      last = ResolvePathWithin("/hangs/" + std::to_string(hanging), milliseconds(1), hangs);
      ++hanging;
    } while (hanging < 1000 && last.error().message.find("other paths") == std::string::npos);
    QVERIFY(hanging < 1000);
    answers.release(1000);
    QTRY_VERIFY(ResolvePathWithin("/", kLong).has_value());
    // All of them end before the semaphore does.
    for (int i = 0; i + 1 < hanging; ++i) {
      QTRY_VERIFY(
          ResolvePathWithin("/hangs/" + std::to_string(i), kLong, [](const std::string& path) {
            return path;
          }).has_value());
    }
  }
};

TESSERA_TEST_APPLESS(PathLookupTest)
#include "path_lookup_test.moc"
