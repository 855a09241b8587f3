// SPDX-License-Identifier: Apache-2.0
// What nodes keep of the registrar's journal, and how the next registrar collects it.
#include "agents/registrar/takeover.h"

#include <QTest>
#include <map>
#include <utility>
#include <vector>

#include "agents/decision/registrar_record.h"
#include "agents/node/job_row.h"
#include "agents/node/kept_rows.h"
#include "agents/registrar/mirrored_journal.h"
#include "agents/sim/memory_store.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

/// The registrar's row of a job with a data-parallel rank on each of these nodes.
std::string JobRowOn(const std::vector<std::int32_t>& nodes, std::int64_t epoch = 1) {
  const engine::JobSettings settings{.model = *engine::FindModel("gpt-nano")};
  const auto tensors = engine::MakeCollection(settings, false);
  std::vector<ptc::DeviceId> devices;
  for (const std::int32_t node : nodes) devices.push_back({node, 0});
  const auto shape = ptc::ParseMeshShape("dp=" + std::to_string(nodes.size()) + ",tp=1,pp=1");
  ptc::DeviceMesh mesh = *ptc::DeviceMesh::Make(*shape, devices);
  return ToText(JobTableRow{
      {engine::ToJson(settings), *ptc::Layout::Make(std::move(mesh), *tensors), epoch, 0}});
}

wire::KeptRow Row(const std::string& key, const std::string& value, std::int64_t revision = 0,
                  bool erased = false) {
  wire::KeptRow row;
  row.set_key(key);
  row.set_value(value);
  row.set_revision(revision);
  row.set_erased(erased);
  return row;
}

/// A revision of the registrar of a generation.
std::int64_t Revision(std::int64_t generation, std::int64_t change) {
  return (generation << 48) + (std::int64_t{1} << 32) + change;
}

/// A journal that is mirrored to nodes, which keep what they get.
struct Mirror {
  explicit Mirror(std::int64_t generation = 1)
      : journal(
            disk, generation, 0,
            [this](const std::string& identity, const auto& message) {
              const wire::ToNode& m = *message;
              Node& node = nodes.try_emplace(identity).first->second;
              if (m.has_keep_rows()) QVERIFY(node.kept.Replace(m.keep_rows()));
              if (m.has_keep_row()) QCOMPARE(*node.kept.Keep(m.keep_row()), true);
              ++node.messages;
            },
            [this](std::int64_t revision) { noted = revision; }) {}
  struct Node {
    sim::MemoryStore disk;
    KeptRows kept{disk};
    int messages = 0;
  };
  /// What a node keeps, by key.
  std::map<std::string, std::string> At(const std::string& identity) {
    std::map<std::string, std::string> rows;
    for (const wire::KeptRow& row : nodes.at(identity).kept.all().rows()) {
      rows[row.key()] = row.value();
    }
    return rows;
  }
  bool Recover() { return journal.Recover(&set_aside).has_value(); }
  sim::MemoryStore disk;
  std::map<std::string, Node> nodes;  // by identity
  std::int64_t noted = 0;
  std::vector<std::string> set_aside;
  MirroredJournal journal;
};

/// A takeover of n1, whose nodes answer as told.
struct Desk {
  explicit Desk(sim::MemoryStore& disk) : office(disk), takeover(Make(disk)) {}

  std::unique_ptr<Takeover> Make(sim::MemoryStore& disk) {
    config.cluster = "lab";
    config.node = 1;
    config.node_lost_seconds = 10;
    return std::make_unique<Takeover>(
        office.common().timers, config, 3, disk,
        Takeover::World{[this](const std::string& identity, const wire::ToNode& m) {
                          asked[identity] = m.welcome().wants_rows();
                        },
                        [](const std::string&) {}, [this] { ++done; }, [this] { return noted; }});
  }
  void Register(std::int32_t node) {
    wire::FromNode message;
    message.set_node(node);
    message.mutable_register_()->set_node(node);
    takeover->OnNode("id" + std::to_string(node), message);
  }
  void CannotRun(std::int32_t node, const std::string& why) {
    wire::FromNode message;
    message.set_node(node);
    message.mutable_cannot_run()->set_reason(why);
    takeover->OnNode("id" + std::to_string(node), message);
  }
  void Report(std::int32_t node, std::int64_t revision, const std::vector<wire::KeptRow>& rows) {
    wire::FromNode message;
    message.set_node(node);
    message.mutable_kept_rows()->set_revision(revision);
    if (revision > 0) message.mutable_kept_rows()->mutable_nodes()->Add(nodes.begin(), nodes.end());
    for (const wire::KeptRow& row : rows) *message.mutable_kept_rows()->add_rows() = row;
    takeover->OnNode("id" + std::to_string(node), message);
  }

  test::PartOffice office;
  AgentConfig config;
  std::map<std::string, bool> asked;
  std::vector<std::int32_t> nodes;  // of the cluster, by the copies; n0 was the registrar
  int done = 0;
  std::optional<std::int64_t> noted = 0;  // the revision in etcd
  std::unique_ptr<Takeover> takeover;
};

}  // namespace

class TakeoverTest : public QObject {
  Q_OBJECT

 private slots:
  // ---- what a node keeps

  void changesAreMadeInTheirOrder() {
    sim::MemoryStore disk;
    KeptRows kept(disk);
    wire::KeptRows all;
    all.set_revision(10);
    *all.add_rows() = Row("job/a", "1");
    QVERIFY(kept.Replace(all));
    QCOMPARE(*kept.Keep(Row("job/b", "2", 11)), true);
    QCOMPARE(*kept.Keep(Row("job/b", "late", 11)), true);  // repeated: ignored
    QCOMPARE(*kept.Keep(Row("job/c", "3", 13)), false);    // one is missing
    QCOMPARE(*kept.Keep(Row("job/a", "", 12, true)), true);
    KeptRows next(disk);  // of the next agent
    std::vector<std::string> set_aside;
    QVERIFY(next.Recover(&set_aside) && set_aside.empty());
    QCOMPARE(next.all().revision(), std::int64_t{12});
    QCOMPARE(next.all().rows_size(), 1);
    QCOMPARE(next.all().rows(0).value(), std::string("2"));
    // A registrar of an earlier time has nothing to say.
    QVERIFY(next.Replace(all));
    QCOMPARE(next.all().revision(), std::int64_t{12});
  }

  void whatCannotBeWrittenIsNotKept() {
    sim::MemoryStore disk;
    KeptRows kept(disk);
    disk.refused = "";
    QVERIFY(!kept.Keep(Row("job/a", "1", 1)));
    disk.refused.reset();
    QCOMPARE(*kept.Keep(Row("job/b", "2", 2)), false);  // it asks for all
  }

  void aDamagedCopyIsSetAside() {
    sim::MemoryStore disk;
    disk.rows["kept-rows"] = "\xff\xff";
    KeptRows kept(disk);
    std::vector<std::string> set_aside;
    QVERIFY(kept.Recover(&set_aside));
    QCOMPARE(kept.all().revision(), std::int64_t{0});  // the registrar sends all rows
    QCOMPARE(set_aside.size(), std::size_t{1});
    QVERIFY(set_aside[0].starts_with("row 'kept-rows' of journal.db cannot be read"));
    QCOMPARE(disk.rows.at("unreadable/kept-rows"), std::string("\xff\xff"));
  }

  // ---- what a registrar sends

  void nodesHaveWhatTheJournalHas() {
    Mirror mirror;
    QVERIFY(mirror.Recover());
    QVERIFY(mirror.journal.OnRegister(1, "one", 0));
    QVERIFY(mirror.journal.Put("job/a", "1"));
    QVERIFY(mirror.journal.Put("txn", "2"));
    QCOMPARE(mirror.At("one"), (std::map<std::string, std::string>{{"job/a", "1"}, {"txn", "2"}}));
    QVERIFY(mirror.journal.OnRegister(2, "two", 0));  // it was away
    QCOMPARE(mirror.At("two"), mirror.At("one"));
    QVERIFY(mirror.journal.Put("ended-job/a", ""));
    QVERIFY(mirror.journal.Erase("job/a"));
    QVERIFY(mirror.journal.Erase("txn"));
    QVERIFY(mirror.journal.Erase("txn"));
    QCOMPARE(mirror.At("two"), (std::map<std::string, std::string>{{"ended-job/a", ""}}));
    QCOMPARE(mirror.At("one"), mirror.At("two"));
  }

  void eachRevisionThatNodesKeepIsNoted() {
    Mirror mirror;
    QVERIFY(mirror.Recover());
    QVERIFY(mirror.journal.OnRegister(1, "one", 0));
    QCOMPARE(mirror.noted, std::int64_t{0});  // it has changed nothing
    for (int i = 0; i < 3; ++i) {
      QVERIFY(mirror.journal.Put("job/a", std::to_string(i)));
      QCOMPARE(mirror.noted, mirror.nodes.at("one").kept.all().revision());
    }
    QVERIFY(mirror.journal.Put("act/1", "2"));
    QCOMPARE(mirror.noted, mirror.nodes.at("one").kept.all().revision());
  }

  void whatIsNotOfJobsStays() {
    Mirror mirror;
    QVERIFY(mirror.Recover());
    QVERIFY(mirror.journal.OnRegister(1, "one", 0));
    QVERIFY(mirror.journal.Put("act/1", "2"));
    QVERIFY(mirror.journal.Put("next_number", "8"));
    QVERIFY(mirror.journal.Put("txnumbers", "8"));
    QVERIFY(mirror.journal.PutIfAbsent("decision/a/1", "abort 1"));
    QCOMPARE(mirror.nodes.at("one").messages, 1);
    QVERIFY(mirror.At("one").empty());
  }

  void whatIsNotWrittenIsNotSent() {
    Mirror mirror;
    QVERIFY(mirror.Recover());
    QVERIFY(mirror.journal.OnRegister(1, "one", 0));
    mirror.disk.refused = "job/";
    QVERIFY(!mirror.journal.Put("job/a", "1"));
    QVERIFY(mirror.At("one").empty());
  }

  // Whatever the clocks say, and whoever was away: what it says later is of a later revision.
  void revisionsGrow() {
    std::int64_t last = 0;
    sim::MemoryStore disk;
    for (const std::int64_t generation : {1, 1, 2, 3}) {
      if (generation > 1) disk.rows.clear();  // another node
      std::int64_t revision = 0;
      MirroredJournal journal(disk, generation, 0, [&](const std::string&, const auto& message) {
        const wire::ToNode& m = *message;
        revision = m.has_keep_rows() ? m.keep_rows().revision() : m.keep_row().revision();
      });
      std::vector<std::string> set_aside;
      QVERIFY(journal.Recover(&set_aside) && set_aside.empty());
      QVERIFY(journal.OnRegister(1, "one", 0));
      QVERIFY(revision > last);
      for (int i = 0; i < 3; ++i) QVERIFY(journal.Put("job/a", std::to_string(i)));
      QCOMPARE(MirroredJournal::GenerationOf(revision), generation);
      last = revision;
    }
  }

  // Its file was lost. What the nodes keep is later, and the only copy.
  void aRegistrarThatIsBehindOverwritesNoCopy() {
    Mirror first;
    QVERIFY(first.Recover());
    QVERIFY(first.journal.OnRegister(1, "one", 0));
    QVERIFY(first.journal.Put("job/a", "1"));
    const std::int64_t kept = first.nodes.at("one").kept.all().revision();
    Mirror::Node& node = first.nodes.at("one");

    Mirror second;
    QVERIFY(second.Recover());
    QVERIFY(second.journal.OnRegister(1, "one", kept));
    QVERIFY(second.journal.is_behind());
    for (int i = 0; i < 5; ++i) QVERIFY(second.journal.Put("job/b", std::to_string(i)));
    QVERIFY(!second.nodes.contains("one"));
    // It does not forget that when it restarts, although its revisions are then later.
    int sent = 0;
    MirroredJournal third(second.disk, 1, 0, [&](const std::string&, const auto& message) {
      const wire::ToNode& m = *message;
      if (m.has_keep_rows()) QVERIFY(node.kept.Replace(m.keep_rows()));
      ++sent;
    });
    std::vector<std::string> set_aside;
    QVERIFY(third.Recover(&set_aside) && set_aside.empty());
    QVERIFY(third.OnRegister(1, "one", kept));
    QVERIFY(third.Put("job/b", "9"));
    QCOMPARE(sent, 0);
    QCOMPARE(first.At("one"), (std::map<std::string, std::string>{{"job/a", "1"}}));
    // The table was rebuilt.
    QVERIFY(third.Put("job/a", "2"));
    QVERIFY(third.Outrun());
    QCOMPARE(sent, 1);
    QCOMPARE(first.At("one"), (std::map<std::string, std::string>{{"job/a", "2"}, {"job/b", "9"}}));
    QVERIFY(node.kept.all().revision() > kept);
    QCOMPARE(node.kept.all().nodes_size(), 1);
  }

  void rowsThatCannotBeReadAreSetAside_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<bool>("is_behind");
    QTest::newRow("starts") << "mirror-starts" << false;
    QTest::newRow("whether it is behind") << "mirror-behind" << true;
    QTest::newRow("nodes") << "mirror-nodes" << false;
  }
  void rowsThatCannotBeReadAreSetAside() {
    QFETCH(QString, key);
    QFETCH(bool, is_behind);
    const std::string name = key.toStdString();
    Mirror first;
    first.disk.rows[name] = "7 and more";
    QVERIFY(first.Recover());
    QCOMPARE(first.set_aside.size(), std::size_t{is_behind ? 2U : 1U});
    QVERIFY(first.set_aside[0].starts_with("row '" + name + "' of registrar.db cannot be read"));
    QCOMPARE(first.disk.rows.at("unreadable/" + name), std::string("7 and more"));
    QCOMPARE(first.journal.is_behind(), is_behind);
    Mirror second;
    second.disk.rows = first.disk.rows;
    QVERIFY(second.Recover() && second.set_aside.empty());
    QCOMPARE(second.journal.is_behind(), is_behind);
    // Only nodes that have registered are waited for.
    QVERIFY(second.journal.OnRegister(3, "three", 0));
    QCOMPARE(second.disk.rows.at("mirror-nodes"), std::string("3 "));
  }

  // ---- the next registrar

  void itTakesTheLatestCopy() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.Register(2);
    QVERIFY(desk.asked["id2"]);
    const std::string now = JobRowOn({1, 2}, 2);
    desk.Report(1, Revision(1, 10), {Row("job/a", JobRowOn({0, 1})), Row("job/b", JobRowOn({1}))});
    QVERIFY(desk.takeover->Text().find("waiting for n0") != std::string::npos);
    desk.Report(2, Revision(2, 3), {Row("job/a", now), Row("ended-job/b", "")});
    desk.Report(0, Revision(1, 900), {Row("job/c", JobRowOn({0}))});  // of an earlier generation
    desk.office.Pass(std::chrono::seconds(4));
    QCOMPARE(desk.done, 0);  // others may come at the same time
    desk.office.Pass(std::chrono::seconds(2));
    QCOMPARE(desk.done, 1);
    QCOMPARE(disk.rows["job/a"], now);
    QVERIFY(!disk.rows.contains("job/b") && !disk.rows.contains("job/c"));
    QVERIFY(disk.rows.contains("ended-job/b"));
    QCOMPARE(disk.rows["next_number"], std::string("2000001"));
    QVERIFY(*Takeover::IsComplete(disk));
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 1);
  }

  void itDoesNotWaitForLostNodes() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.nodes = {0, 1, 2};
    desk.Report(1, Revision(2, 1), {Row("job/a", JobRowOn({0, 1}))});
    desk.office.Pass(std::chrono::seconds(8));
    QCOMPARE(desk.done, 0);
    desk.Report(2, 0, {});  // each arrival gives the others time
    desk.office.Pass(std::chrono::seconds(8));
    QCOMPARE(desk.done, 0);
    desk.office.Pass(std::chrono::seconds(3));
    QCOMPARE(desk.done, 1);
    QVERIFY(disk.rows.contains("job/a"));
  }

  // It would begin with an empty table, and the nodes would replace what they keep.
  void withoutACopyItNeverEnds() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    desk.Report(1, 0, {});
    desk.Report(2, 0, {});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    QVERIFY(!*Takeover::IsComplete(disk));
  }

  void itNeedsItsOwnReport() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.nodes = {0, 1, 2};
    desk.Report(2, Revision(2, 1), {Row("job/a", JobRowOn({2}))});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    desk.Report(1, Revision(2, 1), {Row("job/a", JobRowOn({2}))});
    desk.office.Pass(std::chrono::seconds(6));
    QCOMPARE(desk.done, 1);
  }

  // Its own copy may be of a time before the job.
  void anEmptyCopyNeedsAMajority() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.nodes = {0, 1, 2, 3};
    desk.Report(1, Revision(2, 1), {});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    QVERIFY(desk.takeover->Text().ends_with("waiting for n2, n3"));
    desk.Report(3, Revision(2, 4), {Row("job/a", JobRowOn({2, 3}))});
    desk.office.Pass(std::chrono::seconds(12));
    QCOMPARE(desk.done, 1);
    QVERIFY(disk.rows.contains("job/a"));
  }

  void aNodeOfTheLatestCopyThatIsMissingNeedsAMajority() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.nodes = {0, 1, 2, 3, 4};
    desk.Report(1, Revision(2, 1), {Row("job/a", JobRowOn({1, 2}))});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    desk.Report(3, Revision(2, 1), {});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    desk.Report(4, Revision(2, 1), {});
    desk.office.Pass(std::chrono::seconds(12));
    QCOMPARE(desk.done, 1);
  }

  // The only nodes that have the latest copy are off, so the jobs in it would be lost.
  void aCopyThatIsOlderThanTheNotedOneWaits_data() {
    QTest::addColumn<bool>("returns");
    QTest::newRow("a node with the latest copy returns") << true;
    QTest::newRow("the operator accepts the older copy") << false;
  }
  void aCopyThatIsOlderThanTheNotedOneWaits() {
    QFETCH(const bool, returns);
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.nodes = {0, 1, 2};
    desk.noted = Revision(2, 5);
    desk.Report(1, Revision(2, 4), {Row("job/a", JobRowOn({1}))});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    const std::string text = desk.takeover->Text();
    QVERIFY2(text.find("waiting for n0, n2; etcd notes a later job table") != std::string::npos,
             text.c_str());
    QVERIFY2(text.find("`tesseractl registrar move n1 --older`") != std::string::npos,
             text.c_str());
    desk.CannotRun(2, "n2 cannot run");
    QVERIFY(desk.takeover->Text().find("waiting for n0, n2 (n2 cannot run); etcd") !=
            std::string::npos);
    if (returns) {
      desk.Report(2, Revision(2, 5), {Row("job/a", JobRowOn({1})), Row("job/b", JobRowOn({2}))});
    } else {
      desk.noted = 0;
    }
    desk.office.Pass(std::chrono::seconds(12));
    QCOMPARE(desk.done, 1);
    QCOMPARE(disk.rows.contains("job/b"), returns);
  }

  void itWaitsUntilEtcdHasSaidWhatIsNoted() {
    sim::MemoryStore disk;
    Desk desk(disk);
    desk.noted.reset();
    desk.Report(1, Revision(2, 4), {Row("job/a", JobRowOn({1}))});
    desk.office.Pass(std::chrono::seconds(60));
    QCOMPARE(desk.done, 0);
    desk.noted = Revision(2, 4);
    desk.office.Pass(std::chrono::seconds(1));
    QCOMPARE(desk.done, 1);
  }

  // What an attempt that was cut off has left is gone afterwards.
  void aFullDiskOnlyDelaysIt() {
    sim::MemoryStore disk;
    disk.rows["job/old"] = "?";
    Desk desk(disk);
    desk.Report(1, Revision(2, 1), {Row("job/a", JobRowOn({1}))});
    disk.refused = "";
    desk.office.Pass(std::chrono::seconds(30));
    QCOMPARE(desk.done, 0);
    QVERIFY(!*Takeover::IsComplete(disk));
    disk.refused.reset();
    desk.office.Pass(std::chrono::seconds(30));
    QCOMPARE(desk.done, 1);
    QVERIFY(disk.rows.contains("job/a") && !disk.rows.contains("job/old"));
  }

  // A registrar that could not read its journal would not start.
  void whatNoRegistrarHasWrittenIsDropped() {
    sim::MemoryStore disk;
    Desk desk(disk);
    std::vector<wire::KeptRow> rows{Row("job/b", JobRowOn({2}))};
    for (const char* key :
         {"job/a", "txn", "snapshot/a", "checkpoint//a", "checkpoint-lineage/a",
          "checkpoint-schedule/a", "act/1", "next_number", "taken-over", "decision/a/1", ""}) {
      rows.push_back(Row(key, "?"));
    }
    desk.Report(2, Revision(2, 1), rows);
    // Nobody can have a copy of this registrar, or of a later one.
    desk.Report(1, Revision(3, 1), {Row("ended-job/b", "")});
    desk.office.Pass(std::chrono::seconds(11));
    QCOMPARE(desk.done, 1);
    QCOMPARE(disk.rows["next_number"], std::string("2000001"));
    QVERIFY(disk.rows.contains("job/b"));
    QCOMPARE(disk.rows.size(), std::size_t{3});  // and the mark
  }

  // ---- which node it is

  void theRecordRoundTrips() {
    const RegistrarRecord record{3, 1, "tcp://10.0.0.2:7400", "tcp://10.0.0.2:7401", "key"};
    QCOMPARE(*ParseRegistrarRecord(ToText(record)), record);
    for (const char* text : {"", "{}", "[]", R"({"generation":0})", "null"}) {
      const auto parsed = ParseRegistrarRecord(text);
      QVERIFY2(!parsed, text);
      QCOMPARE(parsed.error().code, ErrorCode::kDataLoss);
    }
    std::string wrong = ToText(record);
    wrong.replace(wrong.find("\"generation\":3"), 14, "\"generation\":0");
    QVERIFY(!ParseRegistrarRecord(wrong));
  }
};

TESSERA_TEST_APPLESS(TakeoverTest)
#include "takeover_test.moc"
