// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/publisher.h"

#include <signal.h>
#include <sys/resource.h>

#include <QTemporaryDir>
#include <QTest>

#include "agents/wire/tessera/wire/control.pb.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// While it lives, no file of this process can grow: as on a full disk.
class FullDisk {
 public:
  FullDisk() {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

struct Office {
  QTemporaryDir folder;
  std::unique_ptr<engine::History> history;
  std::vector<wire::Published> sent;
  engine::ClusterSnapshot snapshot;
  std::unique_ptr<Publisher> publisher;

  Office() {
    history = *engine::History::Open(folder.filePath(QStringLiteral("history.db")).toStdString());
    snapshot.cluster = "lab";
    Publisher::World world;
    world.send = [this](const wire::Published& message) { sent.push_back(message); };
    world.state = [this](bool) {
      engine::ClusterSnapshot now = snapshot;
      now.history_problem = publisher->problem();
      return now;
    };
    world.wall_clock = [] { return 1000.0; };
    world.print = [](const std::string&) {};
    publisher = std::make_unique<Publisher>(std::move(world), *history);
  }
  QString TextsOf(const std::string& source) const {
    QStringList texts;
    const auto events = history->Events(engine::EventQuery{.source = source});
    for (const engine::Event& event : *events) texts << QString::fromStdString(event.text);
    return texts.join(u' ');
  }
  std::size_t NumEvents() const { return history->Events(engine::EventQuery())->size(); }
};

engine::HistoryEntry EntryOf(std::int64_t id) {
  engine::HistoryEntry entry;
  entry.id = id;
  entry.job = "nano";
  entry.result = "committed";
  return entry;
}

}  // namespace

class PublisherTest : public QObject {
  Q_OBJECT

 private slots:
  void theHistoryTellsWhenTheStateOfANodeChanges() {
    Office office;
    using engine::NodeState;
    engine::NodeStatus& node = office.snapshot.nodes.emplace_back();
    node.node = 2;
    node.devices.resize(2);
    node.devices[0].id = {2, 0};
    node.devices[1].id = {2, 1};
    const auto notes = [&] {
      engine::EventQuery query;
      query.notes = true;
      std::vector<std::string> texts;
      const auto events = office.history->Events(query);
      for (const engine::Event& event : *events)
        texts.push_back(event.text + ": " + ToString(*event.note));
      return texts;
    };
    // The registrar has named it by its journal; it has not answered yet.
    node.state = NodeState::kSuspect;
    office.publisher->PublishState(at(0));
    QVERIFY(notes().empty());
    node.state = NodeState::kAlive;
    office.publisher->AddNodeEvent(engine::Severity::kInfo, NoteOf(node), "joined");
    office.publisher->PublishState(at(1));
    office.publisher->AddNodeEvent(engine::Severity::kInfo, NoteOf(node), "restarted");
    QVERIFY(notes() == std::vector<std::string>{"joined: 2 alive"});
    node.state = NodeState::kSuspect;
    office.publisher->AddNodeEvent(engine::Severity::kWarning, NoteOf(node), "suspect");
    office.publisher->PublishState(at(2));
    // The end of a silence and a failed device have no event of their own.
    node.state = NodeState::kAlive;
    office.publisher->PublishState(at(3));
    node.devices[1].failed = true;
    office.publisher->PublishState(at(4));
    office.publisher->PublishState(at(5));
    const std::vector<std::string> expected{"joined: 2 alive", "suspect: 2 suspect",
                                            "is heard again: 2 alive",
                                            "failed GPUs: g1: 2 alive 1"};
    QVERIFY(notes() == expected);

    // Another registrar goes on from there.
    Publisher::World world;
    world.send = [](const wire::Published&) {};
    world.state = [&](bool) { return office.snapshot; };
    world.wall_clock = [] { return 2000.0; };
    world.print = [](const std::string&) {};
    Publisher next(std::move(world), *office.history);
    next.AddNodeEvent(engine::Severity::kInfo, NoteOf(node), "joined");
    QVERIFY(notes() == expected);
    node.devices[1].failed = false;
    next.PublishState(at(6));
    QCOMPARE(notes().size(), std::size_t{5});
    QCOMPARE(notes().back(), std::string("no GPU counts as failed: 2 alive"));
  }

  void everyMessageHasTheNextNumber() {
    Office office;
    office.publisher->AddEvent(engine::Severity::kWarning, "n1", "suspect");
    engine::Sample sample;
    sample.job = "nano";
    sample.step = 3;
    office.publisher->Publish(sample);
    office.publisher->PublishState(at(0));
    QCOMPARE(office.sent.size(), std::size_t{3});
    for (std::size_t i = 0; i < 3; ++i) QCOMPARE(office.sent[i].sequence(), i + 1);
    QCOMPARE(office.publisher->sequence(), std::uint64_t{3});
    QCOMPARE(office.sent[0].event().text(), std::string("suspect"));
    QVERIFY(office.sent[0].event().sequence() > 0 && office.sent[0].event().time() == 1000);
    QCOMPARE(office.sent[1].sample().step(), 3);
    QCOMPARE(office.sent[2].change().rows().cluster(), std::string("lab"));
    QCOMPARE(office.NumEvents(), std::size_t{1});
  }

  void theStateIsPublishedWhenItDiffersOrIsOld() {
    Office office;
    office.publisher->Tick(at(0));  // the first
    office.publisher->Tick(at(0) + milliseconds(100));
    QCOMPARE(office.sent.size(), std::size_t{1});
    office.publisher->MarkDirty();  // without a difference
    office.publisher->Tick(at(0) + milliseconds(200));
    QCOMPARE(office.sent.size(), std::size_t{1});
    office.publisher->MarkDirty();
    office.snapshot.plain_lanes = true;
    office.publisher->Tick(at(0) + milliseconds(300));
    office.publisher->Tick(at(0) + milliseconds(400));
    QCOMPARE(office.sent.size(), std::size_t{2});
    QVERIFY(office.sent[1].change().rows().plain_lanes());
    office.publisher->Tick(at(0) + milliseconds(1301));
    QCOMPARE(office.sent.size(), std::size_t{3});
    QVERIFY(office.sent[2].change().same_transaction());
  }

  // Who gets this state has all messages up to its number.
  void aReplyHasWhatWasPublished() {
    Office office;
    QCOMPARE(office.publisher->PublishState(at(0)).sequence, std::int64_t{1});
    QCOMPARE(office.publisher->PublishState(at(0)).sequence, std::int64_t{1});
    office.publisher->AddEvent(engine::Severity::kInfo, "n1", "joined");
    QCOMPARE(office.publisher->PublishState(at(0)).sequence, std::int64_t{2});
    office.snapshot.nodes.resize(1);
    const engine::ClusterSnapshot& now = office.publisher->PublishState(at(0));
    QCOMPARE(now.sequence, std::int64_t{3});
    QCOMPARE(now.nodes.size(), std::size_t{1});
    QCOMPARE(office.sent.size(), std::size_t{3});
  }

  void nothingWaitsForTheHistory() {
    Office office;
    office.publisher->Tick(at(0));
    office.sent.clear();
    {
      const FullDisk full;
      office.publisher->AddEvent(engine::Severity::kError, "nano", "suspended");
      office.publisher->Record(EntryOf(5));
      office.publisher->Record(EntryOf(6));
    }
    QCOMPARE(office.sent.size(), std::size_t{2});  // the problem is an event as well
    QCOMPARE(office.sent[1].event().text(), std::string("suspended"));
    QCOMPARE(office.sent[1].event().sequence(), std::int64_t{0});  // it is in no history
    QVERIFY(!office.publisher->problem().empty());
    {
      const FullDisk full;
      office.publisher->Tick(at(0) + milliseconds(100));  // watchers see the problem
    }
    QCOMPARE(office.sent.size(), std::size_t{3});
    QVERIFY(office.publisher->FindKept(5) && office.publisher->FindKept(6));
    QVERIFY(!office.publisher->FindKept(7));

    office.publisher->Tick(at(2));
    QVERIFY(!office.publisher->FindKept(5) && !office.publisher->FindKept(6));
    QVERIFY(office.publisher->problem().empty());
    const auto known = office.history->Transaction(6);
    QVERIFY(known && *known && (*known)->result == "committed");
    QCOMPARE(office.sent.size(), std::size_t{4});
  }

  void eventsOfAFullDiskAreWrittenLater() {
    Office office;
    office.publisher->AddEvent(engine::Severity::kInfo, "n0", "before");
    {
      const FullDisk full;
      office.publisher->AddEvent(engine::Severity::kInfo, "n1", "one");
      office.publisher->AddEvent(engine::Severity::kInfo, "n1", "two");
    }
    // There is room, and what is kept goes first.
    QVERIFY(!office.publisher->problem().empty());
    office.publisher->AddEvent(engine::Severity::kInfo, "n1", "three");
    QCOMPARE(office.NumEvents(), std::size_t{1});
    office.publisher->Tick(at(1));
    QVERIFY(office.publisher->problem().empty());
    office.publisher->AddEvent(engine::Severity::kInfo, "n1", "four");
    QCOMPARE(office.TextsOf("n1"), QStringLiteral("one two three four"));
    QVERIFY(office.TextsOf("history").startsWith(QStringLiteral("cannot be written: ")));
  }

  void keptEventsAreBounded() {
    Office office;
    constexpr std::size_t kMore = 5;
    {
      const FullDisk full;
      for (std::size_t i = 0; i < Publisher::kMostKept + kMore; ++i)
        office.publisher->AddEvent(engine::Severity::kInfo, "n1", std::to_string(i));
    }
    office.publisher->Tick(at(1));
    // That the history could not be written was the first event.
    QVERIFY(office.TextsOf("n1").startsWith(QString::number(kMore) + u' '));
    QVERIFY(office.TextsOf("history").startsWith(
        QStringLiteral("%1 earlier events are lost").arg(kMore + 1)));
  }

 private:
  static Publisher::Clock::time_point at(int second) {
    return Publisher::Clock::time_point(seconds(1000 + second));
  }
};

TESSERA_TEST_APPLESS(PublisherTest)
#include "publisher_test.moc"
