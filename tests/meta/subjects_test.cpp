// SPDX-License-Identifier: Apache-2.0
// packaging/check-subjects, on commits of a repository made for it.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "tests/folders.h"
#include "tests/support/test_main.h"

class SubjectsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    const QDir packaging(QStringLiteral(TESSERA_SOURCE_DIR "/packaging"));
    QVERIFY(QDir(m_folder.path()).mkdir(QStringLiteral("packaging")));
    for (const char* name : {"check-subjects", "common.sh"}) {
      QVERIFY(QFile::copy(packaging.filePath(name), m_folder.filePath("packaging/") + name));
    }
    QCOMPARE(run("git", {"init", "--quiet"}), 0);
    commit("this subject is older than the check");
    QCOMPARE(run("git", {"add", "packaging"}), 0);
    commit("packaging: check subjects");
  }

  void aSubjectIsChecked_data() {
    QTest::addColumn<QString>("subject");
    QTest::addColumn<bool>("right");
    QTest::newRow("as the guide says") << "plan: name GPUs that stay idle" << true;
    QTest::newRow("two areas") << "ui, app: draw links" << true;
    QTest::newRow("a path") << "tests/e2e: kill two nodes" << true;
    QTest::newRow("72 characters") << "plan: " + QString(66, 'x') << true;
    QTest::newRow("73 characters") << "plan: " + QString(67, 'x') << false;
    QTest::newRow("no area") << "Draw links" << false;
    QTest::newRow("a sentence for an area") << "After reading it again: mend" << false;
    QTest::newRow("a period") << "ui: draw links." << false;
    QTest::newRow("nothing after the area") << "ui:" << false;
  }
  void aSubjectIsChecked() {
    QFETCH(QString, subject);
    QFETCH(bool, right);
    commit(subject);
    QCOMPARE(run("packaging/check-subjects", {}), right ? 0 : 1);
    QCOMPARE(m_output.contains(subject.toUtf8()), !right);
    QCOMPARE(run("packaging/check-subjects", {"HEAD"}), 0);  // no commit since that one
    QCOMPARE(run("git", {"reset", "--quiet", "--soft", "HEAD~1"}), 0);
  }

  void anUnknownCommitIsNamed() {
    QCOMPARE(run("packaging/check-subjects", {"nowhere"}), 1);
    QVERIFY2(m_output.contains("'nowhere' is not a commit"), m_output.constData());
  }

 private:
  void commit(const QString& subject) {
    QCOMPARE(run("git", {"-c", "user.name=test", "-c", "user.email=test@localhost", "commit",
                         "--quiet", "--allow-empty", "--message", subject}),
             0);
  }
  int run(const QString& program, const QStringList& words) {
    QProcess process;
    process.setWorkingDirectory(m_folder.path());
    process.setProcessChannelMode(QProcess::MergedChannels);
    const bool ours = program.contains('/');
    process.start(ours ? m_folder.filePath(program) : program, words);
    process.waitForFinished(20'000);
    m_output = process.readAll();
    return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
  }

  QTemporaryDir m_folder;
  QByteArray m_output;
};

TESSERA_TEST_APPLESS(SubjectsTest)
#include "subjects_test.moc"
