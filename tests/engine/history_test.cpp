// SPDX-License-Identifier: Apache-2.0
#include "engine/history/history.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "engine/files/file_system.h"
#include "engine/history/decimate.h"
#include "engine/history/schema.h"
#include "engine/history/sqlite.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

/// The f_type that statfs returns in this program; 0: the true one.
std::int64_t file_system_type = 0;

}  // namespace

// In place of that of the C library, for the whole test program.
extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
  const long result = ::syscall(SYS_statfs, path, facts);
  if (result == 0 && file_system_type != 0) {
    facts->f_type = static_cast<decltype(facts->f_type)>(file_system_type);
  }
  return static_cast<int>(result);
}

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
  e.from_options = {true, 0};
  e.to_options = {true, 4};
  e.requester = "tesseractl 0.1.0, lena@lab3";
  e.kept = 10;
  e.device = 20;
  e.host = 30;
  e.network = 40;
  e.pause_estimate = 1.75;
  e.in_rounds = {std::int64_t{1} << 26, 5, {{{0, 1}, 7, 8}, {{1, 0}, 9, 9}}};
  e.gradients_planned = 50;
  e.gradients_moved = 60;
  e.kind = ChangeKind::kHandIn;
  e.gap = 2.5;
  e.flows = {{{0, 1}, {1, 0}, 5, 7, 2.5e6}, {{0, 1}, {10, 2}, 9, 9, 0}};
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

/// Steps first…last of a job, one per second, `later` seconds after the epoch.
std::vector<Sample> Curve(const std::string& job, std::int64_t first, std::int64_t last,
                          double later = 0) {
  std::vector<Sample> samples;
  for (std::int64_t step = first; step <= last; ++step) {
    const auto s = static_cast<double>(step);
    samples.push_back({job, step, 5.5 - 0.01 * s, 0.5, 1e5, later + s});
  }
  return samples;
}

/// The samples without the numbers of the history.
std::vector<Sample> Plain(Result<std::vector<Sample>> samples) {
  if (!samples) return {};
  for (Sample& sample : *samples) sample.sequence = 0;
  return *samples;
}

/// The statements of `schema` up to and with a version.
std::string SchemaUpTo(int version) {
  const std::string schema = kHistorySchema;
  return schema.substr(0, schema.find("-- version " + std::to_string(version + 1)));
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT
 private slots:
  void init() { QVERIFY(folder_->isValid()); }

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
    entry.flows = {{{2, 0}, {3, 0}, 1, 1, 1}};
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

  void theNewestStepMadeAgainIsReplaced() {
    auto history = History::Open(Path("samples.db"));
    VERIFY_OK(history);
    QVERIFY((*history)->AddSamples(Curve("j", 1, 100)));
    const Sample again{"j", 100, 1.25, 0.25, 2e5, 200};
    QVERIFY((*history)->AddSamples(std::span(&again, 1)));
    auto expected = Curve("j", 1, 100);
    expected.back() = again;
    QVERIFY(Plain((*history)->Samples("j", -1, 0)) == expected);
    const auto some = Plain((*history)->Samples("j", 49, 3));
    QVERIFY((some == std::vector<Sample>(expected.begin() + 49, expected.begin() + 52)));
    QVERIFY((*history)->Samples("other", -1, 0)->empty());
    QCOMPARE(std::ssize(*(*history)->SamplesBetween("j", {}, 0)), 100);
  }

  // A job returns from step 60 to 40, and later starts again under its name.
  void stepsMadeAgainUndoWhatFollowed() {
    auto history = History::Open(Path("undone.db"));
    VERIFY_OK(history);
    QVERIFY((*history)->AddSamples(Curve("j", 1, 60)));
    QVERIFY((*history)->AddSamples(Curve("k", 1, 5)));
    const auto second = Curve("j", 41, 50, 100);
    QVERIFY((*history)->AddSamples(second));
    auto expected = Curve("j", 1, 40);
    expected.insert(expected.end(), second.begin(), second.end());
    QVERIFY(Plain((*history)->Samples("j", 0, 0)) == expected);
    QCOMPARE(std::ssize(*(*history)->SamplesBetween("j", {}, 0)), 70);
    const auto third = Curve("j", 1, 3, 500);
    QVERIFY((*history)->AddSamples(third));
    QVERIFY(Plain((*history)->Samples("j", 0, 0)) == third);
    QVERIFY(Plain((*history)->Samples("k", 0, 0)) == Curve("k", 1, 5));
    // A plot of that time shows all samples.
    QCOMPARE(std::ssize(*(*history)->SamplesBetween("j", {}, 0)), 73);
    QVERIFY((*(*history)->Jobs() == std::vector<std::string>{"j", "k"}));
  }

  void samplesAreAskedForByStepTimeAndSequence() {
    auto history = History::Open(Path("ask.db"));
    VERIFY_OK(history);
    QVERIFY((*history)->AddSamples(Curve("j", 1, 50)));
    QVERIFY((*history)->AddSamples(Curve("k", 1, 50, 25)));
    SampleQuery last;
    last.job = "j";
    last.limit = 3;
    last.newest = true;
    QVERIFY(Plain((*history)->Samples(last)) == Curve("j", 48, 50));
    SampleQuery range;
    range.job = "k";
    range.time = {30.0, 33.0};
    QVERIFY(Plain((*history)->Samples(range)) == Curve("k", 5, 7, 25));
    SampleQuery pages;
    pages.limit = 30;
    std::vector<Sample> all;
    for (;;) {
      const auto page = (*history)->Samples(pages);
      VERIFY_OK(page);
      if (page->empty()) break;
      all.insert(all.end(), page->begin(), page->end());
      pages.after = page->back().sequence;
    }
    QCOMPARE(std::ssize(all), 100);
    QVERIFY(std::ranges::is_sorted(all, {}, &Sample::sequence));
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

  void metricsStayWithTheirSample() {
    const std::string path = Path("metrics.db");
    auto history = History::Open(path);
    VERIFY_OK(history);
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<Sample> curve = Curve("j", 1, 4);
    curve[1].metrics = {{"accuracy", 0.5}, {"eval/loss", -inf}};
    curve[2].metrics = {{"accuracy", std::nan("")}};
    curve[3].metrics = {{"accuracy", 0.75}};
    QVERIFY((*history)->AddSamples(curve));
    const auto read = (*history)->Samples("j", 0, 0);
    VERIFY_OK(read);
    QVERIFY((*read)[0].metrics.empty());
    QVERIFY((*read)[1].metrics == curve[1].metrics);
    QVERIFY(std::isnan((*read)[2].metrics.at("accuracy")));
    SampleQuery last;
    last.job = "j";
    last.limit = 2;
    last.newest = true;
    QVERIFY((*history)->Samples(last)->back().metrics == curve[3].metrics);
    QVERIFY((*(*history)->SamplesBetween("j", {}, 0))[1].metrics == curve[1].metrics);
    QVERIFY((*history)->SamplesBetween("j", {}, 2)->back().metrics == curve[3].metrics);

    // A sample that replaces another replaces its metrics too. An undone sample keeps its metrics.
    std::vector<Sample> again = {curve[3]};
    again[0].metrics = {{"lr", 0.25}};
    QVERIFY((*history)->AddSamples(again));
    again[0].step = 2;
    QVERIFY((*history)->AddSamples(again));
    QVERIFY((*history)->Samples("j", 1, 0)->front().metrics == again[0].metrics);
    QVERIFY((*(*history)->SamplesBetween("j", {}, 0))[1].metrics == curve[1].metrics);
    auto database = Database::OpenReadOnly(path);
    VERIFY_OK(database);
    QCOMPARE(*(*database)->ReadInt("SELECT count(*) FROM sample_metrics"), 5);
    while (*(*history)->Retain({1LL << 40, 1}, 1e6)) {
    }
    QCOMPARE(*(*database)->ReadInt("SELECT count(*) FROM samples"), 0);
    QCOMPARE(*(*database)->ReadInt("SELECT count(*) FROM sample_metrics"), 0);
  }

  void versionTwoGetsATableOfMetrics() {
    const std::string path = Path("v2.db");
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY(Migrate(**database, SchemaUpTo(2)));
      QVERIFY((*database)->Execute(
          "INSERT INTO samples (job, step, loss, time) VALUES ('j', 1, 3.5, 1.0)"));
    }
    {
      auto reader = History::OpenReadOnly(path);
      VERIFY_OK(reader);
      QVERIFY((*reader)->Samples("j", 0, 0)->front().metrics.empty());
    }
    auto history = History::Open(path);
    VERIFY_OK(history);
    QVERIFY(QFile::exists(QString::fromStdString(path + ".v2.bak")));
    std::vector<Sample> more = Curve("j", 2, 2);
    more[0].metrics = {{"accuracy", 0.5}};
    QVERIFY((*history)->AddSamples(more));
    const auto samples = (*history)->Samples("j", 0, 0);
    VERIFY_OK(samples);
    QCOMPARE(samples->front().loss, 3.5);
    QVERIFY(samples->front().metrics.empty() && samples->back().metrics == more[0].metrics);
  }

  // Two jobs had the name "j": each has its own steps, and neither undoes those of the other.
  void jobsOfOneNameAreApart() {
    auto history = History::Open(Path("origins.db"));
    VERIFY_OK(history);
    const auto of = [](std::vector<Sample> samples, std::int64_t origin) {
      for (Sample& sample : samples) sample.origin = origin;
      return samples;
    };
    const auto first = of(Curve("j", 1, 60), 1000), second = of(Curve("j", 1, 20, 500), 2000);
    QVERIFY((*history)->AddSamples(first));
    QVERIFY((*history)->AddSamples(second));
    QVERIFY((*history)->AddSamples(of(Curve("k", 1, 5), 3000)));
    QCOMPARE(*(*history)->LatestOrigin("j"), 2000);
    QCOMPARE(*(*history)->LatestOrigin("nobody"), 0);
    QVERIFY(Plain((*history)->Samples("j", 0, 0)) == second);
    QVERIFY(Plain((*history)->Samples({.job = "j"})) == second);
    QVERIFY(Plain((*history)->Samples({.job = "j", .origin = 1000})) == first);
    QVERIFY((*history)->Samples({.job = "j", .origin = 9})->empty());
    QCOMPARE(std::ssize(*(*history)->SamplesBetween("j", {}, 0)), 20);
    auto both = first;
    both.insert(both.end(), second.begin(), second.end());
    QVERIFY(Plain((*history)->Samples({.job = "j", .all_of_name = true})) == both);
    // By pages, as a reader of all of them goes.
    std::vector<Sample> paged;
    SampleQuery pages{.job = "j", .all_of_name = true, .limit = 7};
    for (;;) {
      const auto page = (*history)->Samples(pages);
      VERIFY_OK(page);
      if (page->empty()) break;
      pages.after = page->back().sequence;
      paged.insert(paged.end(), page->begin(), page->end());
    }
    QVERIFY(Plain(paged) == both);

    HistoryEntry entry = AnEntry(1, "j");
    entry.origin = 1000;
    QVERIFY((*history)->PutTransaction(entry));
    QVERIFY((*history)->Transactions("j", 0)->empty());
    QVERIFY((*history)->Transactions({.job = "j", .origin = 1000})->front() == entry);
    QVERIFY((*history)->Transactions({.job = "j", .all_of_name = true})->front() == entry);
    // A job may have changed before its first sample.
    HistoryEntry newest = AnEntry(2, "j");
    newest.origin = 4000;
    QVERIFY((*history)->PutTransaction(newest));
    QCOMPARE(*(*history)->LatestOrigin("j"), 4000);
    QVERIFY((*history)->Transactions("j", 0)->front() == newest);
    QVERIFY((*history)->Samples("j", 0, 0)->empty());
  }

  // Rows of version 6 are of one job, which is not that of new rows.
  void versionSixGetsOrigins() {
    const std::string path = Path("v6.db");
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY(Migrate(**database, SchemaUpTo(6)));
      QVERIFY((*database)->Execute(
          "INSERT INTO samples (job, step, loss, time) VALUES ('j', 1, 3.5, 1.0), ('j', 2, 3.0, "
          "2.0)"));
      QVERIFY((*database)->Execute(
          "INSERT INTO transactions (id, job, from_mesh, to_mesh, started, result, reason, "
          "bytes_moved, volume_bound, digest_before, digest_after, step, epoch) VALUES "
          "(3, 'j', 'dp=1 on n0g0', 'dp=1 on n0g1', 1.5, 'committed', '', 0, 0, '', '', 1, 2)"));
    }
    {
      auto reader = History::OpenReadOnly(path);
      VERIFY_OK(reader);
      QCOMPARE(std::ssize(*(*reader)->Samples("j", 0, 0)), 2);
      QCOMPARE((*reader)->Transactions("j", 0)->front().origin, 0);
      QVERIFY((*reader)->Transactions("j", 0)->front().kind == ChangeKind::kReconfigure);
    }
    auto history = History::Open(path);
    VERIFY_OK(history);
    QVERIFY(QFile::exists(QString::fromStdString(path + ".v6.bak")));
    QCOMPARE(*(*history)->LatestOrigin("j"), 0);
    QCOMPARE(std::ssize(*(*history)->Samples("j", 0, 0)), 2);
    std::vector<Sample> more = Curve("j", 1, 1, 100);
    more[0].origin = 5000;
    QVERIFY((*history)->AddSamples(more));
    QVERIFY(Plain((*history)->Samples("j", 0, 0)) == more);
    QCOMPARE(std::ssize(*(*history)->Samples({.job = "j", .origin = 0})), 2);
    QCOMPARE(std::ssize(*(*history)->Samples({.job = "j", .all_of_name = true})), 3);
    QVERIFY((*history)->Transactions("j", 0)->empty());
    QCOMPARE(std::ssize(*(*history)->Transactions({.job = "j", .all_of_name = true})), 1);
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
                 path + ": schema version 77, this program knows up to 8");
  }

  void filesThatAreNoDatabaseAreErrors() {
    QFile text(QString::fromStdString(Path("text.db")));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(QByteArray(8192, 'x'));
    text.close();
    VERIFY_ERROR(History::Open(Path("text.db")), ErrorCode::kDataLoss, "text.db");
    VERIFY_ERROR(History::Open(Path("text.db")), ErrorCode::kDataLoss, "move the file aside");
    VERIFY_ERROR(History::Open(Path("no/such/folder.db")), ErrorCode::kUnavailable, "folder.db");
    VERIFY_ERROR(History::OpenReadOnly(Path("nothing.db")), ErrorCode::kNotFound, "nothing.db");
    QVERIFY(!QFile::exists(QString::fromStdString(Path("nothing.db"))));
  }

  void databasesOfOthersAreLeftAlone() {
    const std::string path = Path("other.db");
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("CREATE TABLE bookmarks (url TEXT)"));
    }
    VERIFY_ERROR(History::Open(path), ErrorCode::kFailedPrecondition, "another program");
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("PRAGMA user_version = 8"));
    }
    VERIFY_ERROR(History::Open(path), ErrorCode::kDataLoss, "transactions");
  }

  // A file as the first release wrote it.
  void versionOneIsMigratedWithABackup() {
    const std::string path = Path("v1.db");
    MakeVersionOne(path);
    {
      auto history = History::Open(path);
      VERIFY_OK(history);
      const auto entries = (*history)->Transactions("", 0);
      VERIFY_OK(entries);
      QCOMPARE(std::ssize(*entries), 3);
      QCOMPARE(entries->front().id, 3);
      QCOMPARE(entries->front().phases.at("pausing"), 0.5);
      QCOMPARE(entries->front().pause_estimate, 0.0);
      QVERIFY(!entries->front().gap);
      QVERIFY(entries->front().flows.empty() && entries->front().requester.empty());
      QCOMPARE(std::ssize(*(*history)->Events(0, 0)), 2);
      const auto samples = (*history)->Samples("j", 0, 0);
      VERIFY_OK(samples);
      QCOMPARE(std::ssize(*samples), 100);
      QCOMPARE(samples->back().step, 100);
      QVERIFY((*history)->PutTransaction(AnEntry(4, "j")));
      QCOMPARE((*(*history)->ChangesSince({}, 0)).next.revision, 4);
      Event event = AnEvent("more");
      QVERIFY((*history)->AddEvent(event));
      QCOMPARE(event.sequence, 3);
    }
    const std::string backup = path + ".v1.bak";
    {
      auto old = Database::OpenReadOnly(backup);
      VERIFY_OK(old);
      QCOMPARE(*(*old)->ReadInt("PRAGMA user_version"), 1);
      QCOMPARE(*(*old)->ReadInt("SELECT count(*) FROM samples"), 100);
    }
    // The old file put back: migrated again, with a backup of its own.
    QFile::remove(QString::fromStdString(path));
    QVERIFY(QFile::copy(QString::fromStdString(backup), QString::fromStdString(path)));
    QVERIFY(History::Open(path));
    QVERIFY(QFile::exists(QString::fromStdString(backup + ".2")));
    QVERIFY(!QFile::exists(QString::fromStdString(backup + ".3")));
    QVERIFY(History::Open(path));
    QVERIFY(!QFile::exists(QString::fromStdString(backup + ".3")));
  }

  void eventsTellTheStatesOfNodes() {
    const std::string path = Path("notes.db");
    const NodeNote note{3, NodeState::kUnmanaged, {0, 2}};
    {
      auto history = History::Open(path);
      VERIFY_OK(history);
      Event plain = AnEvent("plain"), told = AnEvent("told");
      told.note = note;
      QVERIFY((*history)->AddEvent(plain));
      QVERIFY((*history)->AddEvent(told));
      QVERIFY((*history)->AddEvent(plain));
    }
    auto history = History::OpenReadOnly(path);
    VERIFY_OK(history);
    const auto all = (*history)->Events(0, 0);
    VERIFY_OK(all);
    QCOMPARE(std::ssize(*all), 3);
    QVERIFY(!(*all)[0].note && (*all)[1].note == note && !(*all)[2].note);
    EventQuery query;
    query.notes = true;
    QCOMPARE(std::ssize(*(*history)->Events(query)), 1);
    query.after = 2;
    QVERIFY((*history)->Events(query)->empty());
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("UPDATE events SET note = 'rubbish' WHERE sequence = 2"));
    }
    auto damaged = History::OpenReadOnly(path);
    VERIFY_OK(damaged);
    VERIFY_ERROR((*damaged)->Events(0, 0), ErrorCode::kDataLoss, "event 2: node note 'rubbish'");
  }

  void aMigrationThatFailsLeavesTheOldFile() {
    const std::string path = Path("v1stuck.db");
    MakeVersionOne(path);
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("CREATE TABLE covered (mine TEXT)"));
    }
    VERIFY_ERROR(History::Open(path), ErrorCode::kInternal,
                 "from schema version 1 to 8, the file is as before");
    auto database = Database::OpenReadOnly(path);
    VERIFY_OK(database);
    QCOMPARE(*(*database)->ReadInt("PRAGMA user_version"), 1);
    QCOMPARE(*(*database)->ReadInt("SELECT count(*) FROM samples"), 100);
  }

  void anOldFileIsLookedAtWithoutTouchingIt() {
    const std::string path = Path("v1look.db");
    MakeVersionOne(path);
    const QByteArray before = Contents(path);
    auto history = History::OpenReadOnly(path);
    VERIFY_OK(history);
    QCOMPARE(std::ssize(*(*history)->Transactions("", 0)), 3);
    QVERIFY(Contents(path) == before);
    QVERIFY(!QFile::exists(QString::fromStdString(path + ".v1.bak")));
  }

  void lookingNeverWrites() {
    const std::string path = Path("look.db");
    auto writer = History::Open(path);
    VERIFY_OK(writer);
    Event event = AnEvent("seen");
    QVERIFY((*writer)->AddEvent(event));
    auto reader = History::OpenReadOnly(path);  // while the other one is open
    VERIFY_OK(reader);
    QCOMPARE(std::ssize(*(*reader)->Events(0, 0)), 1);
    VERIFY_ERROR((*reader)->AddEvent(event), ErrorCode::kUnavailable, "readonly");
    reader->reset();
    writer->reset();  // the last one takes the log away
    const QByteArray before = Contents(path);
    auto later = History::OpenReadOnly(path);
    VERIFY_OK(later);
    QCOMPARE(std::ssize(*(*later)->Events(0, 0)), 1);
    QVERIFY(Contents(path) == before);
    QVERIFY(!QFile::exists(QString::fromStdString(path + "-wal")));
  }

  void fileSystemsAreLocalOnlyIfKnown_data() {
    QTest::addColumn<qint64>("type");
    QTest::addColumn<bool>("isShared");
    const auto row = [](const char* name, std::int64_t type, bool is_shared) {
      QTest::newRow(name) << qint64{type} << is_shared;
    };
    row("NFS", 0x6969, true);
    row("CIFS", 0xFF534D42, true);
    row("CIFS where f_type is signed", static_cast<std::int32_t>(0xFF534D42), true);
    row("SMB2", 0xFE534D42, true);
    row("SMB", 0x517B, true);
    row("9P", 0x01021997, true);
    row("FUSE, fuseblk, sshfs", 0x65735546, true);
    row("Ceph", 0x00C36400, true);
    row("Lustre", 0x0BD00BD0, true);
    row("GPFS", 0x47504653, true);
    row("BeeGFS", 0x19830326, true);
    row("OpenAFS", 0x5346414F, true);
    row("AFS of the kernel", 0x6B414653, true);
    row("OCFS2", 0x7461636F, true);
    row("GFS2", 0x01161970, true);
    row("Coda", 0x73757245, true);
    row("PanFS", 0xAAD7AAEA, true);
    row("OrangeFS", 0x20030528, true);
    row("VirtualBox", 0x786F4256, true);
    row("a type that nobody knows", 0x12345678, true);
    row("no type", 0, true);
    row("ext4", 0xEF53, false);
    row("XFS", 0x58465342, false);
    row("Btrfs", 0x9123683E, false);
    row("Btrfs where f_type is signed", static_cast<std::int32_t>(0x9123683E), false);
    row("ZFS", 0x2FC12FC1, false);
    row("F2FS", 0xF2F52010, false);
    row("tmpfs", 0x01021994, false);
    row("overlay", 0x794C7630, false);
  }
  void fileSystemsAreLocalOnlyIfKnown() {
    QFETCH(qint64, type);
    QFETCH(bool, isShared);
    QCOMPARE(IsSharedFileSystem(type), isShared);
  }

  void aFileThatOtherHostsWriteHasARollbackJournal() {
    using Log = Database::Log;
    const std::string path = Path("shared.db");
    const auto open = [&] {
      return Database::Open(path, Database::Durability::kNormal, Log::kRollback);
    };
    const auto here = open(), there = open();
    VERIFY_OK(here);
    VERIFY_OK(there);
    VERIFY_OK((*here)->Execute("CREATE TABLE t (n); INSERT INTO t VALUES (1)"));
    VERIFY_OK((*there)->Execute("INSERT INTO t VALUES (2)"));
    QCOMPARE((*here)->ReadInt("SELECT sum(n) FROM t").value_or(-1), std::int64_t{3});
    for (const char* suffix : {"-wal", "-shm"})
      QVERIFY(!QFile::exists(QString::fromStdString(path + suffix)));
    // A reader takes the lock as well.
    VERIFY_OK((*there)->Execute("BEGIN EXCLUSIVE; INSERT INTO t VALUES (3)"));
    const auto reader = Database::OpenReadOnly(path);
    VERIFY_OK(reader);
    VERIFY_ERROR((*reader)->ReadInt("SELECT sum(n) FROM t"), ErrorCode::kUnavailable, "locked");
    VERIFY_OK((*there)->Execute("COMMIT"));
    QCOMPARE((*reader)->ReadInt("SELECT sum(n) FROM t").value_or(-1), std::int64_t{6});
  }

  void theFileSystemChoosesTheJournal_data() {
    QTest::addColumn<qint64>("type");
    QTest::addColumn<bool>("ahead");
    QTest::newRow("ext4") << qint64{0xEF53} << true;
    QTest::newRow("NFS") << qint64{0x6969} << false;
    QTest::newRow("sshfs") << qint64{0x65735546} << false;
  }
  void theFileSystemChoosesTheJournal() {
    QFETCH(qint64, type);
    QFETCH(bool, ahead);
    const std::string path = Path(QTest::currentDataTag());
    file_system_type = type;
    const auto database = Database::Open(path, Database::Durability::kNormal);
    file_system_type = 0;
    VERIFY_OK(database);
    VERIFY_OK((*database)->Execute("CREATE TABLE t (n); INSERT INTO t VALUES (1)"));
    QCOMPARE(QFile::exists(QString::fromStdString(path + "-wal")), ahead);
  }

  // Bytes are overwritten or truncated at random offsets. Any error is right and no crash is, and
  // OpenOrQuarantine returns a history that works.
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
      QVERIFY((*history)->AddSamples(Curve("a", 1, 300)));
    }
    const QByteArray bytes = Contents(whole);
    const auto size = static_cast<std::uint64_t>(bytes.size());
    int errors = 0, set_aside = 0;
    for (int i = 0; i < 200; ++i) {
      QByteArray damaged = bytes;
      for (int k = 0; k < (i % 2 == 0 ? 20 : 1); ++k) {
        damaged[static_cast<int>(rng() % size)] = static_cast<char>(rng() & 0xff);
      }
      if (i % 3 == 0) damaged.truncate(static_cast<int>(rng() % size));
      const std::string path = Path("damaged" + std::to_string(i) + ".db");
      WriteFile(path, damaged);
      if (auto history = History::OpenReadOnly(path); history) {
        (void)(*history)->Transactions("", 0);
        (void)(*history)->SamplesBetween("a", {}, 50);
      }
      if (auto history = History::Open(path); !history) {
        ++errors;
      } else {
        errors += (*history)->Transactions("", 0) ? 0 : 1;
        errors += (*history)->Events(0, 0) ? 0 : 1;
        (void)(*history)->AddSamples(Curve("a", 100, 110));
        (void)(*history)->Retain({1 << 14, 10}, 1e9);
        (void)(*history)->ChangesSince({}, 100);
      }
      WriteFile(path, damaged);
      for (const char* suffix : {"-wal", "-shm"}) {
        QFile::remove(QString::fromStdString(path + suffix));
      }
      std::string note;
      auto history = History::OpenOrQuarantine(path, &note);
      if (!history) {  // e.g. a version number from the future: a good file for all we know
        QVERIFY(history.error().code != ErrorCode::kDataLoss);
        continue;
      }
      if (!note.empty()) {
        ++set_aside;
        QVERIFY(note.find(path + ".bad") != std::string::npos);
        QVERIFY(!Contents(path + ".bad").isEmpty());
        QVERIFY((*history)->Transactions("", 0)->empty());
        Event event = AnEvent(note);
        QVERIFY((*history)->AddEvent(event));
      }
    }
    QVERIFY(errors > 0);
    QVERIFY2(set_aside > 20, std::to_string(set_aside).c_str());
  }

  void aNewerFileIsNotSetAside() {
    const std::string path = Path("tomorrow.db");
    QVERIFY(History::Open(path));
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("PRAGMA user_version = 9"));
    }
    std::string note;
    VERIFY_ERROR(History::OpenOrQuarantine(path, &note), ErrorCode::kFailedPrecondition,
                 "version 9, this program knows up to 8");
    VERIFY_ERROR(History::OpenReadOnly(path), ErrorCode::kFailedPrecondition, "version 9");
    QVERIFY(!QFile::exists(QString::fromStdString(path + ".bad")));
  }

  // A file that cannot grow, as on a full disk: the error differs from that of damage, the recorded
  // rows stay readable, and writes succeed once there is room.
  void aFileThatCannotGrowIsAnError() {
    const std::string path = Path("full.db");
    QVERIFY(History::Open(path));
    const pid_t child = fork();
    QVERIFY(child >= 0);
    if (child == 0) {
      auto history = History::Open(path);
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{256 << 10, 256 << 10};
      if (!history || setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(1);
      for (int i = 0; i < 100000; ++i) {
        Event event = AnEvent(std::string(1000, 'x'));
        const auto added = (*history)->AddEvent(event);
        if (added) continue;
        const bool told = added.error().code == ErrorCode::kUnavailable ||
                          added.error().code == ErrorCode::kResourceExhausted;
        const auto read = (*history)->Events(0, 0);
        _exit(!told ? 2 : !read || std::ssize(*read) != i ? 3 : i > 10 ? 0 : 4);
      }
      _exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
    std::string note;
    auto history = History::OpenOrQuarantine(path, &note);
    VERIFY_OK(history);
    QCOMPARE(QString::fromStdString(note), QString());
    Event event = AnEvent("room again");
    QVERIFY((*history)->AddEvent(event));
    QVERIFY(event.sequence > 10);
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

  // A writer is killed at random points. Reported rows are present, others are complete or absent.
  void survivesKillNine() {
    std::mt19937_64 rng(test::Seed());
    const std::string path = Path("killed.db");
    std::int64_t done = 0;
    for (int round = 0; round < 12; ++round) {
      int pipe_ends[2];
      QCOMPARE(pipe(pipe_ends), 0);
      const pid_t child = fork();
      QVERIFY(child >= 0);
      if (child == 0) {
        auto history = History::Open(path);
        for (std::int64_t id = done + 1; history; ++id) {
          Event event = AnEvent(std::to_string(id));
          const bool ok = (*history)->PutTransaction(AnEntry(id, "a")) &&
                          (*history)->AddSamples(Curve("a", id, id)) &&
                          (*history)->Retain({1 << 30, 1e12}, 2e9) && (*history)->AddEvent(event);
          if (!ok || write(pipe_ends[1], &id, sizeof id) != sizeof id) break;
        }
        _exit(1);
      }
      close(pipe_ends[1]);
      usleep(static_cast<useconds_t>(2000 + rng() % 40000));
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      for (std::int64_t id = 0; read(pipe_ends[0], &id, sizeof id) == sizeof id;) done = id;
      close(pipe_ends[0]);
      {
        auto database = Database::Open(path, Database::Durability::kNormal);
        VERIFY_OK(database);
        const auto checked = CheckWhole(**database);
        VERIFY_OK(checked);
      }
      auto history = History::Open(path);
      VERIFY_OK(history);
      const auto entries = (*history)->Transactions("a", 0);
      VERIFY_OK(entries);
      QVERIFY(std::ssize(*entries) >= done && std::ssize(*entries) <= done + 1);
      for (const HistoryEntry& entry : *entries) QVERIFY(entry == AnEntry(entry.id, "a"));
      QVERIFY(std::ssize(*(*history)->Events(0, 0)) >= done);
      QVERIFY(std::ssize(*(*history)->Samples("a", 0, 0)) >= done);
    }
    QVERIFY2(done > 20, std::to_string(done).c_str());
  }

  void eventsAreFoundBySeverityTimeSourceAndText() {
    auto history = History::Open(Path("find.db"));
    VERIFY_OK(history);
    for (int i = 0; i < 100; ++i) {
      Event event;
      event.time = i;
      event.severity = i % 10 == 0   ? Severity::kError
                       : i % 10 == 5 ? Severity::kWarning
                                     : Severity::kInfo;
      event.source = i % 2 == 0 ? "n0" : "gpt";
      event.text = i == 42 ? "100% of n0_g0 lost" : "step " + std::to_string(i);
      QVERIFY((*history)->AddEvent(event));
    }
    const auto count = [&](const EventQuery& query) {
      const auto events = (*history)->Events(query);
      return events ? std::ssize(*events) : -1;
    };
    EventQuery query;
    query.least = Severity::kWarning;
    QCOMPARE(count(query), 20);
    query.least = Severity::kError;
    QCOMPARE(count(query), 10);
    query.source = "gpt";
    QCOMPARE(count(query), 0);
    query = {};
    query.text = "STEP 1";
    QCOMPARE(count(query), 11);
    query.text = "0% of n0_g";
    QCOMPARE(count(query), 1);
    query.text = "n0%g";
    QCOMPARE(count(query), 0);
    query = {};
    query.time = {10.0, 20.0};
    QCOMPARE(count(query), 10);
    query = {};
    query.limit = 5;
    query.newest = true;
    const auto last = (*history)->Events(query);
    VERIFY_OK(last);
    QCOMPARE(last->front().sequence, 96);
    QCOMPARE(last->back().sequence, 100);
  }

  void transactionsAreFoundByIdPageAndTime() {
    auto history = History::Open(Path("pages.db"));
    VERIFY_OK(history);
    for (std::int64_t id = 1; id <= 30; ++id) QVERIFY((*history)->PutTransaction(AnEntry(id, "a")));
    QVERIFY(**(*history)->Transaction(17) == AnEntry(17, "a"));
    QVERIFY(!*(*history)->Transaction(99));
    TransactionQuery query;
    query.limit = 7;
    std::vector<std::int64_t> ids;
    for (;;) {
      const auto page = (*history)->Transactions(query);
      VERIFY_OK(page);
      if (page->empty()) break;
      for (const HistoryEntry& entry : *page) ids.push_back(entry.id);
      query.before = ids.back();
    }
    QCOMPARE(std::ssize(ids), 30);
    QVERIFY(std::ranges::is_sorted(ids, std::greater()));
    query = {};
    query.time = {1.7e9 + 10, 1.7e9 + 13};
    QCOMPARE(std::ssize(*(*history)->Transactions(query)), 3);
  }

  void aPlotKeepsItsExtremes() {
    auto history = History::Open(Path("plot.db"));
    VERIFY_OK(history);
    auto curve = Curve("j", 1, 20000);
    curve[7777].loss = 99;
    curve[12345].loss = -3;
    curve[15000].loss = std::nan("");
    curve[3000].tokens_per_second = 0;
    curve[3001].tokens_per_second = 1e9;
    QVERIFY((*history)->AddSamples(curve));
    const auto plot = (*history)->SamplesBetween("j", {}, 700);
    VERIFY_OK(plot);
    QVERIFY2(std::ssize(*plot) <= 700 && std::ssize(*plot) > 150,
             std::to_string(plot->size()).c_str());
    const auto has = [&](std::size_t i) {
      return std::ranges::count(*plot, curve[i].step, &Sample::step) == 1;
    };
    for (const std::size_t i :
         std::initializer_list<std::size_t>{0, 3000, 3001, 7777, 12345, 15000, 19999}) {
      QVERIFY2(has(i), std::to_string(i).c_str());
    }
    QVERIFY(std::ranges::is_sorted(*plot, {}, &Sample::time));
    const auto part = (*history)->SamplesBetween("j", {100.0, 200.0}, 700);
    VERIFY_OK(part);
    QCOMPARE(std::ssize(*part), 100);
    QVERIFY(std::ssize(*(*history)->SamplesBetween("j", {}, 1)) <= Decimator::kPointsPerBucket);
  }

  // Queries that an index serves take a fraction of a read of the whole table, whatever the
  // machine. The figures are printed.
  void questionsOfALongHistoryAreQuick() {
    const std::string path = Path("long.db");
    QVERIFY(History::Open(path));
    {
      auto database = Database::Open(path, Database::Durability::kNormal);
      VERIFY_OK(database);
      const auto filled = (*database)->Execute(R"(
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
          INSERT INTO events SELECT i, i, CASE i % 1000 WHEN 0 THEN 'error' ELSE 'info' END, 'n0',
                                    'something happened to step ' || i, '' FROM n;
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
          INSERT INTO samples SELECT i, 'j', i, 3.0 + i % 7, 0.5, 1e5, i, 0, 0 FROM n;)");
      VERIFY_OK(filled);
    }
    auto history = History::Open(path);
    VERIFY_OK(history);
    const auto timed = [](const char* what, const auto& question, double* least_ms = nullptr) {
      double least = HUGE_VAL;  // of some calls: another process may interrupt one
      std::ptrdiff_t rows = -1;
      for (int call = 0; call < 5; ++call) {
        QElapsedTimer timer;
        timer.start();
        const auto answer = question();
        least = std::min(least, static_cast<double>(timer.nsecsElapsed()) * 1e-6);
        if (!answer) return std::ptrdiff_t{-1};
        rows = std::ssize(*answer);
      }
      qInfo("%-44s %7td rows %8.2f ms", what, rows, least);
      if (least_ms != nullptr) *least_ms = least;
      return rows;
    };
    double whole_ms = 0;
    QCOMPARE(timed(
                 "all 100k events", [&] { return (*history)->Events(0, 0); }, &whole_ms),
             100000);
    const auto quick = [&](const char* what, const auto& question) {
      double ms = 0;
      const auto rows = timed(what, question, &ms);
      return ms * 4 < whole_ms ? rows : -2;
    };
    EventQuery newest;
    newest.limit = 500;
    newest.newest = true;
    QCOMPARE(quick("newest 500 of 100k events", [&] { return (*history)->Events(newest); }), 500);
    EventQuery errors;
    errors.least = Severity::kError;
    QCOMPARE(timed("errors among 100k events", [&] { return (*history)->Events(errors); }), 100);
    EventQuery range;
    range.time = {50000.0, 50100.0};
    QCOMPARE(timed("100 s of 100k events", [&] { return (*history)->Events(range); }), 100);
    EventQuery text;
    text.text = "step 99999";
    QCOMPARE(timed("a text among 100k events", [&] { return (*history)->Events(text); }), 1);
    QVERIFY(timed("2000 points of 100k samples",
                  [&] { return (*history)->SamplesBetween("j", {}, 2000); }) > 200);
    SampleQuery later;
    later.job = "j";
    later.after = 99990;
    QCOMPARE(quick("samples since the last question", [&] { return (*history)->Samples(later); }),
             10);
    QCOMPARE(timed("names of jobs", [&] { return (*history)->Jobs(); }), 1);
    history->reset();
    QElapsedTimer timer;
    timer.start();
    std::string note;
    QVERIFY(History::OpenOrQuarantine(path, &note));
    qInfo("open with a check of %lld MiB: %.1f ms",
          static_cast<long long>(QFile(QString::fromStdString(path)).size() >> 20),
          static_cast<double>(timer.nsecsElapsed()) * 1e-6);
    QVERIFY(note.empty());
  }

  // Against a plain computation of each bucket's extremes.
  void decimationIsExact() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 50; ++round) {
      const auto n = static_cast<std::int64_t>(1 + rng() % 3000);
      const auto points = static_cast<std::int64_t>(1 + rng() % 400);
      const std::int64_t buckets = std::max<std::int64_t>(1, points / Decimator::kPointsPerBucket);
      Decimator decimator(0, static_cast<double>(n), points);
      std::vector<std::pair<double, double>> ends(static_cast<std::size_t>(buckets),
                                                  {HUGE_VAL, -HUGE_VAL});
      for (std::int64_t step = 0; step < n; ++step) {
        const double loss = static_cast<double>(rng() % 1000);
        decimator.Add({"j", step, loss, 0, 1, 0}, static_cast<double>(step));
        auto& [least, most] = ends[static_cast<std::size_t>(std::floor(
            static_cast<double>(step) / (static_cast<double>(n) / static_cast<double>(buckets))))];
        least = std::min(least, loss);
        most = std::max(most, loss);
      }
      const auto taken = decimator.Take();
      QVERIFY(std::ssize(taken) <= std::max<std::int64_t>(points, Decimator::kPointsPerBucket));
      QVERIFY(std::ranges::is_sorted(taken, {}, &Sample::step));
      for (const auto& [least, most] : ends) {
        if (least > most) continue;  // no sample in it
        QVERIFY(std::ranges::count(taken, least, &Sample::loss) > 0);
        QVERIFY(std::ranges::count(taken, most, &Sample::loss) > 0);
      }
    }
  }

 private:
  std::string Path(const std::string& name) {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }
  static QByteArray Contents(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static void WriteFile(const std::string& path, const QByteArray& bytes) {
    QFile file(QString::fromStdString(path));
    if (file.open(QIODevice::WriteOnly | QIODevice::Truncate)) file.write(bytes);
  }
  /// A file of the schema's first version, with three transactions, two events and 100 samples.
  static void MakeVersionOne(const std::string& path) {
    auto database = Database::Open(path, Database::Durability::kNormal);
    VERIFY_OK(database);
    Database& db = **database;
    QVERIFY(Migrate(db, SchemaUpTo(1)));
    for (int id = 1; id <= 3; ++id) {
      const std::string n = std::to_string(id);
      const auto put = db.Execute("INSERT INTO transactions VALUES (" + n +
                                  ",'j','a','b',1.0,'committed','',0.5,7,7,'','',1,1)");
      VERIFY_OK(put);
      QVERIFY(db.Execute("INSERT INTO transaction_phases VALUES (" + n + ",'pausing',0.5)"));
    }
    for (int i = 0; i < 2; ++i) {
      QVERIFY(
          db.Execute("INSERT INTO events (time, severity, source, text) "
                     "VALUES (1.0,'info','n0','hello')"));
    }
    for (int step = 1; step <= 100; ++step) {
      const std::string n = std::to_string(step);
      QVERIFY(db.Execute("INSERT INTO samples VALUES ('j'," + n + ",3.5,0.5,1e5," + n + ")"));
    }
  }
  std::unique_ptr<QTemporaryDir> folder_ = test::TemporaryFolder();
};
TESSERA_TEST_APPLESS(HistoryTest)
#include "history_test.moc"
