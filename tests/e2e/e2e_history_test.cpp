// SPDX-License-Identifier: Apache-2.0
// The history of a cluster through the command line: records, metrics, events and export agree,
// also after the registrar's agent was killed.
#include <QDir>
#include <QFile>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/history/sqlite.h"
#include "tests/e2e/losses.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using tessera::test::FirstDevices;
using tessera::test::Json;
using tessera::test::LocalCluster;
using tessera::test::Outcome;

namespace {
const QString kJob = QStringLiteral("nano");

std::vector<Json> Lines(const QString& text) {
  std::vector<Json> lines;
  for (const QString& line : text.split(u'\n', Qt::SkipEmptyParts))
    lines.push_back(Json::parse(line.toStdString(), nullptr, false));
  return lines;
}
}  // namespace

class E2eHistoryTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome job = m_cluster->StartJob(kJob, "dp=2", FirstDevices(2));
    QVERIFY2(job.code == 0, job.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    QVERIFY(!m_cluster->Apply(kJob, "dp=2,tp=2", FirstDevices(4)).is_null());
    QVERIFY(m_cluster->GoesOn(kJob));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aRecordIsWhole() {
    const Json list = m_cluster->Ask({"history", "--job", kJob})["transactions"];
    QCOMPARE(list.size(), std::size_t{1});
    const QString id = QString::number(list[0]["id"].get<std::int64_t>());
    Json one = m_cluster->Ask({"history", id});
    QCOMPARE(one["version"].get<int>(), 1);
    one.erase("version");
    QCOMPARE(one.dump(), list[0].dump());
    QCOMPARE(one["result"].get<std::string>(), std::string("committed"));
    QVERIFY(one["phase_seconds"].contains("transferring"));
    VERIFY_DIGESTS(one["digest_before"], one["digest_after"]);
    const Outcome text = m_cluster->Run({"history", id});
    QCOMPARE(text.code, 0);
    for (const char* part : {"committed", "planned", "actual", "transferring", "digest", "flow"})
      QVERIFY2(text.output.contains(QString::fromLatin1(part)), text.Text());
    const Outcome none = m_cluster->Run({"history", "999"});
    QCOMPARE(none.code, 1);
    QVERIFY(none.errors.contains("no transaction 999"));
  }

  void metricsAreWholeAfterAKilledRegistrar() {
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent.has_value());
    QVERIFY(LocalCluster::Kill(*agent));
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Status().is_object(); }));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    const Outcome metrics = m_cluster->Run({"job", "metrics", kJob, "--json"});
    QVERIFY(tessera::test::NumStepsWithoutGap(metrics.output) > 10);
  }

  void metricsAreCutAsAsked() {
    const auto from =
        Lines(m_cluster->Run({"job", "metrics", kJob, "--from-step", "4", "--json"}).output);
    QVERIFY(!from.empty());
    QCOMPARE(from.front()["step"].get<int>(), 4);
    QCOMPARE(
        Lines(m_cluster->Run({"job", "metrics", kJob, "--limit", "3", "--json"}).output).size(),
        std::size_t{3});
    QVERIFY(
        Lines(m_cluster->Run({"job", "metrics", kJob, "--from", "1h", "--json"}).output).size() >=
        from.size());
  }

  void eventsAreFiltered() {
    const auto all = Lines(m_cluster->Run({"events", "--json", "--limit", "20000"}).output);
    QVERIFY(all.size() > 3);
    std::int64_t last = 0;
    for (const Json& event : all) {
      QCOMPARE(event["sequence"].get<std::int64_t>(), last + 1);
      last = event["sequence"].get<std::int64_t>();
    }
    for (const Json& event :
         Lines(m_cluster->Run({"events", "--severity", "warning", "--json"}).output))
      QVERIFY(event["severity"] != "info");
    const auto txn = Lines(m_cluster->Run({"events", "--text", "RECONFIGURE", "--json"}).output);
    QCOMPARE(txn.size(), std::size_t{1});
  }

  void exportSaysTheSame() {
    const QString csv = m_cluster->home() + "/samples.csv";
    Outcome outcome =
        m_cluster->Run({"export", "--what", "samples", "--job", kJob, "--output", csv});
    QVERIFY2(outcome.code == 0, outcome.Text());
    QFile file(csv);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    const auto rows = text.split('\n');
    QVERIFY(rows.front().startsWith("job,step,time [s since 1970]"));
    QVERIFY(rows[1].startsWith("nano,1,"));
    QVERIFY(rows.size() > 10);
    // A file that is there stays as it is.
    outcome = m_cluster->Run({"export", "--what", "events", "--output", csv});
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.errors.contains("--force"), outcome.Text());
    file.seek(0);
    QCOMPARE(file.readAll(), text);
    outcome = m_cluster->Run({"export", "--what", "events", "--output", csv, "--force"});
    QVERIFY2(outcome.code == 0, outcome.Text());
    QCOMPARE(QDir(m_cluster->home()).entryList({"samples.csv*"}).size(), 1);

    std::set<std::string> kinds;
    for (const Json& row : Lines(m_cluster->Run({"export", "--what", "all"}).output))
      kinds.insert(row["kind"].get<std::string>());
    QVERIFY((kinds == std::set<std::string>{"event", "sample", "transaction"}));
    QVERIFY(
        m_cluster->Run({"export", "--what", "all", "--from", "2001-01-01", "--to", "2001-01-02"})
            .output.isEmpty());
  }

  void aMoveThatCannotBeRecordedIsRefused() {
    // Another program holds the write lock. As with a full disk, no write succeeds.
    const auto path = (m_cluster->home() + "/clusters/t/n0/history.db").toStdString();
    auto other =
        tessera::engine::Database::Open(path, tessera::engine::Database::Durability::kNormal);
    QVERIFY2(other.has_value(), other ? "" : other.error().ToString().c_str());
    QVERIFY((*other)->Execute("BEGIN IMMEDIATE").has_value());
    const auto problem = [&] { return m_cluster->Status()["history_problem"]; };
    QVERIFY(LocalCluster::WaitFor([&] { return problem().is_string(); }, 20));
    const QString status = m_cluster->Run({"status"}).output;
    QVERIFY2(status.section(u'\n', 0, 0).contains("history cannot be written: "),
             qPrintable(status));
    const Outcome doctor = m_cluster->Run({"doctor"});
    QCOMPARE(doctor.code, 1);
    QVERIFY2(doctor.output.contains("end the program that holds the file"),
             qPrintable(doctor.output));
    const auto changes = [&] {
      return Lines(m_cluster->Run({"events", "--text", "RECONFIGURE", "--json"}).output).size();
    };
    const std::size_t before = changes();
    const std::int64_t epoch = m_cluster->Job(kJob)["epoch"].get<std::int64_t>();
    const QStringList move{"apply", kJob, "--mesh", "dp=2", "--devices", FirstDevices(2), "--yes"};
    const Outcome refused = m_cluster->Run(move);
    QVERIFY2(refused.code == 1 && refused.errors.contains("the transaction cannot be recorded: "),
             refused.Text());
    QCOMPARE(m_cluster->Job(kJob)["epoch"].get<std::int64_t>(), epoch);
    QVERIFY(m_cluster->GoesOn(kJob));
    const Outcome allowed = m_cluster->Run(move + QStringList{"--unrecorded"});
    QVERIFY2(allowed.code == 0, allowed.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    QVERIFY((*other)->Execute("ROLLBACK").has_value());
    QVERIFY(LocalCluster::WaitFor([&] { return problem().is_null(); }, 20));
    // What could not be written meanwhile is written now.
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const Json list = m_cluster->Ask({"history", "--job", kJob})["transactions"];
          return list.size() == 2 && list[0]["result"] == "committed";
        },
        20));
    QCOMPARE(changes(), before + 1);
    QVERIFY(m_cluster->Run({"events", "--source", "history"}).output.contains("cannot be written: "));
  }

  void aStoppedClusterKeepsItsHistory() {
    const Json before = m_cluster->Ask({"history"})["transactions"];
    QVERIFY(!before.empty());
    const auto newest = before[0]["id"].get<std::int64_t>();
    QVERIFY(m_cluster->End().isEmpty());
    QCOMPARE(m_cluster->Ask({"history", "--cluster", "t"})["transactions"].dump(), before.dump());
    QCOMPARE(m_cluster->Ask({"history", QString::number(newest)})["id"].get<std::int64_t>(), newest);
    const auto events = Lines(m_cluster->Run({"events", "--limit", "20000", "--json"}).output);
    QVERIFY(std::ranges::any_of(events, [](const Json& event) {
      return event["text"].get<std::string>().ends_with("goes down on request");
    }));
    const auto metrics = Lines(m_cluster->Run({"job", "metrics", kJob, "--json"}).output);
    QVERIFY(metrics.size() > 3);
    QVERIFY(m_cluster->Run({"export", "--what", "all"}).output.contains("reconfigure nano"));

    // The next cluster of the name goes on with it, and uses no number again.
    const Outcome up = m_cluster->Run(
        {"up", "--cluster", "t", "--nodes", "1", "--gpus", "2", "--gpu-memory", "64M"});
    QVERIFY2(up.code == 0, up.Text());
    QCOMPARE(m_cluster->Ask({"history"})["transactions"].dump(), before.dump());
    const auto more = Lines(m_cluster->Run({"events", "--limit", "20000", "--json"}).output);
    QVERIFY(more.size() > events.size());
    QCOMPARE(more[events.size() - 1].dump(), events.back().dump());
    QVERIFY(m_cluster->StartJob(kJob, "dp=1,tp=1", "n0g0").code == 0);
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const Json moved = m_cluster->Apply(kJob, "dp=1,tp=2", "n0g0,n0g1");
    QVERIFY2(moved.is_object() && moved.value("result", "") == "committed", moved.dump().c_str());
    const Json after = m_cluster->Ask({"history"})["transactions"];
    QCOMPARE(after.size(), before.size() + 1);
    QVERIFY(after[0]["id"].get<std::int64_t>() > newest);

    // The jobs of both clusters had one name: the latest is meant, unless earlier ones are asked
    // for.
    const auto changes = [&](const QStringList& options) {
      return m_cluster->Ask(QStringList{"history", "--job", kJob} + options)["transactions"].size();
    };
    QCOMPARE(changes({}), std::size_t{1});
    QCOMPARE(changes({"--earlier"}), after.size());
    const auto steps = [&](const QStringList& options) {
      return Lines(m_cluster->Run(QStringList{"job", "metrics", kJob, "--json"} + options).output);
    };
    const auto latest = steps({}), all = steps({"--earlier"});
    QCOMPARE(latest.front()["step"].get<int>(), 1);
    QVERIFY(latest.front()["job_started"] == latest.back()["job_started"]);
    QCOMPARE(all.front().dump(), metrics.front().dump());
    QVERIFY(all.front()["job_started"] != latest.front()["job_started"]);
    QVERIFY(all.size() >= metrics.size() + latest.size());
  }

 private:
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eHistoryTest)
#include "e2e_history_test.moc"
