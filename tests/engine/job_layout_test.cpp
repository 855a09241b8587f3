// SPDX-License-Identifier: Apache-2.0
#include "engine/model/job_layout.h"

#include <QTest>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::JobSettings;

namespace {

constexpr char kTensors[] = R"({"layers": 4, "tensors": [
  {"name": "embed", "dtype": "f32", "shape": [4096]},
  {"name": "h.{layer}.w", "dtype": "f32", "shape": [64]},
  {"name": "head", "dtype": "f32", "shape": [64]}]})";

JobSettings OwnJob(const std::string& stages) {
  JobSettings settings;
  settings.program = engine::OwnProgram{
      "true", {"tensors", kTensors}, {"rules", R"({"stages": ")" + stages + R"(", "rules": [
        {"match": "embed", "cut": "replicate", "stage": "first"},
        {"match": "h.{layer}.w", "cut": "replicate"},
        {"match": "head", "cut": "replicate", "stage": "last"}]})"}};
  return settings;
}

}  // namespace

class JobLayoutTest : public QObject {
  Q_OBJECT
 private slots:
  void ownJobsDealTheirLayers_data() {
    QTest::addColumn<QString>("stages");
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<QString>("expected");  // stage of each layer
    QTest::newRow("uniform") << "uniform"
                             << "pp=2 on 1x2"
                             << "0011";
    QTest::newRow("a list") << "0,0,0,1"
                            << "pp=2 on 1x2"
                            << "0001";
    QTest::newRow("a list, without stages") << "0,0,0,1"
                                            << "pp=1 on 1x1"
                                            << "0000";
    QTest::newRow("interleaved") << "uniform*2"
                                 << "pp=2 on 1x2"
                                 << "0101";
    QTest::newRow("interleaved, without stages") << "uniform*2"
                                                 << "pp=1 on 1x1"
                                                 << "0000";
    QTest::newRow("the embedding weighs more than all layers") << "balanced"
                                                               << "pp=2 on 1x2"
                                                               << "1111";
    QTest::newRow("a list with dp") << "0,1,1,1"
                                    << "dp=2,pp=2 on 2x2"
                                    << "0111";
  }
  void ownJobsDealTheirLayers() {
    QFETCH(QString, stages);
    QFETCH(QString, mesh);
    QFETCH(QString, expected);
    const auto job = engine::TensorsOf(OwnJob(stages.toStdString()), false);
    VERIFY_OK(job);
    const auto layout = engine::MakeLayout(*job, *ptc::ParseDeviceMesh(mesh.toStdString()));
    VERIFY_OK(layout);
    QString dealt;
    for (const std::int64_t stage : layout->stage_of_layer()) dealt += QString::number(stage);
    QCOMPARE(dealt, expected);
    VERIFY_OK(engine::CheckRunnable(OwnJob("uniform"), *layout));
    // It survives the text that registrar and agents keep of it.
    const auto back = ptc::ParseLayout(ptc::ToJson(*layout));
    VERIFY_OK(back);
    QVERIFY(*back == *layout && back->hash() == layout->hash());
  }

  void aListIsForItsNumberOfStages() {
    const auto job = engine::TensorsOf(OwnJob("0,0,0,1"), false);
    VERIFY_OK(job);
    VERIFY_ERROR(engine::MakeLayout(*job, *ptc::ParseDeviceMesh("pp=4 on 1x4")),
                 ErrorCode::kInvalidArgument,
                 "stages 0,0,0,1 are for pp = 2, the mesh has pp = 4: pp can be 1 or 2");
    const auto flat = engine::TensorsOf(OwnJob("0,0,0,0"), false);
    VERIFY_OK(flat);
    VERIFY_ERROR(engine::MakeLayout(*flat, *ptc::ParseDeviceMesh("pp=2 on 1x2")),
                 ErrorCode::kInvalidArgument, "pp can be 1");
    const auto wrong = engine::TensorsOf(OwnJob("0,1"), false);
    VERIFY_OK(wrong);
    VERIFY_ERROR(engine::MakeLayout(*wrong, *ptc::ParseDeviceMesh("pp=2 on 1x2")),
                 ErrorCode::kInvalidArgument, "stages are given for 2 layers, but there are 4");
  }

  void theBuiltInTrainerSaysItsLimit_data() {
    QTest::addColumn<QString>("stages");
    QTest::addColumn<bool>("runs");
    QTest::newRow("uniform") << "uniform" << true;
    QTest::newRow("interleaved") << "uniform*2" << false;
    QTest::newRow("balanced") << "balanced" << false;
    QTest::newRow("a list") << "0,0,0,1" << false;
  }
  void theBuiltInTrainerSaysItsLimit() {
    QFETCH(QString, stages);
    QFETCH(bool, runs);
    JobSettings settings;
    settings.model = *engine::FindModel("gpt-mini");
    auto job = engine::TensorsOf(settings, false);
    VERIFY_OK(job);
    QVERIFY(job->stages == ptc::StageRule{});
    job->stages = *ptc::ParseStageRule(stages.toStdString());
    const auto layout = engine::MakeLayout(*job, *ptc::ParseDeviceMesh("pp=2 on 1x2"));
    VERIFY_OK(layout);
    const Status can = engine::CheckRunnable(settings, *layout);
    QCOMPARE(can.has_value(), runs);
    if (runs) return;
    VERIFY_ERROR(can, ErrorCode::kInvalidArgument,
                 "stages are " + stages.toStdString() + ": the built-in trainer runs uniform");
  }
};

TESSERA_TEST_APPLESS(JobLayoutTest)
#include "job_layout_test.moc"
