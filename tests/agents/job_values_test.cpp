// SPDX-License-Identifier: Apache-2.0 Values that ranks compute and receive, without a running
// rank.
#include <fmt/format.h>

#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "agents/job/c_view.h"
#include "agents/job/decision.h"
#include "agents/job/tessera_job.h"
#include "agents/keeper/packet.h"
#include "agents/wire/tessera/wire/rank.pb.h"
#include "engine/data/dropout.h"
#include "engine/data/random_stream.h"
#include "tests/agents/job_node.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;

class JobValuesTest : public QObject {
  Q_OBJECT
 private slots:
  void decideReducesInRankOrder() {
    const std::vector<tessera_record> records = {
        {1.5, 9, 0, 10, 0}, {0.25, 16, 0, 20, 7}, {0.25, 0, 0, 30, 3}};
    const tessera_decision decision = Decide(4, records, 2.5);
    QCOMPARE(decision.step, 4);
    QCOMPARE(decision.loss, 2.0);
    QCOMPARE(decision.norm2, 25.0);
    QCOMPARE(decision.tokens, 60);
    QCOMPARE(decision.pause, 7ULL);
    QCOMPARE(decision.skip, 0);
    QCOMPARE(decision.clip, 2.5 / (5 + 1e-6));
    QCOMPARE(Decide(4, records, 100).clip, 1.0);
    QCOMPARE(Decide(4, records, 0).clip, 1.0);
  }
  void decideSkipsWhatIsNotFinite() {
    std::vector<tessera_record> records = {{1, 1, 0, 1, 0}, {1, 1, 5, 1, 0}};
    QCOMPARE(Decide(1, records, 1).skip, 1);
    QCOMPARE(Decide(1, records, 1).found_inf, 1);
    records[1].found_inf = 0;
    QCOMPARE(Decide(1, records, 1).skip, 0);
    records[0].norm2 = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(Decide(1, records, 1).skip, 1);
    QCOMPARE(Decide(1, records, 1).clip, 1.0);
  }

  void viewsSurviveTheirTextForm() {
    RankView view = ViewOf(1, 3, 1LL << 40, 2);
    view.micro_batch = 4;
    view.address_of_rank[1] = "fe80::1%eth0";
    const auto parsed = ParseRankView(ToJson(view));
    SUCCEEDS(parsed);
    QVERIFY(*parsed == view);
  }
  // A packet of the rank protocol has at most 128 KiB.
  void theViewOfALargeJobFitsIntoAPacket() {
    constexpr int kNodes = 2048, kRanks = kNodes * 8;
    RankView view = ViewOf(kRanks - 1, kRanks, 1, 3);
    for (int rank = 0; rank < kRanks; ++rank) {
      const int node = rank / 8;
      const auto at = static_cast<std::size_t>(rank);
      view.node_of_rank[at] = node;
      view.host_of_rank[at] = node;
      view.address_of_rank[at] = fmt::format("10.{}.{}.{}", 100 + node % 100, node / 100, 100);
    }
    wire::RankView packed;
    ToWire(view, &packed);
    QVERIFY2(packed.ByteSizeLong() < kMaxPacketBytes * 3 / 4,
             qPrintable(QString::number(packed.ByteSizeLong())));
    const auto back = FromWire(packed);
    SUCCEEDS(back);
    QVERIFY(*back == view);
  }
  void theViewBeforeTheCurrentOneStaysReadable() {
    CViews views(ViewOf(0, 2, 1));
    for (std::int64_t epoch = 2; epoch < 100; ++epoch) {
      const tessera_view* before = &views.current().c();
      views.Push(ViewOf(1, 3, epoch));
      QCOMPARE(views.current().c().epoch, epoch);
      QCOMPARE(views.current().c().world, 3);
      QCOMPARE(views.current().c().address_of_rank[2], "127.0.0.1");
      QCOMPARE(before->epoch, epoch - 1);
      QCOMPARE(before->address_of_rank[0], "127.0.0.1");
      QCOMPARE(views.num_kept(), std::size_t{2});
    }
  }
  void theLibraryHasTheVersionOfTheHeader() {
    QCOMPARE(tessera_job_version(), TESSERA_JOB_VERSION);
  }

  void badViewsAreRefused_data() {
    QTest::addColumn<QString>("json");
    QTest::newRow("no json") << "{";
    QTest::newRow("empty world") << "{}";
    QTest::newRow("rank outside the world") << R"({"rank": 2, "world": 2})";
    QTest::newRow("lists too short") << R"({"rank": 0, "world": 2, "place_of_rank": [0]})";
    QTest::newRow("negative micro-batch")
        << R"({"rank": 0, "world": 1, "axis_size": [1,1,1,1,1], "axis_coord": [0,0,0,0,0],
               "micro_batch": -1, "places": [{"address": "127.0.0.1"}], "place_of_rank": [0]})";
    QTest::newRow("place outside the list")
        << R"({"rank": 0, "world": 1, "axis_size": [1,1,1,1,1], "axis_coord": [0,0,0,0,0],
               "places": [{"address": "127.0.0.1"}], "place_of_rank": [1]})";
    QTest::newRow("unknown key") << R"({"rnak": 0})";
  }
  void badViewsAreRefused() {
    QFETCH(QString, json);
    const auto view = ParseRankView(json.toStdString());
    QVERIFY(!view);
    QCOMPARE(view.error().code, ErrorCode::kInvalidArgument);
  }

  void torchrunVariables() {
    RankView view = ViewOf(2, 4, 1);
    view.node_of_rank = {0, 3, 0, 3};
    QCOMPARE(
        TorchrunEnvironment(view, "10.0.0.1", 29400),
        (std::vector<std::string>{"RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2",
                                  "MASTER_ADDR=10.0.0.1", "MASTER_PORT=29400"}));
    view.rank = -1;
    QVERIFY(TorchrunEnvironment(view, "10.0.0.1", 29400).empty());
    RankEnvironmentSpec spec{
        .base = {"RANK=7", "MASTER_PORT=1", "RANKING=1", "TESSERA_STEP_TIME=2", "TESSERA_VIEW=3"},
        .socket = "/s",
        .id = Node::Id(0),
        .settings = "{}",
        .settings_file = {},
        .initialise = false,
        .view = ViewOf(0, 1, 1),
        .view_file = {},
        .layout_file = "/l"};
    const auto environment = RankEnvironment(spec);
    QCOMPARE(environment[0], std::string("RANKING=1"));
    QCOMPARE(environment[1], std::string("TESSERA_STEP_TIME=2"));
    QCOMPARE(std::count(environment.begin(), environment.end(), "RANK=7"), 0);
    QCOMPARE(std::count(environment.begin(), environment.end(), "MASTER_PORT=1"), 0);
    QCOMPARE(std::count(environment.begin(), environment.end(), "PYTHONHASHSEED=0"), 1);
    spec.base.emplace_back("PYTHONHASHSEED=7");
    const auto hashed = RankEnvironment(spec);
    QCOMPARE(std::count(hashed.begin(), hashed.end(), "PYTHONHASHSEED=7"), 1);
    QCOMPARE(std::count(hashed.begin(), hashed.end(), "PYTHONHASHSEED=0"), 0);
    spec.view_file = "/v";
    const auto by_file = RankEnvironment(spec);
    QCOMPARE(std::count(by_file.begin(), by_file.end(), "TESSERA_VIEW_FILE=/v"), 1);
    QVERIFY(std::ranges::none_of(
        by_file, [](const std::string& entry) { return entry.starts_with("TESSERA_VIEW="); }));
  }

  void randomNumbersAreThoseOfTheTrainer() {
    const engine::RandomStream stream(5, engine::RandomPurpose::kInitialise, "w");
    for (const std::int64_t first : {0, 1, 3, 1000}) {
      std::vector<float> values(11);
      tessera_random_normal(5, "w", first, values.data(), values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(values[i], stream.Normal(first + static_cast<std::int64_t>(i)));
      }
    }
  }

  void dropoutAndUniformNumbersAreThoseOfTheEngine() {
    std::vector<float> values(70), expected(70);
    QCOMPARE(tessera_dropout_mask(3, 4, 5, 9, 0.25, values.data(), values.size()), 0);
    engine::DropoutMask(3, 4, 5, 9, 0.25, expected);
    QVERIFY(values == expected);
    QVERIFY(tessera_dropout_mask(3, 4, 5, 9, 1, values.data(), values.size()) < 0);
    QCOMPARE(tessera_last_error(),
             "dropout with probability 1 from element 9: the limits are [0, 1) and 0");
    tessera_random_uniform(3, "noise", 5, 9, values.data(), values.size());
    engine::UniformNumbers(3, "noise", 5, 9, expected);
    QVERIFY(values == expected);
  }

  void aCursorGoesOnAcrossPasses() {
    tessera_cursor cursor{.seed = 8, .pass = 0, .next = 0};
    QCOMPARE(tessera_advance(&cursor, 10, 34), 0);
    QCOMPARE(cursor.seed, 8);
    QCOMPARE(cursor.pass, 3);
    QCOMPARE(cursor.next, 4);
    QVERIFY(tessera_advance(&cursor, 0, 1) < 0);
    QVERIFY(tessera_advance(&cursor, 10, -1) < 0);
    QCOMPARE(tessera_last_error(), "no position -1 samples after cursor pass 3, next 4 of 10");
    QCOMPARE(cursor.next, 4);
  }
};

TESSERA_TEST_APPLESS(JobValuesTest)
#include "job_values_test.moc"
