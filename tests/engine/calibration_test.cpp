// SPDX-License-Identifier: Apache-2.0
#include "engine/search/calibration.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "engine/search/least_squares.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::Calibration;
using engine::ParseCalibration;
using nlohmann::json;

class CalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void aCalibrationComesBackAsItWas() {
    Calibration calibration;
    calibration.measured_at = 1'700'000'000.25;
    calibration.cpu = "a \"cpu\" \xE2\x82\xAC";
    calibration.cores = 12;
    calibration.network_all_reduce.eight = {0.0123, 4.5e-9};
    calibration.shared_send.seconds_per_byte = 1e-10;
    const auto back = ParseCalibration(engine::ToJson(calibration));
    VERIFY_OK(back);
    QVERIFY(*back == calibration);
    const std::string text = engine::ToJson(calibration);
    QVERIFY(text.find('\n') == std::string::npos);
  }

  void badInputIsNamed_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* key, const char* value, const char* says) {
      QTest::newRow(name) << key << value << says;
    };
    row("no cores", "cores", "0", "'cores' is not an integer from 1 to 4096");
    row("half a core", "cores", "1.5", "'cores'");
    row("too many cores", "cores", "18446744073709551615", "'cores'");
    row("cores as text", "cores", "\"2\"", "'cores'");
    row("no name", "cpu", "null", "'cpu'");
    row("negative latency", "shared_send.seconds", "-1", "'shared_send.seconds' = -1");
    row("not a number", "layer_seconds", "\"fast\"", "'layer_seconds' = \"fast\"");
    row("too slow", "network_gather.4.seconds", "1e9", "'network_gather.4.seconds'");
    row("no FLOPs", "flops_per_second", "0", "'flops_per_second'");
    row("a list", "update_seconds", "[1]", "'update_seconds'");
    row("unknown", "turbo", "1", "unknown key 'turbo'");
  }
  void badInputIsNamed() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, says);
    json object = json::parse(engine::ToJson(Calibration{}));
    object[key.toStdString()] = json::parse(value.toStdString());
    VERIFY_ERROR(ParseCalibration(object.dump()), ErrorCode::kInvalidArgument, says.toStdString());
  }

  void everyKeyIsNeeded() {
    const json whole = json::parse(engine::ToJson(Calibration{}));
    QVERIFY(whole.size() > 30);
    for (const auto& [key, value] : whole.items()) {
      json part = whole;
      part.erase(key);
      VERIFY_ERROR(ParseCalibration(part.dump()), ErrorCode::kInvalidArgument, "'" + key + "'");
    }
    VERIFY_ERROR(ParseCalibration("[]"), ErrorCode::kInvalidArgument, "not a JSON object");
    VERIFY_ERROR(ParseCalibration("{\"cpu\":"), ErrorCode::kInvalidArgument, "not a JSON object");
    const std::string text = engine::ToJson(Calibration{});
    for (std::size_t size = 0; size < text.size(); size += 7) {
      QVERIFY(!ParseCalibration(text.substr(0, size)));
    }
  }

  void collectivesOfFewRanksLieOnLines() {
    const engine::CollectiveCost cost{{1, 10}, {3, 20}, {4, 40}};
    QCOMPARE(cost.Of(1).At(1000), 0.0);
    QCOMPARE(cost.Of(2).At(2), 21.0);
    QCOMPARE(cost.Of(4).At(2), 43.0);
    QCOMPARE(cost.Of(8).At(2), 84.0);
    QVERIFY(cost.Of(3).seconds > 1 && cost.Of(3).seconds < 3);
    // A line that falls never goes below nothing.
    const engine::CollectiveCost falling{{1, 1}, {0.5, 0.5}, {0, 0}};
    QCOMPARE(falling.Of(64).At(1), 0.0);
  }

  // A ring of n ranks makes n - 1 rounds per pass, each with an n-th of the bytes.
  void aboveEightRanksItIsARing() {
    constexpr double kLatency = 1e-5, kBandwidth = 5e10;
    const auto ring = [](double n, double passes) {
      return engine::LinkCost{passes * (n - 1) * kLatency, passes * (n - 1) / n / kBandwidth};
    };
    for (const double passes : {1.0, 2.0}) {
      const engine::CollectiveCost cost{ring(2, passes), ring(4, passes), ring(8, passes)};
      for (const std::int64_t ranks : {8, 9, 16, 512, 4096}) {
        const engine::LinkCost expected = ring(static_cast<double>(ranks), passes);
        const engine::LinkCost found = cost.Of(ranks);
        QVERIFY(std::abs(found.seconds / expected.seconds - 1) < 1e-9);
        QVERIFY(std::abs(found.seconds_per_byte / expected.seconds_per_byte - 1) < 1e-9);
      }
    }
  }

  void costsAreFoundAgain() {
    std::mt19937_64 rng(test::Seed());
    const std::vector<double> costs = {1e-4, 3e-4, 1e-11, 0};
    std::vector<engine::Equation> equations;
    for (int i = 0; i < 12; ++i) {
      std::vector<double> counts;
      for (const double scale : {4.0, 16.0, 1e9, 1e6}) {
        counts.push_back(scale * static_cast<double>(1 + rng() % 1000) / 1000);
      }
      double value = 0;
      for (std::size_t c = 0; c < costs.size(); ++c) value += counts[c] * costs[c];
      equations.push_back({counts, value});
    }
    const auto found = engine::FitCosts(equations, costs.size());
    for (std::size_t c = 0; c + 1 < costs.size(); ++c) {
      QVERIFY2(std::abs(found[c] / costs[c] - 1) < 1e-3, qPrintable(QString::number(found[c])));
    }
    QVERIFY(found[3] >= 0 && found[3] < 1e-12);
  }

  // What would come out negative is 0, and the rest is fitted without it.
  void costsAreNeverNegative() {
    const std::vector<engine::Equation> equations = {{{1, 1}, 1}, {{1, 2}, 0.9}, {{1, 3}, 0.8}};
    const auto found = engine::FitCosts(equations, 2);
    QVERIFY(found[0] > 0.8 && found[0] < 1);
    QCOMPARE(found[1], 0.0);
    QCOMPARE(engine::FitCosts({}, 2), (std::vector<double>{0, 0}));
  }
};
TESSERA_TEST_APPLESS(CalibrationTest)
#include "calibration_test.moc"
