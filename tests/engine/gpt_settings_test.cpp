// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "engine/model/gpt.h"
#include "ptc/layout.h"

using namespace tessera;
using engine::GptConfig;
using engine::JobSettings;

namespace {

JobSettings SettingsOf(const char* model) {
  JobSettings settings;
  settings.model = *engine::FindModel(model);
  return settings;
}

std::int64_t Parameters(const ptc::Collection& collection) {
  std::int64_t sum = 0;
  for (const auto& tensor : collection.tensors()) {
    if (tensor.role == ptc::TensorRole::kParam) sum += *ptc::NumElements(tensor.shape);
  }
  return sum;
}

}  // namespace

class GptSettingsTest : public QObject {
  Q_OBJECT
 private slots:
  void modelsHaveTheirSizes() {
    const auto parameters = [](const char* name) {
      return Parameters(**engine::MakeCollection(*engine::FindModel(name)));
    };
    // Counted by hand: embeddings, 12 d^2 + 13 d a layer, final norm.
    QCOMPARE(parameters("gpt-mini"), std::int64_t{3257856});
    QCOMPARE(parameters("gpt-10m"),
             std::int64_t{256 * 384 + 128 * 384 + 6 * (12 * 384 * 384 + 13 * 384) + 2 * 384});
    QVERIFY(parameters("gpt-nano") < 200000);
  }

  void namesAreFoundSmallestFirst() {
    std::int64_t last = 0;
    for (const std::string& name : engine::ModelNames()) {
      const auto model = engine::FindModel(name);
      QVERIFY(model.has_value());
      QCOMPARE(model->name, name);
      QCOMPARE(model->width % model->heads, std::int64_t{0});
      const std::int64_t parameters = Parameters(**engine::MakeCollection(*model));
      QVERIFY(parameters > last);
      last = parameters;
    }
    const auto unknown = engine::FindModel("gpt-5");
    QVERIFY(!unknown);
    QCOMPARE(unknown.error().code, ErrorCode::kNotFound);
    QCOMPARE(unknown.error().message,
             std::string("no model 'gpt-5'; there are gpt-nano, gpt-mini, gpt-10m, gpt-25m"));
  }

  void momentsAreCutAsTheirParameter() {
    const auto collection = *engine::MakeCollection(*engine::FindModel("gpt-mini"));
    int parameters = 0;
    for (const auto& tensor : collection->tensors()) {
      if (tensor.role != ptc::TensorRole::kParam) continue;
      ++parameters;
      for (const char* suffix : {".exp_avg", ".exp_avg_sq"}) {
        const auto index = collection->Find(tensor.name + suffix);
        QVERIFY2(index.has_value(), tensor.name.c_str());
        const auto& moment = collection->tensors()[static_cast<std::size_t>(*index)];
        QVERIFY(moment.shape == tensor.shape && moment.rule == tensor.rule &&
                moment.segments == tensor.segments && moment.place == tensor.place &&
                moment.layer == tensor.layer);
      }
    }
    QCOMPARE(collection->tensors().size(), static_cast<std::size_t>(3 * parameters + 2));
  }

  void rankHoldsItsHeadsOfEachOfQkv() {
    const auto collection = *engine::MakeCollection(*engine::FindModel("gpt-mini"));
    const auto layout = ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=1,tp=4 on 1x4"), collection);
    QVERIFY(layout.has_value());
    const auto boxes = layout->Boxes(1, *collection->Find("h.2.attn.qkv.weight"));
    QCOMPARE(boxes.size(), std::size_t{3});
    for (std::size_t part = 0; part < 3; ++part) {
      const auto first = static_cast<std::int64_t>(part) * 256 + 64;
      QCOMPARE(ptc::ToString(boxes[part]),
               "[" + std::to_string(first) + ":" + std::to_string(first + 64) + ",0:256]");
    }
    const auto columns = layout->Boxes(3, *collection->Find("h.0.mlp.fc2.weight"));
    QCOMPARE(columns.size(), std::size_t{1});
    QCOMPARE(ptc::ToString(columns[0]), std::string("[0:256,768:1024]"));
  }

  void everyAcceptedMeshHasALayout() {
    const JobSettings settings = SettingsOf("gpt-mini");
    const auto collection = *engine::MakeCollection(settings.model);
    for (std::int64_t dp = 1; dp <= 17; ++dp) {
      for (std::int64_t tp = 1; tp <= 9; ++tp) {
        ptc::MeshShape shape;
        shape[ptc::Axis::kDp] = dp;
        shape[ptc::Axis::kTp] = tp;
        QCOMPARE(engine::CheckMesh(settings, shape).has_value(), 16 % dp == 0 && 8 % tp == 0);
        if (!engine::CheckMesh(settings, shape)) continue;
        const auto mesh =
            ptc::ParseDeviceMesh(ptc::ToString(shape) + " on 1x" + std::to_string(dp * tp));
        QVERIFY(ptc::Layout::Make(*mesh, collection).has_value());
      }
    }
  }

  void meshIsRefused_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<QString>("message");
    QTest::newRow("heads") << "tp=3"
                           << "8 heads of gpt-mini are not divisible by tp = 3";
    QTest::newRow("batch") << "dp=3"
                           << "global batch 16 is not divisible by dp = 3";
    QTest::newRow("pipeline") << "pp=2"
                              << "pp = 2: the built-in trainer runs pp = 1 only";
    QTest::newRow("context") << "cp=2"
                             << "cp = 2: the built-in trainer runs cp = 1 only";
  }
  void meshIsRefused() {
    QFETCH(QString, mesh);
    QFETCH(QString, message);
    const auto status =
        engine::CheckMesh(SettingsOf("gpt-mini"), *ptc::ParseMeshShape(mesh.toStdString()));
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(status.error().message), message);
  }

  void settingsComeBackFromJson() {
    JobSettings settings = SettingsOf("gpt-nano");
    settings.global_batch = 48;
    settings.seed = -7;
    settings.max_steps = 60;
    settings.learning_rate = 0.1 + 0.2;  // has no short decimal form
    settings.data = {"/a b", "/c\"d\\"};
    const std::string text = engine::ToJson(settings);
    QVERIFY(text.find('\n') == std::string::npos);
    const auto parsed = engine::ParseJobSettings(text);
    QVERIFY2(parsed.has_value(), parsed ? "" : parsed.error().ToString().c_str());
    QVERIFY(*parsed == settings);
  }

  void settingsAreRefused_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("message");
    const QString model =
        R"("model":{"name":"m","layers":1,"width":8,"heads":2,"ffn":8,"sequence":4})";
    QTest::newRow("no JSON") << "{"
                             << "job settings are not JSON";
    QTest::newRow("no model") << "{}"
                              << "job settings have no 'model'";
    QTest::newRow("unknown key") << "{" + model + R"(,"lr":1})"
                                 << "job settings: unknown key 'lr'";
    QTest::newRow("batch of 0")
        << "{" + model + R"(,"global_batch":0})"
        << "job settings: 'global_batch' = 0 is not an integer from 1 to 1099511627776";
    QTest::newRow("integer above int64")
        << "{" + model + R"(,"max_steps":18446744073709551615})"
        << "job settings: 'max_steps' = 18446744073709551615 is not an integer from 0 to "
           "1099511627776";
    QTest::newRow("relative path") << "{" + model + R"(,"data":["x"]})"
                                   << "data path 'x' is not absolute";
    QTest::newRow("heads do not divide")
        << R"({"model":{"name":"m","layers":1,"width":8,"heads":3,"ffn":8,"sequence":4}})"
        << "model 'm': width 8 is not divisible by its 3 heads";
    QTest::newRow("unknown key of the model") << R"({"model":{"depth":1}})"
                                              << "model: unknown key 'depth'";
  }
  void settingsAreRefused() {
    QFETCH(QString, json);
    QFETCH(QString, message);
    const auto parsed = engine::ParseJobSettings(json.toStdString());
    QVERIFY(!parsed);
    QCOMPARE(QString::fromStdString(parsed.error().message), message);
  }
};
QTEST_APPLESS_MAIN(GptSettingsTest)
#include "gpt_settings_test.moc"
