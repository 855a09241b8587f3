// SPDX-License-Identifier: Apache-2.0
// `up --hosts` and `down` over ssh: a cluster on hosts that are this machine (ssh_hosts.h).
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTest>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/e2e/ssh_hosts.h"
#include "tests/support/cluster.h"
#include "tests/support/digests.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

int ModeOf(const QString& path) {
  struct stat status = {};
  return ::stat(qPrintable(path), &status) == 0 ? static_cast<int>(status.st_mode & 0777) : -1;
}

/// Processes of agents and ranks whose command line or environment names `folder`.
QStringList AgentsOf(const QString& folder) {
  QStringList found;
  QDirIterator processes(QStringLiteral("/proc"), {QStringLiteral("[0-9]*")}, QDir::Dirs);
  while (processes.hasNext()) {
    const QString process = processes.next();
    QFile line(process + QStringLiteral("/cmdline"));
    QFile environment(process + QStringLiteral("/environ"));
    if (!line.open(QIODevice::ReadOnly) || !environment.open(QIODevice::ReadOnly)) continue;
    const QByteArray words = line.readAll();
    if ((words.contains("tessera-agent") || words.contains("tessera-train")) &&
        (words + environment.readAll()).contains(folder.toUtf8()))
      found << QString::fromUtf8(words);
  }
  return found;
}

}  // namespace

class E2eSshTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_hosts = std::make_unique<SshHosts>();
    if (!m_hosts->problem().isEmpty()) QSKIP(qPrintable(m_hosts->problem()));
  }
  void cleanupTestCase() { m_hosts.reset(); }
  void cleanup() {
    if (!m_hosts || !m_hosts->problem().isEmpty()) return;
    QFile::remove(m_hosts->folder() + "/late");
    Run({"down", "--all", "--yes"});
    QCOMPARE(AgentsOf(m_hosts->folder()), QStringList());
  }

  void trainsOnAllHosts_data() {
    QTest::addColumn<QString>("folder");
    QTest::newRow("in the home that hosts share") << "";
    QTest::newRow("in a folder of each host") << m_hosts->folder() + "/disk";
  }
  void trainsOnAllHosts() {
    QFETCH(QString, folder);
    const QString user = QString::fromLocal8Bit(::getpwuid(::geteuid())->pw_name);
    const Outcome up = Up("a," + user + "@b:1,c",
                          folder.isEmpty() ? QStringList{} : QStringList{"--folder", folder});
    QVERIFY2(up.code == 0, up.Text());
    const Json document = up.LastJson();
    QCOMPARE(document["nodes"].get<int>(), 3);
    QCOMPARE(document["hosts"][1]["host"].get<std::string>(), (user + "@b").toStdString());
    QCOMPARE(document["hosts"][1]["devices"].get<int>(), 1);
    if (folder.isEmpty()) folder = m_hosts->home() + "/clusters";
    for (const char* node : {"n0", "n1", "n2"}) {
      const QString at = folder + "/lab/" + node;
      QCOMPARE(ModeOf(at), 0700);
      QCOMPARE(ModeOf(at + "/agent.key"), 0600);
      QCOMPARE(QDir(at + "/allowed").entryList(QDir::Files).size(), 4);
    }
    const QString own = m_hosts->home() + "/clusters/lab";
    QCOMPARE(ModeOf(own + "/operator.key"), 0600);
    QVERIFY(!QFile::exists(own + "/secret"));

    const Outcome start = Run(
        {"job", "start", "gpt-nano", "--name", "job", "--mesh", "dp=2", "--devices", "n0g0,n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    const Outcome apply =
        Run({"apply", "job", "--mesh", "dp=3", "--devices", "n0g0,n1g0,n2g1", "--yes", "--json"});
    QVERIFY2(apply.code == 0, apply.Text());
    const Json moved = apply.LastJson();
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QCOMPARE(moved["moved_bytes"].dump(), moved["volume_bound_bytes"].dump());

    const Outcome again = Up("a");
    QVERIFY2(again.code == 1 && again.errors.contains("cluster 'lab' is running"), again.Text());
    const Outcome down = Run({"down", "--json", "--yes"});
    QVERIFY2(down.code == 0, down.Text());
    QVERIFY(down.LastJson()["was_running"].get<bool>());
    QCOMPARE(AgentsOf(m_hosts->folder()), QStringList());
    QVERIFY(!QFile::exists(m_hosts->home() + "/profiles/lab.json"));
    QVERIFY(!QFile::exists(folder + "/lab/n1/agent.key"));
    QVERIFY(QFile::exists(folder + "/lab/n1/agent.log"));
    QVERIFY(QFile::exists(folder + "/lab/n0/history.db"));
    const Outcome past = Run({"history", "--cluster", "lab"});
    const QString elsewhere = "its history is on host 'a', in " + folder + "/lab/n0";
    QVERIFY2(folder.startsWith(m_hosts->home())
                 ? past.code == 0 && past.output.contains("committed")
                 : past.errors.contains(elsewhere),
             past.Text());
    QVERIFY(!Run({"down", "--json"}).LastJson()["was_running"].get<bool>());
  }

  void oneHostThatFailsEndsAll_data() {
    QTest::addColumn<QString>("hosts");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("not reached")
        << "a,gone" << QStringList{}
        << "host 'gone' is not reached: ssh: connect to host 127.0.0.1 port 1: Connection refused; "
           "`" +
               m_hosts->command() + " gone true` has to work without a password";
    QTest::newRow("no programs") << "a,bare" << QStringList{}
                                 << "in the PATH that ssh gives there (/usr/bin:/bin); install the "
                                    "same version there";
    QTest::newRow("another version")
        << "old,a" << QStringList{}
        << "host 'old' has 'tesseractl 0.0.9' in " + m_hosts->folder() + "/old, and this is 'tess";
    QTest::newRow("no folder") << "a" << QStringList{"--folder", "/proc/no"}
                               << "host 'a': mkdir: cannot create directory";
    QVERIFY(QDir().mkpath(m_hosts->folder() + "/mine/lab/n0/thesis"));
    QTest::newRow("files of somebody else")
        << "a" << QStringList{"--folder", m_hosts->folder() + "/mine"}
        << "host 'a': " + m_hosts->folder() + "/mine/lab/n0 has other files";
    QTest::newRow("no ssh") << "a" << QStringList{"--ssh", "/no/ssh"}
                            << "cannot start '/no/ssh': No such file";
    // Of the second node.
    QTest::newRow("a port in use")
        << "a,b" << QStringList{}
        << QStringLiteral(
               "host 'b': another program listens on port %1; `--port` chooses others "
               "than %2 to %3")
               .arg(m_hosts->port() + 8)
               .arg(m_hosts->port() + 6)
               .arg(m_hosts->port() + 11);
  }
  void oneHostThatFailsEndsAll() {
    QFETCH(QString, hosts);
    QFETCH(QStringList, more);
    QFETCH(QString, sentence);
    const int taken = sentence.contains("another program") ? ListenOn(m_hosts->port() + 8) : -1;
    const Outcome up = Up(hosts, more);
    if (taken >= 0) ::close(taken);
    QCOMPARE(up.code, 1);
    QCOMPARE(up.output, QString());
    QVERIFY2(up.errors.contains(sentence), up.Text());
    QCOMPARE(up.errors.count(u'\n'), 1);
    QCOMPARE(AgentsOf(m_hosts->folder()), QStringList());
    // The history of an earlier cluster may be there.
    QVERIFY(!QFile::exists(m_hosts->home() + "/clusters/lab/n0/agent.json"));
    QVERIFY(!QFile::exists(m_hosts->home() + "/clusters/lab/hosts.json"));
    QVERIFY(!QFile::exists(m_hosts->home() + "/profiles/lab.json"));
    QVERIFY(QFile::exists(m_hosts->folder() + "/mine/lab/n0/thesis"));
  }

  void downTriesAgainWhereAHostWasNotReached() {
    const Outcome up = Up("a,late");
    QVERIFY2(up.code == 0, up.Text());
    QFile late(m_hosts->folder() + "/late");
    QVERIFY(late.open(QIODevice::WriteOnly));
    const Outcome down = Run({"down"});
    QCOMPARE(down.code, 1);
    QVERIFY2(down.errors.contains("host 'late' is not reached") &&
                 down.errors.contains("`down` again ends its agent"),
             down.Text());
    QVERIFY(late.remove());
    const Outcome again = Run({"down", "--yes"});
    QVERIFY2(again.code == 0, again.Text());
    QVERIFY(!QFile::exists(m_hosts->home() + "/clusters/lab/hosts.json"));
  }

  // The agents are not asked: each host ends its own.
  void ranksEndWithoutTheRegistrar() {
    const Outcome up = Up("a,b");
    QVERIFY2(up.code == 0, up.Text());
    const Outcome start = Run({"job", "start", "gpt-nano", "--mesh", "dp=2"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(AgentsOf(m_hosts->folder()).size() >= 6);  // keepers, agents, ranks
    QVERIFY(QFile::remove(m_hosts->home() + "/profiles/lab.json"));
    const Outcome down = Run({"down", "--cluster", "lab", "--yes"});
    QVERIFY2(down.code == 0, down.Text());
    QVERIFY2(down.output.contains("cluster 'lab' is down"), qPrintable(down.output));
    QCOMPARE(AgentsOf(m_hosts->folder()), QStringList());
  }

 private:
  Outcome Run(const QStringList& words) const {
    return RunProgram("tesseractl", words, EnvironmentWithHome(m_hosts->home()), 100);
  }
  Outcome Up(const QString& hosts, const QStringList& more = {}) const {
    return Run(QStringList{"up", "--hosts", hosts, "--gpus", "2", "--gpu-memory", "64M", "--port",
                           QString::number(m_hosts->port()), "--json", "--ssh",
                           m_hosts->command()} +
               more);
  }

  std::unique_ptr<SshHosts> m_hosts;
};
TESSERA_TEST(E2eSshTest)
#include "e2e_ssh_test.moc"
