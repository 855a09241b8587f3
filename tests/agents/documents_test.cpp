// SPDX-License-Identifier: Apache-2.0
// Long values of messages to nodes: each node gets them once, and messages keep their order.
#include "agents/registrar/documents.h"

#include <QTest>
#include <deque>
#include <string>
#include <vector>

#include "agents/node/inbox.h"
#include "agents/node/plan_memo.h"
#include "engine/store/arena_format.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

const std::string kLong(10'000, 'x');

wire::ToNode PrepareOf(std::int64_t transaction, const std::string& layout = kLong) {
  wire::ToNode message;
  wire::Prepare& p = *message.mutable_prepare();
  p.set_transaction(transaction);
  p.set_from_layout(layout + "from");
  p.set_to_layout(layout);
  p.set_topology("short");
  p.set_settings(layout + "settings");
  for (std::int32_t node = 0; node < 200; ++node) {
    p.add_peers()->set_node(node);
    p.mutable_peers(node)->set_address("10.0.0." + std::to_string(node) + " or another long name");
  }
  return message;
}

/// A registrar and one node. The test delivers the messages.
struct Pair {
  Pair()
      : office(disk, {},
               [this](const auto&, const wire::ToNode& message) {
                 to_node.push_back(message);
                 return OkStatus();
               }),
        documents(office.common()),
        inbox({[this](const std::vector<std::uint64_t>& hashes) { asked.push_back(hashes); },
               [this](const wire::ToNode& message) { delivered.push_back(message); }}) {
    wire::Register message;
    message.set_node(1);
    office.members().Register("one", message, {});
  }
  void Send(wire::ToNode message) {
    documents.Shorten(message);
    inbox.Take(std::move(message));
  }
  void Answer() {
    for (const auto& hashes : std::exchange(asked, {})) {
      wire::WantDocuments wanted;
      wanted.mutable_hashes()->Add(hashes.begin(), hashes.end());
      documents.OnWanted(1, wanted);
    }
    for (; !to_node.empty(); to_node.pop_front()) inbox.Take(to_node.front());
  }

  sim::MemoryStore disk;
  test::PartOffice office;
  Documents documents;
  Inbox inbox;
  std::deque<wire::ToNode> to_node;
  std::vector<std::vector<std::uint64_t>> asked;
  std::vector<wire::ToNode> delivered;
};

wire::ToNode OutcomeOf(std::int64_t transaction) {
  wire::ToNode message;
  message.mutable_outcome()->set_transaction(transaction);
  return message;
}

}  // namespace

class DocumentsTest : public QObject {
  Q_OBJECT

 private slots:
  void aMessageArrivesAsItWas() {
    Pair pair;
    pair.Send(PrepareOf(1));
    QCOMPARE(pair.asked.size(), std::size_t{1});
    QCOMPARE(pair.asked[0].size(), std::size_t{4});  // not the short one
    pair.Answer();
    QCOMPARE(pair.delivered.size(), std::size_t{1});
    QCOMPARE(pair.delivered[0].SerializeAsString(), PrepareOf(1).SerializeAsString());
    // What the node has already is not sent again.
    pair.Send(PrepareOf(2));
    QVERIFY(pair.asked.empty());
    QCOMPARE(pair.delivered.size(), std::size_t{2});
    QCOMPARE(pair.delivered[1].SerializeAsString(), PrepareOf(2).SerializeAsString());
  }

  void startsAreShortenedToo() {
    Pair pair;
    wire::ToNode message;
    wire::StartJob& start = *message.mutable_finish_update()->mutable_job();
    start.set_layout(kLong);
    start.set_settings(kLong + "settings");
    message.mutable_finish_update()->set_order(5);
    const std::string whole = message.SerializeAsString();
    wire::ToNode begin;
    *begin.mutable_start_job() = start;
    pair.Send(message);
    pair.Answer();
    QCOMPARE(pair.delivered.at(0).SerializeAsString(), whole);
    pair.Send(begin);
    QCOMPARE(pair.delivered.at(1).SerializeAsString(), begin.SerializeAsString());
  }

  void shortMessagesNeedNothing() {
    Pair pair;
    wire::ToNode message = PrepareOf(1, "short");
    message.mutable_prepare()->mutable_peers()->DeleteSubrange(5, 195);
    pair.documents.Shorten(message);
    QVERIFY(message.prepare().documents().empty());
    pair.inbox.Take(message);
    QCOMPARE(pair.delivered.size(), std::size_t{1});
  }

  // Else a participant would prepare what is decided already.
  void theOutcomeDoesNotOvertakePrepare() {
    Pair pair;
    pair.Send(PrepareOf(1));
    pair.Send(OutcomeOf(1));
    QVERIFY(pair.delivered.empty());
    pair.Answer();
    QCOMPARE(pair.delivered.size(), std::size_t{2});
    QVERIFY(pair.delivered[0].has_prepare() && pair.delivered[1].has_outcome());
  }

  void lostQuestionsAreAskedAgain() {
    Pair pair;
    pair.Send(PrepareOf(1));
    pair.asked.clear();
    pair.inbox.AskAgain();
    QCOMPARE(pair.asked.size(), std::size_t{1});
    pair.Answer();
    QCOMPARE(pair.delivered.size(), std::size_t{1});
    pair.inbox.AskAgain();
    QVERIFY(pair.asked.empty());
  }

  // Others wait behind it.
  void aMessageIsDroppedWhoseDocumentsDoNotCome() {
    Pair pair;
    pair.Send(PrepareOf(1));
    pair.Send(OutcomeOf(1));
    for (int i = 0; i < 20; ++i) pair.inbox.AskAgain();
    QVERIFY(pair.delivered.empty());
    pair.inbox.AskAgain();
    QCOMPARE(pair.delivered.size(), std::size_t{1});
    QVERIFY(pair.delivered[0].has_outcome());
  }

  // Of a registrar that has restarted. It repeats what still holds.
  void messagesOfForgottenDocumentsAreDropped() {
    Pair pair;
    pair.Send(PrepareOf(1));
    pair.Send(OutcomeOf(1));
    wire::ToNode unknown;
    unknown.mutable_document()->set_hash(pair.asked[0][0]);
    unknown.mutable_document()->set_unknown(true);
    pair.inbox.Take(unknown);
    QCOMPARE(pair.delivered.size(), std::size_t{1});
    QVERIFY(pair.delivered[0].has_outcome());

    wire::WantDocuments strange;
    strange.add_hashes(123);
    pair.documents.OnWanted(1, strange);
    QVERIFY(pair.to_node.at(0).document().unknown());
  }

  // Each is answered, and a document may be long.
  void noMoreThan64AreAskedForAtOnce() {
    Pair pair;
    wire::WantDocuments wanted;
    for (std::uint64_t hash = 0; hash < 65; ++hash) wanted.add_hashes(hash);
    pair.documents.OnWanted(1, wanted);
    QVERIFY(pair.to_node.empty());
    wanted.mutable_hashes()->RemoveLast();
    pair.documents.OnWanted(1, wanted);
    QCOMPARE(pair.to_node.size(), std::size_t{64});
  }

  // The registrar answers nothing else to a node that it does not know, so what waits would wait
  // for ever.
  void aNodeThatIsNotKnownRegistersAtOnce() {
    Pair pair;
    pair.Send(PrepareOf(1));
    pair.Send(OutcomeOf(1));
    wire::ToNode unknown;
    unknown.mutable_unknown();
    pair.inbox.Take(unknown);
    QCOMPARE(pair.delivered.size(), std::size_t{1});
    QVERIFY(pair.delivered[0].has_unknown());
    pair.Answer();
    QCOMPARE(pair.delivered.size(), std::size_t{1});  // of before
    pair.Send(OutcomeOf(2));
    QCOMPARE(pair.delivered.size(), std::size_t{2});
  }

  void anAlteredDocumentIsIgnored() {
    Pair pair;
    pair.Send(PrepareOf(1));
    wire::ToNode altered;
    altered.mutable_document()->set_hash(pair.asked[0][0]);
    altered.mutable_document()->set_text("something else");
    pair.inbox.Take(altered);
    QVERIFY(pair.delivered.empty());
    pair.Answer();
    QCOMPARE(pair.delivered.size(), std::size_t{1});
  }

  // A simulator has hundreds of agents with the same layouts.
  void agentsOfOneProcessKeepLongValuesOnce() {
    PlanMemo memo(4);
    const auto first = memo.Share(kLong);
    QCOMPARE(memo.Share(std::string(kLong)).get(), first.get());
    QCOMPARE(*memo.Share(kLong + "b"), kLong + "b");
    QVERIFY(memo.Share(kLong + "b").get() != first.get());
    PlanMemo none;
    QVERIFY(none.Share(kLong).get() != none.Share(kLong).get());

    const auto table = [](std::int64_t epoch, const ptc::Box& box) {
      const auto offset = static_cast<std::int64_t>(engine::kArenaDataOffset);
      return *engine::PieceTable::Make(epoch, 1, "job",
                                       {{0, box, engine::PieceEntry::kState, offset, 16}}, 1 << 20);
    };
    const ptc::Box low = *ptc::Box::Make(std::vector<ptc::Interval>{{0, 4}});
    const ptc::Box high = *ptc::Box::Make(std::vector<ptc::Interval>{{4, 8}});
    engine::PieceTable one = table(1, low), two = table(2, low), other = table(1, high);
    for (engine::PieceTable* each : {&one, &two, &other}) memo.ShareEntries(*each);
    QCOMPARE(one.entries_ptr().get(), two.entries_ptr().get());
    QCOMPARE(two.epoch(), 2);
    QVERIFY(other.entries() == table(1, high).entries());
    QVERIFY(other.entries_ptr().get() != one.entries_ptr().get());
  }

  // What is not held any more takes no memory, however many there have been.
  void sharedValuesThatNobodyHoldsAreForgotten() {
    PlanMemo memo(4);
    const auto held = memo.Share(kLong);
    for (int i = 0; i < 1000; ++i) QCOMPARE(*memo.Share(std::to_string(i)), std::to_string(i));
    QCOMPARE(memo.Share(kLong).get(), held.get());
  }

  void aDiskWithSharedRowsIsAsOthers() {
    sim::MemoryStore disk;
    PlanMemo memo(4);
    disk.remembers = false;
    disk.share = [&](std::string_view value) { return memo.Share(value); };
    VERIFY_OK(disk.Put("b/short", "x"));
    VERIFY_OK(disk.Put("b/long", kLong));
    VERIFY_OK(disk.Put("a/long", kLong + "a"));
    QCOMPARE(**disk.Get("b/long"), kLong);
    const auto rows = *disk.List("b/");
    QCOMPARE(rows.size(), std::size_t{2});
    QCOMPARE(rows[0].first, std::string("b/long"));
    QCOMPARE(*disk.PutIfAbsent("b/long", "y"), kLong);
    QCOMPARE(*disk.PutIfAbsent("c", kLong), kLong);
    VERIFY_OK(disk.Put("b/long", "y"));  // short now
    QCOMPARE(**disk.Get("b/long"), std::string("y"));
    VERIFY_OK(disk.Erase("a/long"));
    QVERIFY(!*disk.Get("a/long"));
    disk.Clear();
    QVERIFY((*disk.List("")).empty());
  }

  void theNodeForgetsTheOldest() {
    Pair pair;
    for (int i = 0; i < 100; ++i) {
      pair.Send(PrepareOf(i, kLong + std::to_string(i)));
      pair.Answer();
    }
    QCOMPARE(pair.delivered.size(), std::size_t{100});
    pair.Send(PrepareOf(200, kLong + "0"));  // it has forgotten it
    pair.Answer();
    QCOMPARE(pair.delivered.size(), std::size_t{101});
    QCOMPARE(pair.delivered.back().SerializeAsString(),
             PrepareOf(200, kLong + "0").SerializeAsString());
  }
};

TESSERA_TEST(DocumentsTest)
#include "documents_test.moc"
