// SPDX-License-Identifier: Apache-2.0
// How a copy that takes longer than a step spreads over several.
#include <QTest>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/model/job_layout.h"
#include "engine/search/overlap.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

struct Change {
  ptc::Layout from, to;
  ptc::Outline plan;
  explicit Change(const char* before, const char* after, Precision precision = Precision::kFp32)
      : from(On(before, precision)),
        to(On(after, precision)),
        plan(*ptc::MakeOutline(from, to, {})) {}

  static ptc::Layout On(const char* mesh, Precision precision) {
    JobSettings settings;
    settings.model = *FindModel("gpt-mini");
    settings.precision = precision;
    return *MakeLayout(*TensorsOf(settings, false), *ptc::ParseDeviceMesh(mesh));
  }
  std::vector<std::vector<int>> Legs(const CopyTimes& times) const {
    return SpreadOverSteps(plan, from, to, times);
  }
};

/// Bytes of each leg that a device of the new layout does not have where it needs them, as parts of
/// all.
std::vector<double> PartsOf(const Change& change, const std::vector<std::vector<int>>& legs) {
  const ptc::Plan plan = *ptc::MakePlan(change.from, change.to, {});
  std::map<int, double> bytes;  // by tensor
  double all = 0;
  const auto add = [&](const auto& copy) {
    const auto& spec = change.from.collection().tensors()[static_cast<std::size_t>(copy.tensor)];
    const auto size = static_cast<double>(copy.cell.num_elements() * ptc::SizeBytes(spec.dtype));
    bytes[copy.tensor] += size;
    all += size;
  };
  for (const ptc::Move& move : plan.moves) {
    if (const auto* local = std::get_if<ptc::LocalCopy>(&move)) add(*local);
    if (const auto* remote = std::get_if<ptc::RemoteCopy>(&move)) add(*remote);
  }
  std::vector<double> parts;
  for (const std::vector<int>& leg : legs) {
    parts.push_back(0);
    for (const int tensor : leg) parts.back() += bytes[tensor] / all;
  }
  return parts;
}

}  // namespace

class LegsTest : public QObject {
  Q_OBJECT

 private slots:
  void eachStepHasTimeForWhatItCopies_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<bool>("bf16");
    const auto row = [](const char* name, const char* from, const char* to, bool bf16 = false) {
      QTest::newRow(name) << QString::fromLatin1(from) << QString::fromLatin1(to) << bf16;
    };
    row("to another node", "tp=2 on n0g0,n0g1", "tp=2 on n1g0,n1g1");
    row("more replicas", "tp=2 on n0g0,n0g1", "dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", true);
    row("stages", "tp=4 on n0g0,n0g1,n0g2,n0g3", "pp=2,tp=2 on n0g0,n0g1,n0g2,n0g3");
    row("a stage stays", "pp=2 on n0g0,n0g1", "pp=2 on n0g0,n1g0", true);
  }
  void eachStepHasTimeForWhatItCopies() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(bool, bf16);
    const Change change(from.toUtf8(), to.toUtf8(), bf16 ? Precision::kBf16 : Precision::kFp32);
    const auto& tensors = change.from.collection().tensors();
    for (const CopyTimes& times : {CopyTimes{1.2, 0.4, 1}, CopyTimes{2, 0.6, 1},
                                   CopyTimes{2.2, 0.1, 1}, CopyTimes{15, 0.7, 10}}) {
      const auto legs = change.Legs(times);
      QVERIFY(legs.size() >= 2);
      std::map<int, std::size_t> leg_of;
      for (std::size_t i = 0; i < legs.size(); ++i) {
        QVERIFY(std::ranges::is_sorted(legs[i]));
        for (const int tensor : legs[i]) QVERIFY(leg_of.emplace(tensor, i).second);
      }
      QCOMPARE(leg_of.size(), tensors.size());
      for (int t = 0; t < std::ssize(tensors); ++t) {
        const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(t)];
        if (spec.role == ptc::TensorRole::kScalar) QCOMPARE(leg_of[t], legs.size() - 1);
        if (spec.role != ptc::TensorRole::kParam) continue;
        for (const char* suffix : {".exp_avg", ".exp_avg_sq", ".master"}) {
          const auto state = change.from.collection().Find(spec.name + suffix);
          if (state) QCOMPARE(leg_of[*state], leg_of[t]);
        }
      }
      double copied = 0;
      for (const double part : PartsOf(change, legs)) {
        QVERIFY2(part * times.state + copied * times.gradients <= 0.91 * times.step,
                 qPrintable(QString::number(part)));
        copied += part;
      }
      QVERIFY(copied > 0.99);
    }
  }

  // In each step all stages send, except that the last one has what is left.
  void layersCopyTogether() {
    const Change change("pp=2 on n0g0,n0g1", "pp=2 on n1g0,n1g1");
    const auto legs = change.Legs({1.6, 0.5, 1});
    QVERIFY(legs.size() >= 2);
    for (const std::vector<int>& leg : std::span(legs).first(legs.size() - 1)) {
      std::map<std::int64_t, int> layers;
      for (const int tensor : leg) {
        const auto& spec = change.from.collection().tensors()[static_cast<std::size_t>(tensor)];
        if (spec.place == ptc::StagePlace::kLayer) ++layers[spec.layer];
      }
      QCOMPARE(layers.size(), std::size_t{4});
    }
  }

  // If the gradients of what was copied fill a step, nothing more can be copied.
  void copiesThatCannotEndAreNotBegun() {
    const Change change("tp=2 on n0g0,n0g1", "tp=2 on n1g0,n1g1");
    QVERIFY(change.Legs({3.5, 1.2, 1}).empty());
    QVERIFY(change.Legs({100, 0.1, 1}).empty());  // one tensor takes longer than a step
    QVERIFY(change.Legs({2, 0.7, 0}).empty());
  }
};

TESSERA_TEST_APPLESS(LegsTest)
#include "legs_test.moc"
