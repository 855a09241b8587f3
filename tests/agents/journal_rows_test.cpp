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
  return {{R"({"model":"gpt-nano"})", LayoutOfRow(), 3, 1},
          {true, 4},
          7,
          engine::JobState::kPaused,
          "data: \"a\" at byte 96",
          120};
}

SnapshotRow SnapshotOfRow() {
  return {7, {"nano", 3, 2, 40, LayoutOfRow()}, "0123456789abcdef", 1};
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
    QVERIFY(read->options == row.options);
    QCOMPARE(read->slot, row.slot);
    QVERIFY(read->state == row.state);
    QCOMPARE(read->reason, row.reason);
    QCOMPARE(read->step, row.step);
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
