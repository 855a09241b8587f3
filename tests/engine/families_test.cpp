// SPDX-License-Identifier: Apache-2.0
/// \file
/// The built-in rule sets on the names of ten published families of models. A set either leaves
/// every tensor of a layer on the stage of that layer, or refuses the family.
#include <QDir>
#include <QFile>
#include <QTest>
#include <map>
#include <regex>

#include "engine/catalogue/catalogue.h"
#include "ptc/layout.h"
#include "ptc/rules/rules.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

ptc::NamedText FamilyTensors(const std::string& family) {
  const std::string path = std::string(TESSERA_FAMILIES) + "/" + family + ".json";
  QFile file(QString::fromStdString(path));
  if (!file.open(QIODevice::ReadOnly)) qFatal("no file %s", path.c_str());
  return {family + ".json", file.readAll().toStdString()};
}

/// The layer that a name states, found without the code under test.
std::optional<std::int64_t> StatedLayer(const std::string& name) {
  static const std::regex kLayer(R"((?:^|\.)(?:layers|h)\.(\d+)\.)");
  std::smatch found;
  if (!std::regex_search(name, found, kLayer)) return std::nullopt;
  return std::stoll(found[1]);
}

Result<ptc::Layout> LayoutOf(const ptc::RuledTensors& ruled, const char* mesh) {
  const auto shape = *ptc::ParseMeshShape(mesh);
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t rank = 0; rank < shape.num_ranks(); ++rank) devices.push_back({0, rank});
  return ptc::Layout::Make(*ptc::DeviceMesh::Make(shape, devices), ruled.tensors, ruled.stages);
}

/// The rule set that accepts each family.
const std::map<std::string, std::string> kSetOfFamily = {
    {"bitnet", "llama"},    {"deepseek_v3", "deepseek"}, {"gemma2", "llama"},
    {"gpt2", "gpt2"},       {"gpt_neox", "gpt_neox"},    {"llama", "llama"},
    {"mixtral", "mixtral"}, {"olmo2", "llama"},          {"phi3", "phi3"},
    {"qwen3", "llama"}};

Result<ptc::RuledTensors> Ruled(const std::string& family) {
  return ptc::ApplyRules(FamilyTensors(family), *engine::FindRuleSet(kSetOfFamily.at(family)),
                         false);
}

/// The rows of a tensor that each part of it holds: "0-8 16-20" for each.
std::vector<std::string> RowsOf(const ptc::Layout& layout, const std::string& tensor) {
  std::vector<std::string> rows;
  for (const auto& boxes : layout.PartsOf(layout.collection().Find(tensor).value()).boxes) {
    std::string text;
    for (const ptc::Box& box : boxes) {
      text += (text.empty() ? "" : " ") + std::to_string(box[0].begin) + "-" +
              std::to_string(box[0].end);
    }
    rows.push_back(text);
  }
  return rows;
}

}  // namespace

class FamiliesTest : public QObject {
  Q_OBJECT
 private slots:
  void layersStayTogether_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("set");
    const auto families = QDir(TESSERA_FAMILIES).entryList({"*.json"});
    QCOMPARE(families.size(), static_cast<qsizetype>(kSetOfFamily.size()));
    for (const QString& file : families) {
      const QString family = file.chopped(5);
      for (const std::string& set : engine::RuleSetNames()) {
        QTest::addRow("%s by %s", qPrintable(family), set.c_str())
            << family << QString::fromStdString(set);
      }
    }
  }
  void layersStayTogether() {
    QFETCH(QString, family);
    QFETCH(QString, set);
    const auto at = kSetOfFamily.find(family.toStdString());
    const bool is_own = at != kSetOfFamily.end() && at->second == set.toStdString();
    const auto ruled = ptc::ApplyRules(FamilyTensors(family.toStdString()),
                                       *engine::FindRuleSet(set.toStdString()), false);
    QVERIFY2(ruled || !is_own, ruled ? "" : ruled.error().ToString().c_str());
    if (!ruled) return;
    std::int64_t in_layers = 0;
    for (const ptc::TensorSpec& spec : ruled->tensors->tensors()) {
      const auto layer = StatedLayer(spec.name);
      QCOMPARE(spec.place == ptc::StagePlace::kLayer, layer.has_value());
      if (!layer) continue;
      QCOMPARE(spec.layer, *layer);
      ++in_layers;
    }
    QVERIFY(in_layers >= 24);
    if (!is_own) return;
    const auto layout = LayoutOf(*ruled, "tp=4,pp=2");
    QVERIFY2(layout, layout ? "" : layout.error().ToString().c_str());
  }

  // A rank has the query, key and value rows of the same heads.
  void fusedProjectionsAreCutByHeads() {
    using Rows = std::vector<std::string>;
    const auto phi = Ruled("phi3");
    QVERIFY(phi);
    const auto halves = LayoutOf(*phi, "tp=2");
    QVERIFY(halves);
    const std::string layer = "model.layers.0.";
    QVERIFY((RowsOf(*halves, layer + "self_attn.qkv_proj.weight") ==
             Rows{"0-2560 5120-5760 6400-7040", "2560-5120 5760-6400 7040-7680"}));
    QVERIFY((RowsOf(*halves, layer + "mlp.gate_up_proj.weight") ==
             Rows{"0-8960 17920-26880", "8960-17920 26880-35840"}));

    const auto neox = Ruled("gpt_neox");
    QVERIFY(neox);
    const auto quarters = LayoutOf(*neox, "tp=4");
    QVERIFY(quarters);
    QVERIFY((RowsOf(*quarters, "gpt_neox.layers.0.attention.query_key_value.bias") ==
             Rows{"0-3072", "3072-6144", "6144-9216", "9216-12288"}));
    // 12,288 rows divide by 64, and the 32 heads do not.
    QVERIFY(LayoutOf(*neox, "tp=32"));
    QVERIFY(!LayoutOf(*neox, "tp=64"));
  }
};

TESSERA_TEST_APPLESS(FamiliesTest)
#include "families_test.moc"
