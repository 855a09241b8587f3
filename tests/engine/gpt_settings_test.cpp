// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "engine/cluster/holding.h"
#include "engine/model/gpt.h"
#include "engine/model/shown_settings.h"
#include "engine/store/allocate.h"
#include "ptc/layout.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::GptConfig;
using engine::JobSettings;

namespace {

JobSettings SettingsOf(const char* model) {
  JobSettings settings;
  settings.model = *engine::FindModel(model);
  return settings;
}

ptc::CollectionPtr Tensors(const char* model, bool zero = false) {
  return *engine::MakeCollection(SettingsOf(model), zero);
}

const ptc::TensorSpec& Find(const ptc::Collection& collection, const std::string& name) {
  return collection.tensors()[static_cast<std::size_t>(collection.Find(name).value())];
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
    const auto parameters = [](const char* name) { return Parameters(*Tensors(name)); };
    // Counted by hand: embeddings, 12 d^2 + 13 d a layer, final norm.
    QCOMPARE(parameters("gpt-mini"), std::int64_t{3257856});
    QCOMPARE(parameters("gpt-10m"),
             std::int64_t{256 * 384 + 128 * 384 + 6 * (12 * 384 * 384 + 13 * 384) + 2 * 384});
    QVERIFY(parameters("gpt-nano") < 200000);
    // The figure that Radford et al. 2019 give as 117M, as counted by their released weights.
    QCOMPARE(parameters("gpt2"), std::int64_t{124439808});
  }

  void secretsOfUrlsAreNotShown() {
    JobSettings settings = SettingsOf("gpt-nano");
    settings.data = {"2:https://lena:secret@data.lab/text?token=secret", "1:/srv/a?b@c"};
    const auto read = engine::ParseJobSettings(engine::ToJson(settings));
    QVERIFY(read && read->data == settings.data);
    const std::string shown = engine::ShownJson(settings);
    QVERIFY2(shown.find("secret") == std::string::npos, shown.c_str());
    const auto rest = engine::ParseJobSettings(shown);
    QVERIFY(rest.has_value());
    QVERIFY(rest->data == (std::vector<std::string>{"2:https://data.lab/text", "1:/srv/a?b@c"}));
  }

  void namesAreFoundSmallestFirst() {
    std::int64_t last = 0;
    for (const std::string& name : engine::ModelNames()) {
      const auto model = engine::FindModel(name);
      QVERIFY(model.has_value());
      QCOMPARE(model->name, name);
      QCOMPARE(model->width % model->heads, std::int64_t{0});
      const std::int64_t parameters = Parameters(*Tensors(name.c_str()));
      QVERIFY(parameters > last);
      last = parameters;
    }
    const auto unknown = engine::FindModel("gpt-5");
    QVERIFY(!unknown);
    QCOMPARE(unknown.error().code, ErrorCode::kNotFound);
    QCOMPARE(unknown.error().message,
             std::string("no model 'gpt-5'; there are gpt-nano, gpt-mini, gpt-10m, gpt-25m, gpt2"));
  }

  void momentsAreCutAsTheirParameter() {
    const auto collection = Tensors("gpt-mini");
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
    const auto collection = Tensors("gpt-mini");
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

  void optimizerStateIsFlatWithZero() {
    const auto plain = Tensors("gpt-mini");
    const auto zero = Tensors("gpt-mini", true);
    QCOMPARE(zero->tensors().size(), plain->tensors().size());
    for (std::size_t t = 0; t < plain->tensors().size(); ++t) {
      ptc::TensorSpec spec = zero->tensors()[t];
      const bool is_optimizer_state =
          spec.role == ptc::TensorRole::kExpAvg || spec.role == ptc::TensorRole::kExpAvgSq;
      QCOMPARE(!spec.rule.flat.empty(), is_optimizer_state);
      spec.rule.flat.clear();
      QVERIFY2(spec == plain->tensors()[t], spec.name.c_str());
    }
  }

  void bf16KeepsMasters() {
    JobSettings settings = SettingsOf("gpt-nano");
    settings.precision = engine::Precision::kBf16;
    const auto collection = *engine::MakeCollection(settings, false);
    for (const auto& tensor : collection->tensors()) {
      if (tensor.role != ptc::TensorRole::kParam) continue;
      QVERIFY(tensor.dtype == ptc::DType::kBF16);
      const auto& master = Find(*collection, tensor.name + ".master");
      QVERIFY(master.dtype == ptc::DType::kF32 && master.role == ptc::TensorRole::kMaster &&
              master.shape == tensor.shape && master.rule == tensor.rule);
    }
  }

  void optionsOfTheModelShapeItsTensors() {
    JobSettings settings = SettingsOf("gpt-mini");  // width 256, 8 heads of 32
    for (const auto& [name, value] : {std::pair{"kv_heads", "2"},
                                      {"gated_mlp", "true"},
                                      {"tied_head", "false"},
                                      {"vocab", "257"}}) {
      const auto status = engine::ApplySetting(settings, name, value);
      QVERIFY2(status.has_value(), status ? "" : status.error().ToString().c_str());
    }
    const auto collection = *engine::MakeCollection(settings, false);
    const auto& qkv = Find(*collection, "h.0.attn.qkv.weight");
    QVERIFY((qkv.shape == ptc::Shape{384, 256}));
    QVERIFY((qkv.segments->blocks == std::vector<ptc::Segment>{{256}, {64}, {64}}));
    const auto& gate_up = Find(*collection, "h.3.mlp.fc1.weight");
    QVERIFY((gate_up.shape == ptc::Shape{2048, 256}));
    QVERIFY((gate_up.segments->blocks == std::vector<ptc::Segment>{{1024}, {1024}}));
    QVERIFY(Find(*collection, "head.weight").place == ptc::StagePlace::kLast);
    QVERIFY(Find(*collection, "tok_emb.weight").place == ptc::StagePlace::kFirst);
    // 257 rows on two ranks: 129 and 128.
    const auto layout = *ptc::Layout::Make(*ptc::ParseDeviceMesh("tp=2 on 1x2"), collection);
    QCOMPARE(ptc::ToString(layout.Boxes(1, *collection->Find("head.weight")).at(0)),
             std::string("[129:257,0:256]"));
  }

  void holdingsAddUpToTheState() {
    for (const bool zero : {false, true}) {
      const auto layout = *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2,pp=2 on 2x4"),
                                             Tensors("gpt-mini", zero));
      const auto holdings = engine::HoldingsOf(layout);
      QCOMPARE(holdings.size(), std::size_t{8});
      constexpr std::int64_t kScalarBytes = 4 * 8;  // job.step and job.cursor
      for (int rank = 0; rank < 8; ++rank) {
        const engine::Holding& holding = holdings[static_cast<std::size_t>(rank)];
        QVERIFY(holding == engine::HoldingOf(layout, rank));
        QVERIFY(holding.pieces > 0);
        QCOMPARE(holding.parameter_bytes + holding.optimizer_bytes + kScalarBytes,
                 layout.BytesOf(rank));
        // Both moments, whole or one of two shares.
        if (!zero) QCOMPARE(holding.optimizer_bytes, 2 * holding.parameter_bytes);
        if (zero) QVERIFY(100 * holding.optimizer_bytes < 101 * holding.parameter_bytes);
        // All parts are what the device uses, gradients included.
        QCOMPARE(holding.gradient_bytes, holding.parameter_bytes);  // both f32
        QCOMPARE(holding.other_bytes, kScalarBytes);
        const auto table = engine::AllocateInitial("gpt-mini", 1, layout, rank, 1LL << 40);
        VERIFY_OK(table);
        QCOMPARE(table->used_bytes(), holding.bytes());
      }
    }
  }

  void everyAcceptedMeshHasALayout() {
    const JobSettings settings = SettingsOf("gpt-mini");
    const auto plain = Tensors("gpt-mini");
    const auto zero = Tensors("gpt-mini", true);
    for (std::int64_t dp = 1; dp <= 17; ++dp) {
      for (std::int64_t tp = 1; tp <= 9; ++tp) {
        for (std::int64_t pp = 1; pp <= 5; ++pp) {
          ptc::MeshShape shape;
          shape[ptc::Axis::kDp] = dp;
          shape[ptc::Axis::kTp] = tp;
          shape[ptc::Axis::kPp] = pp;
          const bool runs = engine::CheckMesh(settings, shape, {}).has_value();
          QCOMPARE(runs, dp <= 16 && 8 % tp == 0 && pp <= 4);
          if (!runs) continue;
          const auto mesh =
              ptc::ParseDeviceMesh(ptc::ToString(shape) + " on 1x" + std::to_string(dp * tp * pp));
          QVERIFY(ptc::Layout::Make(*mesh, plain).has_value());
          QVERIFY(ptc::Layout::Make(*mesh, zero).has_value());
        }
      }
    }
  }

  void meshIsRefused_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<int>("microBatch");
    QTest::addColumn<QString>("message");
    QTest::newRow("heads") << "tp=3" << 0 << "8 heads of gpt-mini are not divisible by tp = 3";
    QTest::newRow("small batch") << "dp=32" << 0 << "global batch 16 is smaller than dp = 32";
    QTest::newRow("pipeline") << "pp=5" << 0
                              << "pp = 5 is more stages than the 4 layers of gpt-mini";
    QTest::newRow("context") << "cp=2" << 0 << "cp = 2: the built-in trainer runs cp = 1 only";
    QTest::newRow("micro-batch") << "dp=3" << 7
                                 << "micro-batch 7 is larger than a rank's share of 6 samples";
    QTest::newRow("micro-batch below 0") << "dp=2" << -1 << "micro-batch -1 is below 0";
  }
  void meshIsRefused() {
    QFETCH(QString, mesh);
    QFETCH(int, microBatch);
    QFETCH(QString, message);
    const auto status =
        engine::CheckMesh(SettingsOf("gpt-mini"), *ptc::ParseMeshShape(mesh.toStdString()),
                          {.micro_batch = microBatch});
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(status.error().message), message);
  }

  void microBatchFillsThePipeline_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<qint64>("batch");
    QTest::addColumn<qint64>("given");
    QTest::addColumn<qint64>("size");
    QTest::newRow("as large as it may be") << "dp=1" << qint64{16} << qint64{0} << qint64{8};
    QTest::newRow("parts of equal size") << "dp=1" << qint64{12} << qint64{0} << qint64{6};
    QTest::newRow("the last holds less") << "dp=1" << qint64{43} << qint64{0} << qint64{8};
    QTest::newRow("of the largest share") << "dp=3" << qint64{16} << qint64{0} << qint64{6};
    QTest::newRow("stages and uneven shares")
        << "dp=3,pp=2" << qint64{16} << qint64{0} << qint64{1};
    QTest::newRow("two a stage for each stage") << "pp=2" << qint64{16} << qint64{0} << qint64{4};
    QTest::newRow("four stages") << "pp=4" << qint64{16} << qint64{0} << qint64{2};
    QTest::newRow("too few samples") << "dp=8,pp=4" << qint64{16} << qint64{0} << qint64{1};
    QTest::newRow("given") << "pp=4" << qint64{16} << qint64{8} << qint64{8};
  }
  void microBatchFillsThePipeline() {
    QFETCH(QString, mesh);
    QFETCH(qint64, batch);
    QFETCH(qint64, given);
    QFETCH(qint64, size);
    JobSettings settings = SettingsOf("gpt-mini");
    settings.global_batch = batch;
    QCOMPARE(qint64{engine::MicroBatch(settings, *ptc::ParseMeshShape(mesh.toStdString()),
                                       {.micro_batch = given})},
             size);
  }

  void settingsAreAppliedByName() {
    JobSettings settings = SettingsOf("gpt-nano");
    QVERIFY(engine::ApplySetting(settings, "dropout", "0.25").has_value());
    QVERIFY(engine::ApplySetting(settings, "precision", "bf16").has_value());
    QVERIFY(engine::ApplySetting(settings, "layers", "3").has_value());
    QCOMPARE(settings.dropout, 0.25);
    QVERIFY(settings.precision == engine::Precision::kBf16);
    QCOMPARE(settings.model.layers, std::int64_t{3});

    const JobSettings before = settings;
    const auto message = [&](const char* name, const char* value) {
      const auto status = engine::ApplySetting(settings, name, value);
      return status ? std::string() : status.error().message;
    };
    QVERIFY(message("lr", "1").starts_with("there is no setting 'lr'; there are at_change="));
    QVERIFY(message("name", "x").starts_with("there is no setting 'name'"));
    QCOMPARE(message("dropout", "1.5"),
             std::string("'dropout' must be a number in 0..0.95, not 1.5"));
    QCOMPARE(message("dropout", "much"),
             std::string("'dropout' must be a number in 0..0.95, not 'much'"));
    QCOMPARE(message("precision", "fp8"), std::string("precision 'fp8' is neither fp32 nor bf16"));
    QCOMPARE(
        message("kv_heads", "3"),
        std::string("model 'gpt-nano': its 4 heads are not divisible by 3 key and value heads"));
    QVERIFY(settings == before);
  }

  void limitsAndChoicesAreThoseThatAreAccepted() {
    const JobSettings before = SettingsOf("gpt-nano");
    const auto accepts = [&before](const std::string& name, const std::string& value) {
      JobSettings settings = before;
      return engine::ApplySetting(settings, name, value).has_value();
    };
    const auto all = engine::SettingsOf(before);
    QCOMPARE(all.size(), engine::SettingNames(before).size());
    int ofModel = 0;
    for (const engine::JobSetting& setting : all) {
      const char* const name = setting.name.c_str();
      ofModel += setting.of_model;
      QVERIFY2(accepts(setting.name, setting.value), name);
      if (!setting.choices.empty()) {
        for (const std::string& choice : setting.choices)
          QVERIFY2(accepts(setting.name, choice), name);
        QVERIFY2(!accepts(setting.name, "other"), name);
        continue;
      }
      QVERIFY2(setting.least < setting.most, name);
      const auto text = [&setting](double number) {
        return setting.is_integer ? std::to_string(static_cast<std::int64_t>(number))
                                  : QByteArray::number(number, 'g', 17).toStdString();
      };
      const double beyond = setting.is_integer ? 1 : setting.most / 1000;
      QVERIFY2(!accepts(setting.name, text(setting.least - beyond)), name);
      QVERIFY2(!accepts(setting.name, text(setting.most + beyond)), name);
      // Sizes of the model depend on each other.
      if (setting.of_model) continue;
      QVERIFY2(accepts(setting.name, text(setting.least)), name);
      QVERIFY2(accepts(setting.name, text(setting.most)), name);
    }
    QCOMPARE(ofModel, 10);
  }

  // The shell passes any bytes; none of them may end the process.
  void bytesThatAreNoUtf8AreRefused() {
    const JobSettings before = SettingsOf("gpt-nano");
    for (const std::string& setting : engine::SettingNames(before)) {
      const std::string name = setting.substr(0, setting.find('='));
      JobSettings settings = before;
      const auto status = engine::ApplySetting(settings, name, "\xff\xfe");
      QVERIFY2(!status, name.c_str());
      QCOMPARE(status.error().code, ErrorCode::kInvalidArgument);
      QVERIFY2(status.error().message.find(name) != std::string::npos,
               status.error().message.c_str());
      QVERIFY(settings == before);
    }
    JobSettings settings = before;
    settings.data = {"/\xff"};
    QVERIFY(engine::ToJson(settings).find("\xef\xbf\xbd") != std::string::npos);
    QVERIFY(!engine::ApplySetting(settings, "\xff", "1"));
  }

  // Radford et al. 2019 and Brown et al. 2020 trained with the tanh form.
  void geluIsTheTanhFormUnlessNamed() {
    for (const std::string& name : engine::ModelNames()) {
      QVERIFY(engine::FindModel(name)->gelu == engine::Gelu::kTanh);
    }
    const auto without_key = engine::ParseJobSettings(
        R"({"model":{"name":"m","layers":1,"width":8,"heads":2,"ffn":8,"sequence":4}})");
    QVERIFY(without_key.has_value());
    QVERIFY(without_key->model.gelu == engine::Gelu::kTanh);

    JobSettings settings = SettingsOf("gpt-nano");
    QVERIFY(engine::ApplySetting(settings, "gelu", "erf").has_value());
    QVERIFY(settings.model.gelu == engine::Gelu::kErf);
    QVERIFY(*engine::ParseJobSettings(engine::ToJson(settings)) == settings);
    const auto refused = engine::ApplySetting(settings, "gelu", "relu");
    QVERIFY(!refused);
    QCOMPARE(refused.error().message, std::string("gelu 'relu' is neither tanh nor erf"));
  }

  // A job is wrong on purpose only if its settings request that.
  void atChangeIsRightUnlessNamed() {
    JobSettings settings = SettingsOf("gpt-nano");
    QVERIFY(settings.at_change == engine::AtChange::kKeep);
    QVERIFY(engine::WrongOnPurpose(settings.at_change).empty());
    for (const auto way : {engine::AtChange::kLosePosition, engine::AtChange::kKeepDeviceBatch}) {
      QVERIFY(engine::ApplySetting(settings, "at_change", engine::ToString(way)).has_value());
      QVERIFY(settings.at_change == way);
      QVERIFY(!engine::WrongOnPurpose(way).empty());
      QVERIFY(*engine::ParseJobSettings(engine::ToJson(settings)) == settings);
    }
    const auto refused = engine::ApplySetting(settings, "at_change", "loose");
    QVERIFY(!refused);
    QCOMPARE(refused.error().message,
             std::string("at_change 'loose' is none of keep, lose_position, keep_device_batch"));
    QVERIFY(!engine::ApplySetting(settings, "device_batch", "4"));

    JobSettings own;
    own.program = engine::OwnProgram{.command = "x", .tensors = {"t", ""}, .rules = {"r", ""}};
    QVERIFY(!engine::ApplySetting(own, "at_change", "lose_position"));
  }

  void onlyAKeptDeviceBatchChangesTheGlobalOne() {
    const auto mesh = [](std::int64_t dp) {
      ptc::MeshShape shape;
      shape[ptc::Axis::kDp] = dp;
      return shape;
    };
    for (const auto way : {engine::AtChange::kKeep, engine::AtChange::kLosePosition,
                           engine::AtChange::kKeepDeviceBatch}) {
      JobSettings settings = SettingsOf("gpt-nano");
      settings.at_change = way;
      settings.global_batch = 12;
      QCOMPARE(engine::GlobalBatchOn(settings, mesh(4)), std::int64_t{12});  // not started
      QVERIFY(engine::NoteDeviceBatch(settings, mesh(2)).has_value());
      const bool keeps = way == engine::AtChange::kKeepDeviceBatch;
      QCOMPARE(settings.device_batch, std::int64_t{keeps ? 6 : 0});
      QVERIFY(*engine::ParseJobSettings(engine::ToJson(settings)) == settings);
      QCOMPARE(engine::GlobalBatchOn(settings, mesh(2)), std::int64_t{12});
      QCOMPARE(engine::GlobalBatchOn(settings, mesh(4)), std::int64_t{keeps ? 24 : 12});
      QCOMPARE(engine::GlobalBatchOn(settings, mesh(3)), std::int64_t{keeps ? 18 : 12});
      // A rank's share, and with it the largest micro-batch, stays as it was.
      QCOMPARE(engine::CheckMesh(settings, mesh(4), {.micro_batch = 6}).has_value(), keeps);
    }
    JobSettings uneven = SettingsOf("gpt-nano");
    uneven.at_change = engine::AtChange::kKeepDeviceBatch;
    QVERIFY(!engine::NoteDeviceBatch(uneven, mesh(3)));  // 16 samples
  }

  void aLostPositionIsTheBeginOfThePass() {
    const engine::Cursor cursor{.seed = 7, .pass = 2, .next = 31};
    QVERIFY(engine::CursorAfterChange(cursor, engine::AtChange::kKeep) == cursor);
    QVERIFY(engine::CursorAfterChange(cursor, engine::AtChange::kKeepDeviceBatch) == cursor);
    QVERIFY((engine::CursorAfterChange(cursor, engine::AtChange::kLosePosition) ==
             engine::Cursor{.seed = 7, .pass = 2, .next = 0}));
  }

  void ownProgramComesBackFromJson() {
    JobSettings settings;
    settings.program = engine::OwnProgram{
        .command = "./train \"x\"", .tensors = {"t.json", "{\n}"}, .rules = {"r.json", "[]"}};
    const auto parsed = engine::ParseJobSettings(engine::ToJson(settings));
    QVERIFY2(parsed.has_value(), parsed ? "" : parsed.error().ToString().c_str());
    QVERIFY(*parsed == settings);
  }

  void settingsComeBackFromJson() {
    JobSettings settings = SettingsOf("gpt-nano");
    settings.global_batch = 48;
    settings.seed = -7;
    settings.max_steps = 60;
    settings.learning_rate = 0.1 + 0.2;  // has no short decimal form
    settings.data = {"/a b", "/c\"d\\", "0.7:/e", "https://host/f/", "2:http://host/g.tar"};
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
                             << "not json at byte 2";
    QTest::newRow("no model") << "{}"
                              << "a job needs either a 'model' or a 'program'";
    QTest::newRow("unknown key") << "{" + model + R"(,"lr":1})"
                                 << "unknown key 'lr', a job has model, program, ";
    QTest::newRow("batch of 0")
        << "{" + model + R"(,"global_batch":0})"
        << "'global_batch' must be a whole number in 1..1099511627776, not 0";
    QTest::newRow("integer above int64")
        << "{" + model + R"(,"max_steps":18446744073709551615})"
        << "'max_steps' must be a whole number in 0..1099511627776, not 18446744073709551615";
    QTest::newRow("relative path") << "{" + model + R"(,"data":["x"]})"
                                   << "data path 'x' is not absolute";
    QTest::newRow("relative path with a weight") << "{" + model + R"(,"data":["0.5:x"]})"
                                                 << "data path 'x' is not absolute";
    QTest::newRow("weight of 0") << "{" + model + R"(,"data":["0:/x"]})"
                                 << "the weight of data '0:/x' is not above 0";
    QTest::newRow("heads do not divide")
        << R"({"model":{"name":"m","layers":1,"width":8,"heads":3,"ffn":8,"sequence":4}})"
        << "model 'm': width 8 is not divisible by its 3 heads";
    QTest::newRow("unknown key of the model") << R"({"model":{"depth":1}})"
                                              << "unknown key 'depth', a model has name, layers, ";
  }
  void settingsAreRefused() {
    QFETCH(QString, json);
    QFETCH(QString, message);
    const auto parsed = engine::ParseJobSettings(json.toStdString());
    QVERIFY(!parsed);
    QVERIFY2(parsed.error().message.starts_with(message.toStdString()),
             parsed.error().message.c_str());
  }
};
TESSERA_TEST_APPLESS(GptSettingsTest)
#include "gpt_settings_test.moc"
