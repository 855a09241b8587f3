// SPDX-License-Identifier: Apache-2.0
#include "engine/history/history.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <limits>
#include <string>

#include "engine/history/schema.h"
#include "engine/history/sqlite.h"
#include "tests/support/random.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

HistoryEntry AnEntry(std::int64_t id, const std::string& job) {
  HistoryEntry e;
  e.id = id;
  e.job = job;
  e.from = "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3";
  e.to = "dp=4,tp=2,pp=1 on 2x4";
  e.started = 1.7e9 + static_cast<double>(id);
  e.result = "rolled_back";
  e.reason = "joiner 'n1g2' lost; \"quoted\" \xc3\xa9";
  e.phases = {{"pausing", 0.25}, {"transferring", 1.5}};
  e.pause = 2.125;
  e.bytes_moved = std::int64_t{1} << 40;
  e.volume_bound = (std::int64_t{1} << 40) - 1;
  e.digest_before = "00112233445566ff";
  e.digest_after = "00112233445566ff";
  e.step = 123;
  e.epoch = 7;
  return e;
}

Event AnEvent(const std::string& text) {
  Event event;
  event.time = 12.5;
  event.severity = Severity::kWarning;
  event.source = "n0";
  event.text = text;
  return event;
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT
 private slots:
  void init() { QVERIFY(folder_.isValid()); }

  void transactionsComeBackNewestFirst() {
    auto history = History::Open(Path("transactions.db"));
    VERIFY_OK(history);
    for (std::int64_t id = 2; id < 8; ++id) {
      const auto put = (*history)->PutTransaction(AnEntry(id, id % 2 == 0 ? "a" : "b"));
      VERIFY_OK(put);
    }
    const auto all = (*history)->Transactions("", 0);
    VERIFY_OK(all);
    QCOMPARE(std::ssize(*all), 6);
    QVERIFY(all->front() == AnEntry(7, "b") && all->back() == AnEntry(2, "a"));
    const auto of_a = (*history)->Transactions("a", 2);
    VERIFY_OK(of_a);
    QVERIFY((*of_a == std::vector<HistoryEntry>{AnEntry(6, "a"), AnEntry(4, "a")}));
    QVERIFY((*history)->Transactions("nobody", 0)->empty());
  }

  void aTransactionIsReplacedWithItsPhases() {
    auto history = History::Open(Path("replace.db"));
    VERIFY_OK(history);
    HistoryEntry entry = AnEntry(2, "a");
    entry.result.clear();
    QVERIFY((*history)->PutTransaction(entry));
    entry.result = "committed";
    entry.phases = {{"resuming", 0.5}};
    QVERIFY((*history)->PutTransaction(entry));
    QVERIFY((*(*history)->Transactions("", 0) == std::vector<HistoryEntry>{entry}));
  }

  void eventsAreNumberedForGood() {
    const std::string path = Path("events.db");
    {
      auto history = History::Open(path);
      VERIFY_OK(history);
      QCOMPARE(*(*history)->LastEvent(), 0);
      for (int i = 1; i <= 5; ++i) {
        Event event = AnEvent("text " + std::to_string(i));
        const auto added = (*history)->AddEvent(event);
        VERIFY_OK(added);
        QCOMPARE(event.sequence, i);
      }
    }
    auto history = History::Open(path);
    VERIFY_OK(history);
    const auto events = (*history)->Events(2, 2);
    VERIFY_OK(events);
    QCOMPARE(std::ssize(*events), 2);
    Event expected = AnEvent("text 3");
    expected.sequence = 3;
    QVERIFY(events->front() == expected);
    QCOMPARE(events->back().sequence, 4);
    Event next = AnEvent("");
    QVERIFY((*history)->AddEvent(next));
    QCOMPARE(next.sequence, 6);
    QCOMPARE(*(*history)->LastEvent(), 6);
    QCOMPARE(std::ssize(*(*history)->Events(0, 0)), 6);
  }

  void samplesOfOneStepReplaceEachOther() {
    auto history = History::Open(Path("samples.db"));
    VERIFY_OK(history);
    std::vector<Sample> samples;
    for (std::int64_t step = 0; step < 100; ++step) {
      samples.push_back({"j", step, 5.5 - 0.01 * static_cast<double>(step), 0.5, 1e5, 1.0});
    }
    QVERIFY((*history)->AddSamples(samples));
    const Sample again{"j", 50, 1.25, 0.25, 2e5, 2.0};
    QVERIFY((*history)->AddSamples(std::span(&again, 1)));
    samples[50] = again;
    QVERIFY(*(*history)->Samples("j", -1, 0) == samples);
    const auto some = (*history)->Samples("j", 49, 3);
    VERIFY_OK(some);
    QVERIFY((*some == std::vector<Sample>(samples.begin() + 50, samples.begin() + 53)));
    QVERIFY((*history)->Samples("other", -1, 0)->empty());
  }

  void lossesThatAreNoNumbersComeBack() {
    auto history = History::Open(Path("nan.db"));
    VERIFY_OK(history);
    const double inf = std::numeric_limits<double>::infinity();
    const Sample sample{"j", 1, std::nan(""), inf, 0.0, 0.0};
    QVERIFY((*history)->AddSamples(std::span(&sample, 1)));
    const auto read = (*history)->Samples("j", 0, 1);
    VERIFY_OK(read);
    QVERIFY(std::isnan(read->front().loss));
    QCOMPARE(read->front().grad_norm, inf);
  }

  void migrationsRunOnceAndInOrder() {
    const char* const first =
        "-- version 1\nCREATE TABLE t (a INTEGER);\nINSERT INTO t VALUES (1);\n";
    const std::string second =
        std::string(first) + "-- version 2\nALTER TABLE t ADD COLUMN b INTEGER DEFAULT 5;\n";
    const std::string path = Path("migrate.db");
    auto database = Database::Open(path, Database::Durability::kNormal);
    VERIFY_OK(database);
    QVERIFY(Migrate(**database, first));
    QVERIFY(Migrate(**database, first));
    QVERIFY(Migrate(**database, second));
    QVERIFY(Migrate(**database, second));
    auto query = (*database)->Prepare("SELECT count(*), sum(a), sum(b) FROM t");
    VERIFY_OK(query);
    QVERIFY(*query->Step());
    QCOMPARE(query->Int(0), 1);
    QCOMPARE(query->Int(2), 5);
    query->Reset();
    const auto older = Migrate(**database, first);
    VERIFY_ERROR(older, ErrorCode::kFailedPrecondition,
                 path + ": schema version 2, this program knows up to 1");
  }

  void aFailedMigrationLeavesTheFileAsItWas() {
    auto database = Database::Open(Path("broken.db"), Database::Durability::kNormal);
    VERIFY_OK(database);
    const std::string good = "-- version 1\nCREATE TABLE t (a INTEGER);\n";
    const std::string broken =
        good + "-- version 2\nCREATE TABLE u (a INTEGER);\nCREATE TABLE t (a);\n";
    QVERIFY(!Migrate(**database, broken));
    auto query = (*database)->Prepare("SELECT count(*) FROM sqlite_master");
    VERIFY_OK(query);
    QVERIFY(*query->Step());
    QCOMPARE(query->Int(0), 0);
    query->Reset();
    QVERIFY(Migrate(**database, good));
  }

  void aNewerFileIsRefusedNamingBothVersions() {
    const std::string path = Path("newer.db");
    QVERIFY(History::Open(path));
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("PRAGMA user_version = 77"));
    }
    VERIFY_ERROR(History::Open(path), ErrorCode::kFailedPrecondition,
                 path + ": schema version 77, this program knows up to 1");
  }

  void filesThatAreNoDatabaseAreErrors() {
    QFile text(QString::fromStdString(Path("text.db")));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(QByteArray(8192, 'x'));
    text.close();
    VERIFY_ERROR(History::Open(Path("text.db")), ErrorCode::kDataLoss, "text.db");
    VERIFY_ERROR(History::Open(Path("no/such/folder.db")), ErrorCode::kFailedPrecondition,
                 "folder.db");
  }

  // Bytes are overwritten at random places: any error will do, a crash will not.
  void damagedFilesNeverCrash() {
    std::mt19937_64 rng(test::Seed());
    const std::string whole = Path("whole.db");
    {
      auto history = History::Open(whole);
      VERIFY_OK(history);
      for (std::int64_t id = 2; id < 40; ++id) {
        QVERIFY((*history)->PutTransaction(AnEntry(id, "a")));
        Event event = AnEvent("text");
        QVERIFY((*history)->AddEvent(event));
      }
    }
    QFile source(QString::fromStdString(whole));
    QVERIFY(source.open(QIODevice::ReadOnly));
    const QByteArray bytes = source.readAll();
    int errors = 0;
    for (int i = 0; i < 60; ++i) {
      QByteArray damaged = bytes;
      for (int k = 0; k < 20; ++k) {
        damaged[static_cast<int>(rng() % static_cast<std::uint64_t>(bytes.size()))] =
            static_cast<char>(rng() & 0xff);
      }
      if (i % 3 == 0)
        damaged.truncate(static_cast<int>(rng() % static_cast<std::uint64_t>(bytes.size())));
      const std::string path = Path("damaged" + std::to_string(i) + ".db");
      QFile target(QString::fromStdString(path));
      QVERIFY(target.open(QIODevice::WriteOnly));
      target.write(damaged);
      target.close();
      auto history = History::Open(path);
      if (!history) {
        ++errors;
        continue;
      }
      errors += (*history)->Transactions("", 0) ? 0 : 1;
      errors += (*history)->Events(0, 0) ? 0 : 1;
    }
    QVERIFY(errors > 0);
  }

  void aLockHeldForLongIsAnErrorNotAHang() {
    const std::string path = Path("locked.db");
    auto history = History::Open(path);
    VERIFY_OK(history);
    auto other = Database::Open(path, Database::Durability::kNormal);
    VERIFY_OK(other);
    QVERIFY((*other)->Execute("BEGIN IMMEDIATE"));
    Event event = AnEvent("refused");
    event.sequence = 99;
    const auto refused = (*history)->AddEvent(event);
    VERIFY_ERROR(refused, ErrorCode::kUnavailable, "locked");
    QCOMPARE(event.sequence, 99);
    QVERIFY((*other)->Execute("ROLLBACK"));
    QVERIFY((*history)->AddEvent(event));
    QCOMPARE(event.sequence, 1);
  }

  void survivesKillNine() {
    const std::string path = Path("killed.db");
    int pipe_ends[2];
    QCOMPARE(pipe(pipe_ends), 0);
    const pid_t child = fork();
    QVERIFY(child >= 0);
    if (child == 0) {
      auto history = History::Open(path);
      bool ok = history.has_value();
      for (std::int64_t id = 2; ok && id < 12; ++id) {
        ok = (*history)->PutTransaction(AnEntry(id, "a")).has_value();
      }
      const char said = ok ? 'y' : 'n';
      if (write(pipe_ends[1], &said, 1) == 1) pause();  // killed here, with the file open
      _exit(1);
    }
    char said = 0;
    QCOMPARE(read(pipe_ends[0], &said, 1), ssize_t{1});
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    QCOMPARE(said, 'y');
    auto history = History::Open(path);
    VERIFY_OK(history);
    QCOMPARE(std::ssize(*(*history)->Transactions("a", 0)), 10);
  }

 private:
  std::string Path(const std::string& name) {
    return folder_.filePath(QString::fromStdString(name)).toStdString();
  }
  QTemporaryDir folder_;
};
QTEST_APPLESS_MAIN(HistoryTest)
#include "history_test.moc"
