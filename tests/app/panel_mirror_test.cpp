// SPDX-License-Identifier: Apache-2.0
// The panel's mirror against a registrar's history that comes and goes.
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <thread>

#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/when.h"
#include "app/history_file.h"
#include "app/history_mirror.h"
#include "engine/history/sqlite.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using app::HistoryMirror;

namespace {

/// As the panel's own, only shorter.
constexpr app::MirrorOptions kQuick{.together = std::chrono::milliseconds(50),
                                    .retry = std::chrono::milliseconds(100)};

int milliseconds(std::chrono::milliseconds time) { return static_cast<int>(time.count()); }

/// Answers as a registrar does, on a thread of its own as the client does.
class Registrar {
 public:
  explicit Registrar(const std::string& path) : m_path(path) {}

  void answer(const wire::Request& request, HistoryMirror::Answer done) {
    ++questions;
    if (!reachable) return done(Unavailable("nobody listens"));
    m_thread = std::jthread([this, request, done = std::move(done)] { done(reply(request)); });
  }

  /// One event, one sample and one transaction.
  void happen(int number) {
    auto history = engine::History::Open(m_path);
    VERIFY_OK(history);
    const double now = app::wallClock();  // rows that are too old would be removed at once
    engine::Event event{0, now, engine::Severity::kInfo, "n0", "event " + std::to_string(number)};
    QVERIFY((*history)->AddEvent(event));
    const engine::Sample sample{"j", number, 3, 1, 1e5, now};
    QVERIFY((*history)->AddSamples(std::span(&sample, 1)));
    engine::HistoryEntry entry;
    entry.id = number;
    entry.job = "j";
    entry.started = now;
    QVERIFY((*history)->PutTransaction(entry));
  }

  void talk(int count) {
    auto history = engine::History::Open(m_path);
    VERIFY_OK(history);
    for (int i = 0; i < count; ++i) {
      engine::Event event{0, app::wallClock(), engine::Severity::kInfo, "n0",
                          std::string(200, 'x')};
      QVERIFY((*history)->AddEvent(event));
    }
  }

  void record(const engine::Sample& sample) {
    auto history = engine::History::Open(m_path);
    VERIFY_OK(history);
    QVERIFY((*history)->AddSamples(std::span(&sample, 1)));
  }

  bool reachable = true;
  int questions = 0;

 private:
  Result<wire::Reply> reply(const wire::Request& request) const {
    TESSERA_TRY(auto history, engine::History::Open(m_path));
    TESSERA_TRY(const auto cursor, agents::Decode(request.changes()));
    TESSERA_TRY(const auto changes, history->ChangesSince(cursor, request.changes().limit()));
    wire::Reply out;
    agents::Encode(changes, out.mutable_changes());
    return out;
  }
  std::string m_path;
  std::jthread m_thread;
};

/// While it lives no file of this process grows beyond `bytes`.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    m_handler = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &m_before);
    const rlimit small{bytes, m_before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit m_before{};
  void (*m_handler)(int) = SIG_DFL;
};

}  // namespace

class PanelMirrorTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>(QStringLiteral("/tmp/tsm.XXXXXX"));
    QVERIFY(m_home->isValid());
    qputenv("TESSERA_HOME", m_home->path().toUtf8());
  }

  void followsAndCatchesUp() {
    Registrar registrar(file("registrar.db"));
    for (int i = 1; i <= 3; ++i) registrar.happen(i);
    const auto mirror = follow(registrar);
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    QSignalSpy problem(mirror.get(), &HistoryMirror::problemChanged);
    mirror->touch();  // not connected yet
    QTest::qWait(50);
    QCOMPARE(registrar.questions, 0);
    mirror->setConnected(true);
    QVERIFY(caughtUp.wait(5000));
    QCOMPARE(events(), 3);
    registrar.happen(4);
    mirror->touch();
    QVERIFY(caughtUp.wait(5000));
    QCOMPARE(events(), 4);
    mirror->setConnected(false);
    for (int i = 5; i <= 9; ++i) registrar.happen(i);
    mirror->setConnected(true);
    QVERIFY(caughtUp.wait(5000));
    QCOMPARE(events(), 9);
    QCOMPARE(problem.count(), 0);
    const auto history = engine::History::OpenReadOnly(HistoryMirror::pathOf("lab"));
    VERIFY_OK(history);
    const auto samples = (*history)->Samples("j", 0, 0);
    VERIFY_OK(samples);
    QCOMPARE(std::ssize(*samples), 9);
    const auto transactions = (*history)->Transactions("", 0);
    VERIFY_OK(transactions);
    QCOMPARE(std::ssize(*transactions), 9);
    QVERIFY((*history)->Gaps()->empty());
    QCOMPARE(*(*history)->MirrorOf(), std::optional<std::string>("lab"));
    QVERIFY(!*(*history)->Simulated());
    // The copy says that its cluster is simulated, also to whoever opens it as a file.
    mirror->setSimulated("h100");
    registrar.happen(10);
    mirror->touch();
    QVERIFY(caughtUp.wait(5000));
    QCOMPARE(*(*history)->Simulated(), std::optional<std::string>("h100"));
    const auto shown = app::HistoryFile::read(HistoryMirror::pathOf("lab"));
    VERIFY_OK(shown);
    QVERIFY(shown->snapshot().simulation);
    QCOMPARE(shown->snapshot().simulation->hardware, std::string("h100"));
  }

  void aPanelThatWasAwayMissesNothing() {
    Registrar registrar(file("registrar.db"));
    for (int session = 0; session < 3; ++session) {
      registrar.happen(2 * session + 1);
      const auto mirror = follow(registrar);
      QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
      mirror->setConnected(true);
      QVERIFY(caughtUp.wait(5000));
      QCOMPARE(events(), 2 * session + 1);
      registrar.happen(2 * session + 2);  // after the panel was closed
    }
  }

  void manyTouchesAreOneQuestion() {
    Registrar registrar(file("registrar.db"));
    registrar.happen(1);
    const auto mirror = follow(registrar);
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    mirror->setConnected(true);
    QVERIFY(caughtUp.wait(5000));
    for (int i = 0; i < 1000; ++i) mirror->touch();
    QVERIFY(caughtUp.wait(5000));
    QTest::qWait(milliseconds(4 * kQuick.together));
    QCOMPARE(registrar.questions, 2);
  }

  // The cluster was created again: its old history stays, and the new one has its own file.
  void anotherHistoryOfTheSameNameIsKeptApart() {
    Registrar first(file("first.db"));
    for (int i = 1; i <= 5; ++i) first.happen(i);
    {
      const auto mirror = follow(first);
      QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
      mirror->setConnected(true);
      QVERIFY(caughtUp.wait(5000));
    }
    Registrar second(file("second.db"));
    second.happen(1);
    QString path;
    for (int session = 0; session < 2; ++session) {
      const auto mirror = follow(second);
      QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
      QSignalSpy problem(mirror.get(), &HistoryMirror::problemChanged);
      mirror->setConnected(true);
      QVERIFY(caughtUp.wait(5000));
      QCOMPARE(problem.count(), 0);
      path = caughtUp.last().first().toString();
    }
    QCOMPARE(events(), 5);
    QVERIFY(path.toStdString() != HistoryMirror::pathOf("lab"));
    const auto history = engine::History::OpenReadOnly(path.toStdString());
    VERIFY_OK(history);
    const auto rows = (*history)->Events(0, 0);
    VERIFY_OK(rows);
    QCOMPARE(std::ssize(*rows), 1);
  }

  void aFolderThatCannotBeWrittenIsSaidOnce() {
    QFile blocked(m_home->filePath("mirror"));  // a file where the folder should be
    QVERIFY(blocked.open(QIODevice::WriteOnly));
    Registrar registrar(file("registrar.db"));
    registrar.happen(1);
    const auto mirror = follow(registrar);
    QSignalSpy problem(mirror.get(), &HistoryMirror::problemChanged);
    mirror->setConnected(true);
    QVERIFY(problem.wait(5000));
    QVERIFY2(problem.first().first().toString().contains("lab.sqlite"),
             qPrintable(problem.first().first().toString()));
    mirror->touch();
    QTest::qWait(milliseconds(4 * kQuick.together));  // tried again
    QCOMPARE(problem.count(), 1);
    // Once it can be written, the problem disappears, and no row is lost.
    QVERIFY(blocked.remove());
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    mirror->touch();
    QVERIFY(caughtUp.wait(5000));
    QCOMPARE(problem.last().first().toString(), QString());
    QCOMPARE(events(), 1);
  }

  // A limit on the size of files fails in the same call as a full disk does.
  void aFullDiskIsSaidUntilThereIsRoomAgain() {
    Registrar registrar(file("registrar.db"));
    registrar.happen(1);
    const auto mirror = follow(registrar);
    QSignalSpy problem(mirror.get(), &HistoryMirror::problemChanged);
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    mirror->setConnected(true);
    QVERIFY(caughtUp.wait(5000));
    registrar.talk(3000);
    {
      const SmallFiles full(200 << 10);
      mirror->touch();
      QVERIFY(problem.wait(5000));
      QVERIFY2(mirror->problem().contains("lab.sqlite"), qPrintable(mirror->problem()));
      QCOMPARE(events(), 1);
    }
    mirror->touch();
    QVERIFY(problem.wait(5000));
    QVERIFY(mirror->problem().isEmpty());
    QTRY_COMPARE(events(), 3001);  // nothing was lost
  }

  void aLockedFileIsSaidUntilItIsFree() {
    Registrar registrar(file("registrar.db"));
    registrar.happen(1);
    const auto mirror = follow(registrar);
    QSignalSpy problem(mirror.get(), &HistoryMirror::problemChanged);
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    mirror->setConnected(true);
    QVERIFY(caughtUp.wait(5000));
    registrar.happen(2);
    {
      auto other = engine::Database::Open(HistoryMirror::pathOf("lab"),
                                          engine::Database::Durability::kNormal);
      VERIFY_OK(other);
      QVERIFY((*other)->Execute("BEGIN IMMEDIATE"));
      mirror->touch();
      QVERIFY(problem.wait(8000));
      QVERIFY2(mirror->problem().contains("locked"), qPrintable(mirror->problem()));
    }
    mirror->touch();
    QVERIFY(problem.wait(8000));
    QVERIFY(mirror->problem().isEmpty());
    QTRY_COMPARE(events(), 2);
  }

  void aHistoryThatIsNotAnsweredForIsSaid() {
    Registrar registrar(file("registrar.db"));
    registrar.happen(1);
    const auto mirror = follow(registrar);
    QSignalSpy problem(mirror.get(), &HistoryMirror::problemChanged);
    int asked = 0;  // at the first report
    connect(mirror.get(), &HistoryMirror::problemChanged, this, [&] {
      if (asked == 0) asked = registrar.questions;
    });
    registrar.reachable = false;
    mirror->setConnected(true);
    QVERIFY(problem.wait(8000));
    QCOMPARE(asked, 2);  // once is no news
    QCOMPARE(mirror->problem(), QStringLiteral("nobody listens"));
    registrar.reachable = true;
    QVERIFY(problem.wait(8000));
    QVERIFY(mirror->problem().isEmpty());
    QTRY_COMPARE(events(), 1);
  }

  // The cluster shows its samples live, and writes none of them down.
  void aDamagedMirrorBeginsAgain() {
    Registrar registrar(file("registrar.db"));
    for (int i = 1; i <= 3; ++i) registrar.happen(i);
    QVERIFY(QDir(m_home->path()).mkdir("mirror"));
    QFile damaged(QString::fromStdString(HistoryMirror::pathOf("lab")));
    QVERIFY(damaged.open(QIODevice::WriteOnly));
    damaged.write(QByteArray(10000, 'x'));
    damaged.close();
    const auto mirror = follow(registrar);
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    QSignalSpy noted(mirror.get(), &HistoryMirror::noted);
    mirror->setConnected(true);
    QVERIFY(caughtUp.wait(5000));
    QCOMPARE(events(), 3);
    // It is over: nothing stays wrong.
    QCOMPARE(noted.count(), 1);
    QVERIFY(noted.first().first().toString().contains(".bad"));
    QVERIFY(mirror->problem().isEmpty());
  }

  void answersAfterItsEndDoNothing() {
    HistoryMirror::Answer late;
    {
      HistoryMirror mirror(
          "lab", [&](wire::Request, HistoryMirror::Answer answer) { late = std::move(answer); });
      mirror.setConnected(true);
      QTRY_VERIFY(late);
    }
    late(Cancelled("the client was closed"));
    QTest::qWait(20);
    QVERIFY(engine::History::OpenReadOnly(HistoryMirror::pathOf("lab")));
  }

  void theCallerNeverWaits() {
    Registrar registrar(file("registrar.db"));
    for (int i = 1; i <= 20; ++i) registrar.happen(i);
    const auto mirror = follow(registrar);
    QSignalSpy caughtUp(mirror.get(), &HistoryMirror::caughtUp);
    mirror->setConnected(true);
    mirror->touch();
    // The calls return before the first question; the event loop does the rest.
    QCOMPARE(registrar.questions, 0);
    QCOMPARE(caughtUp.count(), 0);
    QVERIFY(caughtUp.wait(5000));
    QVERIFY(registrar.questions > 0);
  }

 private:
  std::string file(const char* name) const { return m_home->filePath(name).toStdString(); }
  static std::unique_ptr<HistoryMirror> follow(Registrar& registrar) {
    return std::make_unique<HistoryMirror>(
        "lab",
        [&registrar](wire::Request request, HistoryMirror::Answer answer) {
          registrar.answer(request, std::move(answer));
        },
        kQuick);
  }
  static int events() {
    const auto history = engine::History::OpenReadOnly(HistoryMirror::pathOf("lab"));
    const auto rows = history ? (*history)->Events(0, 0) : Result<std::vector<engine::Event>>();
    return rows ? static_cast<int>(rows->size()) : -1;
  }
  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(PanelMirrorTest)
#include "panel_mirror_test.moc"
