// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_limits.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/model/gpt.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

engine::JobSettings Reading(std::vector<std::string> data) {
  engine::JobSettings settings;
  settings.data = std::move(data);
  return settings;
}

}  // namespace

class JobLimitsTest : public QObject {
  Q_OBJECT
 private slots:
  void nothingIsLimitedUnlessItIsSaid() {
    engine::JobSettings settings = Reading({"/anywhere", "https://a/b"});
    settings.program = engine::OwnProgram{"true", {}, {}};
    VERIFY_OK(CheckLimits({}, 3, settings));
    VERIFY_OK(CheckLimits({.exec = false, .data = {{}}}, 3, engine::JobSettings()));
  }
  void checkpointsLieBelowTheFolders() {
    const JobLimits limits{.checkpoints = {{"/srv/ck", "https://store/ck"}}};
    VERIFY_OK(CheckCheckpoint({}, 3, "/anywhere"));
    VERIFY_OK(CheckCheckpoint(limits, 3, "/srv/ck/nano-step-1"));
    VERIFY_OK(CheckCheckpoint(limits, 3, "https://store/ck/nano-step-1"));
    VERIFY_ERROR(CheckCheckpoint(limits, 3, "/srv/ck/../other"), ErrorCode::kPermissionDenied,
                 "n3 does not use '/srv/ck/../other': `jobs.checkpoints` in its configuration has "
                 "only /srv/ck, https://store/ck");
    // Whoever may see events does not see what gives access to a store.
    VERIFY_ERROR(CheckCheckpoint(limits, 3, "https://me:word@other/ck?sig=1"),
                 ErrorCode::kPermissionDenied, "n3 does not use 'https://other/ck':");
    VERIFY_ERROR(CheckCheckpoint({.checkpoints = {{}}}, 3, "/srv/ck"), ErrorCode::kPermissionDenied,
                 "has no folder");
    VERIFY_ERROR(CheckCheckpoint({}, 3, "nano-step-1"), ErrorCode::kInvalidArgument,
                 "is not absolute");
    QVERIFY(ToText(limits).find("checkpoints below /srv/ck, https://store/ck") !=
            std::string::npos);
  }
  void programsCanBeSwitchedOff() {
    engine::JobSettings settings;
    settings.program = engine::OwnProgram{"true", {}, {}};
    VERIFY_ERROR(CheckLimits({.exec = false}, 3, settings), ErrorCode::kPermissionDenied,
                 "n3 runs no programs of users: `jobs.exec` is false");
  }
  void theBuiltInTrainerNeedsHostMemory() {
    engine::JobSettings settings;
    VERIFY_OK(CheckTrainer(false, {1, 2}, settings));
    VERIFY_ERROR(CheckTrainer(true, {1, 2}, settings), ErrorCode::kFailedPrecondition,
                 "n1g2 is a CUDA device: start a program that computes there instead, such as "
                 "plain.py");
    settings.program = engine::OwnProgram{"true", {}, {}};
    VERIFY_OK(CheckTrainer(true, {1, 2}, settings));
  }
  void dataLieBelowTheFolders_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<bool>("allowed");
    QTest::newRow("the folder") << "DIR/data" << true;
    QTest::newRow("a file in it") << "DIR/data/a/b.txt" << true;
    QTest::newRow("another spelling") << "DIR/data/./a/../b.txt" << true;
    QTest::newRow("beside it") << "DIR/data2/b.txt" << false;
    QTest::newRow("above it") << "DIR" << false;
    QTest::newRow("out of it by dots") << "DIR/data/../secret.txt" << false;
    QTest::newRow("out of it by a link") << "DIR/data/link/secret.txt" << false;
    QTest::newRow("a link into it") << "DIR/in/b.txt" << true;
    QTest::newRow("the URL") << "https://lab/text" << true;
    QTest::newRow("below the URL") << "https://lab/text/a.txt" << true;
    QTest::newRow("beside the URL") << "https://lab/text2" << false;
    QTest::newRow("another scheme") << "http://lab/text/a.txt" << false;
    QTest::newRow("out of the URL by dots") << "https://lab/text/../a.txt" << false;
    QTest::newRow("out of the URL by encoded dots") << "https://lab/text/%2E%2e/a.txt" << false;
    QTest::newRow("dots at the end of the URL") << "https://lab/text/..?a" << false;
    QTest::newRow("with a weight") << "0.7:DIR/data/b.txt" << true;
    QTest::newRow("a URL with a weight") << "2:https://lab/text/a.txt" << true;
    QTest::newRow("beside it, with a weight") << "0.7:DIR/data2/b.txt" << false;
  }
  void dataLieBelowTheFolders() {
    QFETCH(QString, path);
    QFETCH(bool, allowed);
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath("data/a") && QDir(folder.path()).mkpath("out"));
    QVERIFY(QFile::link(folder.filePath("out"), folder.filePath("data/link")));
    QVERIFY(QFile::link(folder.filePath("data"), folder.filePath("in")));
    path.replace("DIR", folder.path());
    for (const char* end : {"", "/"}) {
      const JobLimits limits{.data = {{"/nowhere", folder.filePath("data").toStdString() + end,
                                       std::string("https://lab/text") + end}}};
      const Status status = CheckLimits(limits, 0, Reading({path.toStdString()}));
      QCOMPARE(status.has_value(), allowed);
      if (!status) {
        const QString shown = path.mid(path.indexOf(':') == 3 ? 4 : 0).section(u'?', 0, 0);
        VERIFY_ERROR(status, ErrorCode::kPermissionDenied,
                     "n0 does not read '" + shown.toStdString() + "': `jobs.data` in its");
      }
    }
    VERIFY_ERROR(CheckLimits({.data = {{}}}, 0, Reading({path.toStdString()})),
                 ErrorCode::kPermissionDenied, "has no folder");
  }
};

TESSERA_TEST_APPLESS(JobLimitsTest)
#include "job_limits_test.moc"
