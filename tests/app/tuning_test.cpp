// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tuning.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "app/commands/proposal.h"
#include "tests/support/test_main.h"

using namespace tessera;
using app::Configuration;
using app::Measurement;

namespace {

Configuration ConfigurationOf(const char* mesh, const char* devices,
                              engine::StepOptions options = {}) {
  return {*ptc::ParseMeshShape(mesh), *ptc::ParseDevices(devices), options, false};
}

engine::Sample SampleAt(std::int64_t step, double time) {
  engine::Sample sample;
  sample.step = step;
  sample.time = time;
  return sample;
}

}  // namespace

class TuningTest : public QObject {
  Q_OBJECT

 private slots:
  void theMedianStepLeavesOutTheWarmUp() {
    // Steps of 9 s and 5 s, then 1, 2, 1, 1: the median of the last four is 1.
    std::vector<engine::Sample> samples;
    double time = 100;
    std::int64_t step = 7;
    samples.push_back(SampleAt(step, time));
    for (const double seconds : {9.0, 5.0, 1.0, 2.0, 1.0, 1.0}) {
      samples.push_back(SampleAt(++step, time += seconds));
    }
    QCOMPARE(app::medianStep(samples, 2), 1.0);
    QCOMPARE(app::medianStep(samples, 0), 1.5);
    // A sample that was lost does not count as one long step.
    samples.erase(samples.begin() + 5);
    QCOMPARE(app::medianStep(samples, 2), 1.0);
  }

  void errorsAreOfThePrediction() {
    const std::vector<Measurement> measurements = {
        {ConfigurationOf("dp=2", "n0g0,n0g1"), 1.1, 1.0, ""},
        {ConfigurationOf("tp=2", "n0g0,n0g1"), 0.7, 1.0, ""},
        {ConfigurationOf("pp=2", "n0g0,n0g1"), 0, 0.5, ""},
        {ConfigurationOf("dp=1", "n0g0"), 0.9, 0, "it broke"}};
    QVERIFY(std::abs(*app::errorOf(measurements[0]) - 0.1) < 1e-12);
    QVERIFY(std::abs(*app::errorOf(measurements[1]) + 0.3) < 1e-12);
    QVERIFY(!app::errorOf(measurements[2]));
    QVERIFY(!app::errorOf(measurements[3]));
    QVERIFY(std::abs(*app::medianError(measurements) - 0.2) < 1e-12);
    QVERIFY(app::fastest(measurements) == &measurements[2]);
    QVERIFY(!app::medianError({}));
    QVERIFY(app::fastest({}) == nullptr);
    QVERIFY(app::fastest({measurements[3]}) == nullptr);
  }

  void theTableShowsWhatIsUnknownAsADash() {
    const std::string text = app::describeMeasurements(
        {{ConfigurationOf("dp=2", "n0g0,n0g1", {true, 4}), 0.11, 0.1, ""},
         {ConfigurationOf("dp=1", "n0g0"), 0, 0, "transaction 3 was rolled back: rank 1 exited"}});
    QVERIFY2(text.find("zero, micro-batch 4") != std::string::npos, text.c_str());
    QVERIFY(text.find("+10 %") != std::string::npos);
    QVERIFY(text.find("failed") != std::string::npos);
    QVERIFY(text.find("transaction 3 was rolled back: rank 1 exited\n") != std::string::npos);
    QVERIFY(text.find("median error of the prediction: 10 %") != std::string::npos);
    QCOMPARE(app::describeMeasurements({}), std::string("nothing was measured\n"));
  }

  void jsonHasTheKeysThatScriptsUse() {
    const Configuration kept = ConfigurationOf("dp=2", "n0g0,n0g1");
    const app::Json json =
        app::toJson({{kept, 0.11, 0.1, ""}, {ConfigurationOf("dp=1", "n0g0"), 0, 0, "no"}}, kept);
    QCOMPARE(json["measurements"].size(), 2U);
    QCOMPARE(json["measurements"][0]["mesh"]["dp"].get<int>(), 2);
    QVERIFY(json["measurements"][1]["predicted_seconds"].is_null());
    QCOMPARE(json["measurements"][1]["failure"].get<std::string>(), std::string("no"));
    QVERIFY(json["median_error"].get<double>() > 0.09);
    QCOMPARE(json["kept"]["devices"].size(), 2U);
  }

  void aProposalIsATable() {
    engine::Proposal proposal;
    proposal.job = "gpt";
    engine::Candidate best;
    best.mesh = *ptc::ParseMeshShape("dp=4");
    best.step_seconds = 0.25;
    best.pause_seconds = 0.1;
    best.moved_bytes = 1 << 20;
    best.peak_bytes = 5;
    best.capacity = 10;
    best.recommended = true;
    best.moves_least = true;
    engine::Candidate current = best;
    current.moves_least = false;
    current.fastest = true;
    current.recommended = false;
    current.current = true;
    current.step_seconds = 0;
    current.idle = {{0, 3}};
    engine::Candidate big = best;
    big.recommended = big.moves_least = false;
    big.peak_bytes = 11;
    proposal.candidates = {best, current, big};
    proposal.why = "dp=4 it is.";
    const std::string text = app::describeProposal(proposal, 2048);
    const auto lines = QString::fromStdString(text).split('\n');
    QVERIFY(lines[1].startsWith("*  dp=4,tp=1,pp=1"));
    QVERIFY(lines[1].contains("8192"));
    QVERIFY(lines[2].startsWith("="));
    QVERIFY(lines[1].trimmed().endsWith("moves least, uses all"));
    QVERIFY(lines[2].trimmed().endsWith("fastest"));
    QVERIFY(lines[3].contains("does not fit"));
    QVERIFY(text.find("dp=4 it is.\n") != std::string::npos);
    QVERIFY(text.find("built-in constants; `tesseractl probe`") != std::string::npos);
    proposal.calibrated = 1e9;
    QVERIFY(app::describeProposal(proposal, std::nullopt).find("measured on this cluster at") !=
            std::string::npos);
    QVERIFY(text.find("one node: ") == std::string::npos);  // unknown, so not said
    proposal.candidates[0].survival = engine::Survival{1, 18 << 20};
    QVERIFY(app::describeProposal(proposal, std::nullopt)
                .find("\nsurvives the loss of any one node: no (n1 would lose 18.0 MiB)\n") !=
            std::string::npos);
    QCOMPARE(app::describeSurvival({}), std::string("survives the loss of any one node: yes"));
  }
};
TESSERA_TEST_APPLESS(TuningTest)
#include "tuning_test.moc"
