// SPDX-License-Identifier: Apache-2.0
// The job table of the registrar is lost or damaged while jobs train: nothing of them is freed or
// used for others, and they come back from their nodes.
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/history/journal.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
const QString kRebuild = QStringLiteral("registrar rebuild");
enum class Loss : std::uint8_t { kMissing, kEmptied, kDamaged };
const QStringList kParts = {QString(), QStringLiteral("-wal"), QStringLiteral("-shm")};

std::string ReasonOf(const Json& job) {
  return job.is_object() && job["reason"].is_string() ? job["reason"].get<std::string>() : "";
}
}  // namespace

class E2eRegistrarLossTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    LocalCluster::Options options;
    options.nodes = 2;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanup() { m_cluster.reset(); }

  void aLostTableComesBackFromTheNodes_data() {
    QTest::addColumn<Loss>("loss");
    QTest::newRow("missing") << Loss::kMissing;
    QTest::newRow("emptied") << Loss::kEmptied;
    QTest::newRow("damaged") << Loss::kDamaged;
  }
  void aLostTableComesBackFromTheNodes() {
    QFETCH(const Loss, loss);
    const bool damaged = loss == Loss::kDamaged;
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), QStringLiteral("n0g0,n1g0"));
    QVERIFY2(started.code == 0, started.Text());
    // Its table is of a later epoch than that of any new job.
    const Json moved = m_cluster->Apply(kJob, QStringLiteral("dp=2"), QStringLiteral("n0g1,n1g0"));
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Run({"job", "snapshots", kJob, "20"}).code, 0);
    QVERIFY(m_cluster->WaitJob(kJob, hasSnapshot));
    const Json before = m_cluster->Job(kJob);
    loseTheTable(loss);

    // The registrar says what it does not know, and refuses to use it.
    const char* const says = "n0, n1 hold job 'nano' (epoch 2) that this registrar does not know";
    QVERIFY(
        m_cluster->WaitJob(kJob, [&](const Json& job) { return ReasonOf(job).starts_with(says); }));
    refuses({"job", "start", "gpt-nano", "--name", kJob, "--mesh", "dp=1", "--devices", "n0g0"});
    refuses({"job", "start", "gpt-nano", "--name", "other", "--mesh", "dp=1", "--devices", "n0g1"});
    refuses({"job", "stop", kJob, "--yes"});
    refuses({"apply", kJob, "--mesh", "dp=1", "--devices", "n0g0", "--yes"});
    refuses({"apply", kJob, "--mesh", "dp=2,tp=2", "--yes"});
    QVERIFY(holdsState("n0g1") && holdsState("n1g0"));
    const Outcome events = m_cluster->Run({"events", "--limit", "50"});
    QVERIFY2(!damaged || events.output.contains(QStringLiteral("registrar.db.bad")), events.Text());

    // A restart of the registrar changes nothing about that.
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(
        m_cluster->WaitJob(kJob, [&](const Json& job) { return ReasonOf(job).starts_with(says); }));
    QVERIFY(holdsState("n0g1") && holdsState("n1g0"));

    if (damaged) {
      const Outcome rebuilt = m_cluster->Run({"registrar", "rebuild"});
      QVERIFY2(rebuilt.code == 0 && rebuilt.output.startsWith("nano: restored from its nodes\n") &&
                   rebuilt.output.endsWith("are the defaults: set them again.\n"),
               rebuilt.Text());
    } else {
      const Outcome rebuilt = m_cluster->Run({"--json", "registrar", "rebuild"});
      QVERIFY2(rebuilt.code == 0 && rebuilt.LastJson()["jobs"] == Json::array({"nano"}),
               rebuilt.Text());
    }
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job.is_object() && job["state"] == "running" && job["epoch"] == 2 &&
             job["layout_hash"] == before["layout_hash"];
    }));
    QVERIFY(m_cluster->GoesOn(kJob));
    QVERIFY(m_cluster->Step(kJob) > before["step"]);
    // Nobody has turned its snapshots off, so its nodes keep the newest until somebody does.
    QVERIFY(hasSnapshot(m_cluster->Job(kJob)));
    const Outcome shown = m_cluster->Run({"job", "list"});
    QVERIFY2(shown.output.contains("nano: no further snapshots, kept: step "), shown.Text());
    QCOMPARE(m_cluster->Run({"job", "snapshots", kJob, "off"}).code, 0);
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) { return !hasSnapshot(job); }));
    // It can be changed, paused and stopped as before.
    const Json changed = m_cluster->Apply(kJob, QStringLiteral("dp=1"), QStringLiteral("n1g0"));
    QVERIFY2(changed.is_object() && changed["result"] == "committed", changed.dump().c_str());
    VERIFY_DIGESTS(changed["digest_before"], changed["digest_after"]);
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Run({"job", "pause", kJob}).code, 0);
    QCOMPARE(m_cluster->Run({"job", "resume", kJob}).code, 0);
    QCOMPARE(m_cluster->Run({"job", "stop", kJob, "--yes"}).code, 0);
    QVERIFY(LocalCluster::WaitFor([&] { return !holdsState("n0g1") && !holdsState("n1g0"); }));
  }

  // Nodes still take part in a change whose decisions were in the lost file.
  void aChangeThatRanIsRolledBack() {
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), QStringLiteral("n0g0,n1g0"));
    QVERIFY2(started.code == 0, started.Text());
    const auto apply = m_cluster->Start({"apply", kJob, "--mesh", "dp=2", "--devices", "n0g1,n1g1",
                                         "--at-step", "1000000000", "--overlap", "off",
                                         "--yes"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "pausing"; }));
    loseTheTable(Loss::kMissing);
    const Outcome unknown = LocalCluster::Finish(*apply);
    QVERIFY2(unknown.code == 3, unknown.Text());
    Outcome rebuilt;
    QVERIFY2(LocalCluster::WaitFor([&] {
               rebuilt = m_cluster->Run({"registrar", "rebuild"});
               return rebuilt.output.contains(QStringLiteral("nano: restored from its nodes"));
             }),
             rebuilt.Text());
    const Outcome events = m_cluster->Run({"events"});
    QVERIFY2(events.output.contains(QStringLiteral("is rolled back: it was not committed when")),
             events.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json job = m_cluster->Job(kJob);
    QVERIFY2(job["epoch"] == 1 && job["devices"] == Json::array({"n0g0", "n1g0"}),
             job.dump().c_str());
    QVERIFY(LocalCluster::WaitFor([&] { return !holdsState("n0g1") && !holdsState("n1g1"); }));
    const Json moved = m_cluster->Apply(kJob, QStringLiteral("dp=2"), QStringLiteral("n0g1,n1g1"));
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // It has the promises of n0, so n0 does not run without it. Clients are told.
  void aDamagedJournalIsNamedToClients() {
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), QStringLiteral("n0g0,n1g0"));
    QVERIFY2(started.code == 0, started.Text());
    const QString file = journalOf(0);
    damageJournal(0);
    m_cluster->Reconnect();
    Outcome refused;
    QVERIFY2(LocalCluster::WaitFor([&] {
               refused = m_cluster->Run({"job", "list"});
               return refused.errors.contains(QStringLiteral("its journal is damaged"));
             }),
             refused.Text());
    QVERIFY(refused.code != 0);
    QVERIFY2(refused.errors.contains(file), refused.Text());
    const QString kill = QStringLiteral("`kill %1`").arg(m_cluster->Keeper(0).pid);
    QVERIFY2(refused.errors.contains(kill), refused.Text());
    QVERIFY2(!refused.errors.contains(QStringLiteral("no process listens")), refused.Text());

    putJournalBack(0);
    m_cluster->Reconnect();
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->AllAlive(); }, 60));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // The node takes no part, and everyone who asks the registrar is told why.
  void aDamagedJournalOfAnotherNodeIsNamed_data() {
    QTest::addColumn<QByteArray>("row");  // empty: the whole file
    QTest::newRow("the whole file") << QByteArray();
    QTest::newRow("the row of a job that it holds") << QByteArray("job/nano");
    QTest::newRow("the row of its keeper") << QByteArray("keeper");
  }
  void aDamagedJournalOfAnotherNodeIsNamed() {
    QFETCH(const QByteArray, row);
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), QStringLiteral("n0g0,n1g0"));
    QVERIFY2(started.code == 0, started.Text());
    std::string before;
    if (row.isEmpty()) {
      damageJournal(1);
    } else {
      before = setRow(1, row.toStdString(), "{");
      QVERIFY(!before.empty());
      QVERIFY(restartAgent(1));
    }
    const auto problem = [&] {
      const Json status = m_cluster->Status();
      const Json reason = status.is_object() ? status["nodes"][1]["problem"] : Json();
      return QString::fromStdString(reason.is_string() ? reason.get<std::string>() : "");
    };
    QVERIFY(LocalCluster::WaitFor([&] { return !problem().isEmpty(); }, 60));
    const auto waiting = m_cluster->Agent(1);
    QVERIFY(waiting);
    const QString why = problem();
    const QString begin = QStringLiteral("n1 cannot run, because its journal is damaged (");
    QVERIFY2(why.startsWith(begin), qPrintable(why));
    QVERIFY2(why.contains(QStringLiteral("put one of yours back as ") + journalOf(1)),
             qPrintable(why));
    QVERIFY2(why.contains(QStringLiteral("`kill %1`").arg(m_cluster->Keeper(1).pid)),
             qPrintable(why));
    QVERIFY2(row.isEmpty() ||
                 why.contains(QStringLiteral("journal row '%1' is damaged").arg(QString(row))),
             qPrintable(why));
    QVERIFY(m_cluster->Run({"status"}).output.contains(why));
    QVERIFY(m_cluster->Run({"events"}).output.contains(why));
    const Outcome doctor = m_cluster->Run({"doctor"});
    QVERIFY2(doctor.output.contains(begin), doctor.Text());
    QVERIFY(doctor.code != 0);
    QVERIFY2(doctor.output.contains(QStringLiteral("→ No other node has a copy of it")),
             doctor.Text());
    QVERIFY(m_cluster->Agent(1) == waiting);  // it waits, and does not restart

    if (row.isEmpty()) {
      putJournalBack(1);
    } else {
      setRow(1, row.toStdString(), before);
    }
    QVERIFY(
        LocalCluster::WaitFor([&] { return m_cluster->AllAlive() && problem().isEmpty(); }, 60));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // The row is of a job whose memory the node no longer has.
  void aRowThatIsNotNeededIsSetAside() {
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), QStringLiteral("n0g0,n1g0"));
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(setRow(1, "job/gone", "{").empty());
    QVERIFY(restartAgent(1));
    const QString said = QStringLiteral("row 'job/gone' of journal.db cannot be read");
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Run({"events"}).output.contains(said); },
                                  60));
    const Outcome doctor = m_cluster->Run({"doctor"});
    QVERIFY2(doctor.output.contains(QStringLiteral("are kept aside: unreadable/job/gone")),
             doctor.Text());
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->AllAlive(); }, 60));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

 private:
  QString journalOf(int node) const {
    return QFileInfo(m_cluster->ConfigOf(node)).dir().filePath(QStringLiteral("journal.db"));
  }
  /// Keeps the journal beside its place, and restarts the agent.
  void damageJournal(int node) {
    const QString file = journalOf(node);
    const auto agent = m_cluster->Agent(node);
    QVERIFY(agent && SendSignal(agent->pid, SIGSTOP));
    for (const QString& part : kParts) {
      if (QFile::exists(file + part)) {
        QVERIFY(QFile::rename(file + part, file + QStringLiteral(".mine") + part));
      }
    }
    {
      QFile damaged(file);
      QVERIFY(damaged.open(QIODevice::WriteOnly));
      QVERIFY(damaged.write(QByteArray(8192, 'x')) == 8192);
    }
    QVERIFY(LocalCluster::Kill(*agent));
  }
  /// It is read only when it is complete.
  void putJournalBack(int node) {
    const QString file = journalOf(node);
    const auto waiting = m_cluster->Agent(node);
    QVERIFY(waiting && SendSignal(waiting->pid, SIGSTOP));
    for (const QString& part : kParts) {
      QFile::remove(file + part);
      if (QFile::exists(file + QStringLiteral(".mine") + part)) {
        QVERIFY(QFile::rename(file + QStringLiteral(".mine") + part, file + part));
      }
    }
    QVERIFY(SendSignal(waiting->pid, SIGCONT));
  }
  /// \return what the row was before; empty: there was none
  std::string setRow(int node, const std::string& key, const std::string& value) {
    const auto journal = tessera::engine::Journal::Open(journalOf(node).toStdString());
    if (!journal) qFatal("%s", journal.error().ToString().c_str());
    const auto before = (*journal)->Get(key);
    if (!before || !(*journal)->Put(key, value)) qFatal("no row");
    return before->value_or("");
  }
  bool restartAgent(int node) {
    const auto agent = m_cluster->Agent(node);
    return agent && LocalCluster::Kill(*agent);
  }
  /// The agent of n0 must not write it again, so it is killed first.
  void loseTheTable(Loss loss) {
    const QString table =
        QFileInfo(m_cluster->ConfigOf(0)).dir().filePath(QStringLiteral("registrar.db"));
    QVERIFY(QFile::exists(table));
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && SendSignal(agent->pid, SIGSTOP));
    for (const char* end : {"-wal", "-shm"}) QFile::remove(table + QLatin1String(end));
    if (loss == Loss::kMissing) {
      QVERIFY(QFile::remove(table));
    } else {
      QFile file(table);
      const QByteArray rest(loss == Loss::kDamaged ? 8192 : 0, 'x');
      QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
      QVERIFY(file.write(rest) == rest.size());
    }
    QVERIFY(LocalCluster::Kill(*agent));
  }
  void refuses(const QStringList& words) {
    const Outcome outcome = m_cluster->Run(words);
    QVERIFY2(outcome.code != 0 && outcome.errors.contains(kRebuild), outcome.Text());
  }
  static bool hasSnapshot(const Json& job) {
    return job.is_object() && job["snapshots"]["step"].is_number();
  }
  bool holdsState(const char* device) const {
    const Json status = m_cluster->Status();
    if (!status.is_object()) return false;
    for (const Json& node : status["nodes"]) {
      for (const Json& row : node["devices"]) {
        if (row["name"] == device) return row["used_bytes"] > 0;
      }
    }
    return false;
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRegistrarLossTest)
#include "e2e_registrar_loss_test.moc"
