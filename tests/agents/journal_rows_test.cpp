// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <nlohmann/json.hpp>

#include "agents/node/job_row.h"
#include "agents/registrar/txn_row.h"
#include "agents/views/snapshot_row.h"
#include "engine/model/job_layout.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

ptc::Layout LayoutOfRow() {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2,pp=1 on 2x2"), *tensors);
}

JobTableRow TableRow() {
  return {{R"({"model":"gpt-nano"})", LayoutOfRow(), 3, 1, 9, 4},
          {true, 4},
          7,
          engine::JobState::kPaused,
          "data: \"a\" at byte 96",
          120};
}

SnapshotRow SnapshotOfRow() {
  return {7, {"nano", 3, 2, 40, LayoutOfRow(), {}, 9}, "0123456789abcdef", 1};
}

}  // namespace

class JournalRowsTest : public QObject {
  Q_OBJECT
 private slots:
  void jobsRoundTrip() {
    const JobTableRow row = TableRow();
    const auto read = ParseJobTableRow("job/a", ToText(row));
    VERIFY_OK(read);
    QCOMPARE(read->job.settings, row.job.settings);
    QCOMPARE(read->job.layout.hash(), row.job.layout.hash());
    QCOMPARE(read->job.epoch, row.job.epoch);
    QCOMPARE(read->job.timeline, row.job.timeline);
    QCOMPARE(read->job.origin, row.job.origin);
    QVERIFY(read->options == row.options);
    QCOMPARE(read->slot, row.slot);
    QVERIFY(read->state == row.state);
    QCOMPARE(read->reason, row.reason);
    QCOMPARE(read->step, row.step);
    QVERIFY(!read->keeps_snapshots);
    JobTableRow restored = row;
    restored.keeps_snapshots = true;
    QVERIFY(ParseJobTableRow("job/a", ToText(restored))->keeps_snapshots);
    QVERIFY(!read->finished);
    restored.finished = true;
    QVERIFY(ParseJobTableRow("job/a", ToText(restored))->finished);
    QCOMPARE(read->owner, std::string());  // a row that names none
    restored.owner = "tesseractl, lena@lab3";
    QCOMPARE(ParseJobTableRow("job/a", ToText(restored))->owner, restored.owner);
    const auto shorter = ParseJobRow("job/a", ToText(row));
    VERIFY_OK(shorter);
    QCOMPARE(shorter->epoch, row.job.epoch);
    QCOMPARE(ToText(*shorter), ToText(row.job));
  }

  void transactionsRoundTrip() {
    const TxnRow row{9, "nano", 2, 4, LayoutOfRow(), {true, 0}, true, 1, 1.5};
    const auto read = ParseTxnRow(ToText(row));
    VERIFY_OK(read);
    QCOMPARE(read->id, row.id);
    QCOMPARE(read->job, row.job);
    QCOMPARE(read->slot, row.slot);
    QCOMPARE(read->epoch, row.epoch);
    QCOMPARE(read->to.hash(), row.to.hash());
    QVERIFY(read->options == row.options);
    QCOMPARE(read->was_paused, row.was_paused);
    QCOMPARE(read->timeline, row.timeline);
    QCOMPARE(read->started, row.started);
  }

  // An earlier version leaves it out.
  void anEarlierMeshRoundTrips() {
    JobTableRow row = TableRow();
    QVERIFY(!ParseJobTableRow("job/a", ToText(row))->earlier);
    row.earlier = EarlierMesh{*ptc::ParseDeviceMesh("dp=3 on n0g1,n1g0,n1g1"), {true, 2}, 119};
    const auto read = ParseJobTableRow("job/a", ToText(row));
    VERIFY_OK(read);
    QVERIFY(read->earlier == row.earlier);
    VERIFY_OK(ParseJobRow("job/a", ToText(row)));
    auto json = nlohmann::json::parse(ToText(row));
    json["earlier"]["mesh"] = "dp=3 on n0g1";
    VERIFY_ERROR(ParseJobTableRow("job/a", json.dump()), ErrorCode::kDataLoss, "'job/a'");
    json["earlier"].erase("mesh");
    VERIFY_ERROR(ParseJobTableRow("job/a", json.dump()), ErrorCode::kDataLoss, "'job/a'");
  }

  // What a move in rounds has left.
  void remainsRoundTrip() {
    const ptc::Layout layout = LayoutOfRow();
    const auto count = static_cast<int>(layout.collection().tensors().size());
    std::vector<int> first{0}, rest;
    for (int t = 1; t < count; ++t) rest.push_back(t);
    const ptc::DeviceId device = layout.mesh().devices().front();
    const Remains remains{*ptc::MixedLayout::Make({{layout, first}, {layout, rest, {device}}}),
                          0x1234};
    JobTableRow row = TableRow();
    row.remains = remains;
    row.given_up = {{7, 0}, {9, 12}};
    const auto read = ParseJobTableRow("job/a", ToText(row));
    VERIFY_OK(read);
    QVERIFY(read->remains == remains);
    QVERIFY(read->given_up == row.given_up);
    QVERIFY(!ParseJobTableRow("job/a", ToText(TableRow()))->remains);
    TxnRow txn{9, "nano", 2, 4, layout, {true, 0}, true, 1, 1.5};
    txn.rounds = {{}, {0}, rest};
    VERIFY_ERROR(ParseTxnRow(ToText(txn)), ErrorCode::kDataLoss, "where the state lies");
    txn.before = remains;
    const auto again = ParseTxnRow(ToText(txn));
    VERIFY_OK(again);
    QVERIFY(again->rounds == txn.rounds && again->before == txn.before);
    for (const int wrong : {-1, count, 0}) {
      txn.rounds = {{0}, {wrong}};
      VERIFY_ERROR(ParseTxnRow(ToText(txn)), ErrorCode::kDataLoss,
                   "its rounds move tensor " + std::to_string(wrong));
    }
    auto json = nlohmann::json::parse(ToText(row));
    json["given_up"][0]["rounds"] = -1;
    VERIFY_ERROR(ParseJobTableRow("job/a", json.dump()), ErrorCode::kDataLoss, "are below 0");
    json = nlohmann::json::parse(ToText(row));
    json["remains"]["parts"][0]["tensors"] = {count};
    VERIFY_ERROR(ParseJobTableRow("job/a", json.dump()), ErrorCode::kDataLoss, "is not in 0..");
    json["remains"]["parts"][0]["tensors"] = "all";
    VERIFY_ERROR(ParseJobTableRow("job/a", json.dump()), ErrorCode::kDataLoss, "'job/a'");
    wire::Prepare message;
    QVERIFY(RemainsOf(message) && !*RemainsOf(message));
    Encode(remains, &message);
    QVERIFY(RemainsOf(message) && **RemainsOf(message) == remains);
    message.mutable_parts(0)->set_layout("{");
    QVERIFY(!RemainsOf(message));
  }

  void roundsRoundTrip() {
    const auto noted = ParseRoundRow(ToText(RoundRow{9, 4, ""}));
    VERIFY_OK(noted);
    QCOMPARE(noted->id, 9);
    QCOMPARE(noted->round, 4);
    QVERIFY(noted->given_up.empty());
    const auto ended = ParseRoundRow(ToText(RoundRow{9, 4, "n1 has come back without it"}));
    VERIFY_OK(ended);
    QCOMPARE(ended->given_up, std::string("n1 has come back without it"));
    for (const char* const text : {"", "9", "nine 4"}) {
      VERIFY_ERROR(ParseRoundRow(text), ErrorCode::kDataLoss, "'txn-round'");
    }
  }

  // Settings of a user may contain any bytes.
  void bytesThatAreNotUtf8DoNotAbort() {
    JobTableRow row = TableRow();
    row.reason = "bad \xff byte";
    VERIFY_OK(ParseJobTableRow("job/a", ToText(row)));
  }

  void damagedRowsAreRefused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("no JSON") << QByteArray("{");
    QTest::newRow("no object") << QByteArray("[1]");
    QTest::newRow("a missing member") << QByteArray(R"({"job":"nano"})");
    QTest::newRow("a layout that is none")
        << QByteArray(R"({"layout":"x","to":"x","settings":"{}","epoch":1,"timeline":0})");
  }
  void damagedRowsAreRefused() {
    QFETCH(QByteArray, text);
    VERIFY_ERROR(ParseJobRow("job/a", text.toStdString()), ErrorCode::kDataLoss, "'job/a'");
    VERIFY_ERROR(ParseJobTableRow("job/a", text.toStdString()), ErrorCode::kDataLoss, "'job/a'");
    VERIFY_ERROR(ParseTxnRow(text.toStdString()), ErrorCode::kDataLoss, "'txn'");
  }

  void typesAndStatesAreChecked() {
    const std::string text = ToText(TableRow());
    const auto with = [&](const std::string& from, const std::string& to) {
      std::string out = text;
      const auto at = out.find(from);
      return at == std::string::npos ? std::string() : out.replace(at, from.size(), to);
    };
    VERIFY_ERROR(ParseJobTableRow("job/a", with("\"slot\":7", "\"slot\":\"7\"")),
                 ErrorCode::kDataLoss, "'job/a'");
    const auto state = ParseJobTableRow("job/a", with("\"state\":\"paused\"", "\"state\":\"odd\""));
    QVERIFY(!state);
  }

  void snapshotsRoundTrip() {
    const SnapshotRow row = SnapshotOfRow();
    const auto read = ParseSnapshotRow("snapshot/7", ToText(row));
    VERIFY_OK(read);
    QCOMPARE(read->id, row.id);
    QCOMPARE(read->state.step, row.state.step);
    QCOMPARE(read->state.layout.hash(), row.state.layout.hash());
    QCOMPARE(read->digest, row.digest);
    QCOMPARE(read->of_timeline, row.of_timeline);
    QCOMPARE(read->state.origin, row.state.origin);
    auto json = nlohmann::json::parse(ToText(row));
    json.erase("origin");  // an earlier version leaves it out
    const auto earlier = ParseSnapshotRow("snapshot/7", json.dump());
    VERIFY_OK(earlier);
    QCOMPARE(earlier->state.origin, std::uint64_t{0});
  }

  // Its digest must not be compared with those of this version.
  void aSnapshotsDigestOfAnotherAlgorithmIsUnknown() {
    for (const char* const algorithm : {"", "another"}) {
      auto json = nlohmann::json::parse(ToText(SnapshotOfRow()));
      QCOMPARE(json["digest_algorithm"].get<std::string>(), std::string("linear32-1"));
      json["digest_algorithm"] = algorithm;
      if (*algorithm == '\0') json.erase("digest_algorithm");
      const auto read = ParseSnapshotRow("snapshot/7", json.dump());
      VERIFY_OK(read);
      QCOMPARE(read->digest, std::string());
      QCOMPARE(read->state.step, std::int64_t{40});
    }
  }

  void damagedSnapshotsAreErrors() {
    VERIFY_ERROR(ParseSnapshotRow("snapshot/7", "{"), ErrorCode::kDataLoss, "snapshot/7");
    VERIFY_ERROR(ParseSnapshotRow("snapshot/7", R"({"id":7})"), ErrorCode::kDataLoss, "snapshot/7");
  }
};
TESSERA_TEST_APPLESS(JournalRowsTest)
#include "journal_rows_test.moc"
