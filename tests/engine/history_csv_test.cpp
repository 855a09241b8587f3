// SPDX-License-Identifier: Apache-2.0
// The exact bytes of the export, on which scripts of users depend.
#include <QTest>
#include <cmath>
#include <limits>

#include "engine/history/records.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

class HistoryCsvTest : public QObject {
  Q_OBJECT

 private slots:
  void transactions() {
    HistoryEntry e;
    e.id = 3;
    e.job = "gpt-mini";
    e.from = "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3";
    e.to = "dp=1 on n0g0";
    e.to_options = {true, 4};
    e.started = 1795237133.25;
    e.result = "rolled_back";
    e.reason = "he said \"no\"\nand left";
    e.requester = "tesseractl 0.1.0, lena@lab3";
    e.pause = 0.1;
    e.pause_estimate = 1.75;
    e.bytes_moved = std::int64_t{1} << 40;
    e.volume_bound = 7;
    e.kept = 1;
    e.device = 2;
    e.host = 3;
    e.network = 4;
    e.step = 12;
    e.epoch = 2;
    e.digest_before = "00ff";
    e.digest_after = "00fe";
    e.phases = {{"pausing", 0.5}, {"transferring", 1}};
    e.in_rounds = {100, 3, {{{0, 1}, 90, 91}}};
    e.gradients_planned = 50;
    e.gradients_moved = 60;
    e.origin = 1'795'237'100'500'000'000;
    e.kind = ChangeKind::kLoad;
    e.gap = 0.25;
    e.flows = {{{0, 0}, {1, 2}, 5, 7, 0}, {{0, 1}, {1, 3}, 6, 6, 0}};
    QCOMPARE(CsvHeadOfTransactions() + ToCsv(e),
             std::string(
                 "transaction,job,from,to,from options,to options,started [s since 1970],"
                 "started [UTC],result,reason,who,pause [s],planned pause [s],moved [B],"
                 "volume bound [B],\"kept, planned [B]\",\"device, planned [B]\","
                 "\"host, planned [B]\",\"network, planned [B]\",step,epoch,digest before,"
                 "digest after,phases [s],flows [B],move in rounds [B],"
                 "\"gradients, planned [B]\",\"gradients, moved [B]\",job started [s since 1970],"
                 "change kind,gap between steps [s]\r\n"
                 "3,gpt-mini,\"dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3\",dp=1 on n0g0,,"
                 "\"zero, micro-batch 4\",1795237133.25,2026-11-21T04:58:53.250Z,rolled_back,"
                 "\"he said \"\"no\"\"\nand left\",\"tesseractl 0.1.0, lena@lab3\",0.1,1.75,"
                 "1099511627776,7,1,2,3,4,12,2,00ff,00fe,pausing=0.5 transferring=1,"
                 "n0g0>n1g2=5 n0g1>n1g3=6,100 3 n0g1=90/91,50,60,1795237100.5,load,0.25\r\n"));
  }

  // An unknown value is empty in CSV and null in JSON.
  void whatIsNotKnownIsLeftOut() {
    HistoryEntry bare;
    bare.id = 9;
    QVERIFY(ToCsv(bare).find(",0,,0,0,,,,,0,0,,,,,,0,0,,reconfigure,\r\n") != std::string::npos);
    const std::string json = ToJson(bare);
    QVERIFY(json.find(R"("pause_estimate_seconds":null)") != std::string::npos);
    QVERIFY(json.find(R"("bytes":{"kept":null,"device":null,"host":null,"network":null})") !=
            std::string::npos);
  }

  void json() {
    HistoryEntry e;
    e.id = 3;
    e.job = "gpt \xff";
    e.to = "dp=1,tp=2,pp=1 on n0g0,n1g2";
    e.to_options = {true, 4};
    e.network = 4;
    e.phases = {{"pausing", 0.5}};
    e.flows = {{{0, 0}, {1, 2}, 5, 7, 2.5}};
    QCOMPARE(ToJson(e),
             std::string("{\"id\":3,\"job\":\"gpt \xEF\xBF\xBD\",\"from\":null,"
                         R"("to":{"mesh":{"dp":1,"tp":2,"pp":1,"ep":1,"cp":1},)"
                         R"("devices":["n0g0","n1g2"],"zero":true,"micro_batch":4},"started":0.0,)"
                         R"("result":"","reason":"","who":"","pause_seconds":0.0,)"
                         R"("pause_estimate_seconds":null,"moved_bytes":0,"volume_bound_bytes":0,)"
                         R"("bytes":{"kept":0,"device":0,"host":0,"network":4},"step":0,"epoch":0,)"
                         R"("digest_before":"","digest_after":"","phase_seconds":{"pausing":0.5},)"
                         R"("flows":[{"source":"n0g0","destination":"n1g2","bytes":5,)"
                         R"("planned_bytes":7,"bytes_per_second":2.5}],"move_memory":null,)"
                         R"("gradient_bytes":{"planned":0,"moved":0},"job_started":null,)"
                         R"("change_kind":"reconfigure","gap_seconds":null})"));
    e.in_rounds = {100, 3, {{{0, 1}, 90, 91}}};
    e.gradients_planned = 50;
    e.gradients_moved = 60;
    QVERIFY(ToJson(e).ends_with(R"("move_memory":{"limit_bytes":100,"rounds":3,)"
                                R"("extra_bytes":{"n0g1":{"planned":90,"measured":91}}},)"
                                R"("gradient_bytes":{"planned":50,"moved":60},"job_started":null,)"
                                R"("change_kind":"reconfigure","gap_seconds":null})"));
    QCOMPARE(ToJson(Event{7, 0, Severity::kError, "n0", "a\nb"}),
             std::string(R"({"sequence":7,"time":0.0,"severity":"error","source":"n0",)"
                         R"("text":"a\nb","note":null})"));
    QCOMPARE(ToJson(Sample{"j", 1, std::nan(""), 1, 2, 3}),
             std::string(R"({"job":"j","step":1,"time":3.0,"loss":null,"grad_norm":1.0,)"
                         R"("tokens_per_second":2.0,"job_started":null,"metrics":{}})"));
    Sample sample{"j", 1, 1, 1, 2, 3};
    sample.metrics = {{"accuracy", 0.5}, {"b", std::nan("")}};
    QVERIFY(ToJson(sample).ends_with(R"("metrics":{"accuracy":0.5,"b":null}})"));
    sample.origin = 1'795'237'100'500'000'000;
    QVERIFY(ToJson(sample).find(R"("job_started":1795237100.5)") != std::string::npos);
  }

  void events() {
    QCOMPARE(CsvHeadOfEvents() + ToCsv(Event{7, 0, Severity::kError, "n0", "a,\rb"}),
             std::string("event,time [s since 1970],time [UTC],severity,source,text,node state\r\n"
                         "7,0,1970-01-01T00:00:00.000Z,error,n0,\"a,\rb\",\r\n"));
    Event told{8, 0, Severity::kInfo, "n2", "is back"};
    told.note = NodeNote{2, NodeState::kAlive, {0, 3}};
    QVERIFY(ToCsv(told).ends_with(",is back,2 alive 0 3\r\n"));
    QVERIFY(ToJson(told).ends_with(R"("note":"2 alive 0 3"})"));
  }

  void samples() {
    const double inf = std::numeric_limits<double>::infinity();
    QCOMPARE(CsvHeadOfSamples() + ToCsv(Sample{"j", 1, std::nan(""), -inf, 5.123456789012345, inf}),
             std::string("job,step,time [s since 1970],time [UTC],loss,gradient norm,"
                         "rate [tokens/s],job started [s since 1970]\r\n"
                         "j,1,inf,,NaN,-inf,5.123456789012345,\r\n"));
    Sample sample{"j", 1, 1, 1, 2, 3};
    sample.metrics = {{"accuracy", 0.5}, {"eval/loss", std::nan("")}, {"left out", 1}};
    const std::set<std::string> names = {"accuracy", "eval/loss", "lr"};
    QVERIFY(
        CsvHeadOfSamples(names).ends_with("job started [s since 1970],metrics.accuracy,"
                                          "metrics.eval/loss,metrics.lr\r\n"));
    QVERIFY(ToCsv(sample, names).ends_with(",1,1,2,,0.5,NaN,\r\n"));
  }
};

TESSERA_TEST_APPLESS(HistoryCsvTest)
#include "history_csv_test.moc"
