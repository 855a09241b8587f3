// SPDX-License-Identifier: Apache-2.0
// What `txn decide` says about the choices of a job that has lost GPUs.
#include "app/commands/loss_choices.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "app/commands/json.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::LossChoice;
using engine::RecoverySource;

namespace {

/// n1 was lost, and with it the only copy of two layers.
engine::JobStatus Lost() {
  engine::JobStatus job;
  job.name = "mini";
  job.mesh = *ptc::ParseMeshShape("dp=2,tp=2");
  job.devices = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  engine::DecisionStatus& decision = job.decision.emplace();
  decision.loss = engine::LossCase::kSnapshot;
  decision.lost = {{1, 0}, {1, 1}};
  decision.awaited = decision.lost;
  decision.reason = "n1 was lost";
  decision.missing_bytes = 18LL << 20;
  decision.missing = {"h.1.mlp.fc1.weight [0:1024,0:256]"};
  decision.missing_layers = {{1, 2}, {5, 5}};
  decision.missing_others = {"ln_f.weight"};
  engine::RecoveryWay way;
  way.source = RecoverySource::kSnapshot;
  way.mesh = *ptc::ParseMeshShape("dp=1,tp=2");
  way.devices = {{0, 0}, {0, 1}};
  way.moved_bytes = 37LL << 20;
  way.step = 18;
  way.steps_lost = 3;
  way.survival = engine::Survival{0, 37LL << 20};
  decision.ways = {way};
  way.source = RecoverySource::kCheckpoint;
  way.step = 10;
  way.steps_lost = 11;
  way.checkpoint = "/c/mini-step-10";
  way.survival.reset();
  decision.ways.push_back(way);
  return job;
}

/// The words of the row of a choice; empty: there is none.
QStringList rowOf(const engine::JobStatus& job, const QString& choice) {
  const QStringList lines = QString::fromStdString(app::describeChoices(job)).split(u'\n');
  for (const QString& line : lines)
    if (line.startsWith(choice + u' ')) return line.simplified().split(u' ');
  return {};
}

}  // namespace

class LossChoicesTest : public QObject {
  Q_OBJECT
 private slots:
  void wordsAreRead() {
    QCOMPARE(*app::parseDecideWord("continue"), (app::DecideWord{LossChoice::kContinue, {}}));
    QCOMPARE(*app::parseDecideWord("wait"), (app::DecideWord{LossChoice::kWait, {}}));
    QCOMPARE(*app::parseDecideWord("snapshot"),
             (app::DecideWord{LossChoice::kContinue, RecoverySource::kSnapshot}));
    QCOMPARE(*app::parseDecideWord("checkpoint"),
             (app::DecideWord{LossChoice::kContinue, RecoverySource::kCheckpoint}));
    QVERIFY(!app::parseDecideWord("replicas") && !app::parseDecideWord("later"));
  }

  void everyChoiceHasItsCost() {
    const engine::JobStatus job = Lost();
    const QString text = QString::fromStdString(app::describeChoices(job));
    QVERIFY2(text.startsWith(QStringLiteral(
                 "mini: n1 was lost; 18.0 MiB of its state have no other copy in memory: "
                 "layers 1-2, 5 and ln_f.weight\nit waits for a choice\n")),
             qPrintable(text));
    const QStringList first = rowOf(job, QStringLiteral("continue"));
    QVERIFY2(first.join(u' ').startsWith(QStringLiteral("continue snapshot of step 18")),
             qPrintable(text));
    QVERIFY2(first.join(u' ').endsWith(QStringLiteral(" 2 37.0 MiB 3 - n0 would lose 37.0 MiB")),
             qPrintable(text));
    // What is not known is not 0.
    QVERIFY2(rowOf(job, QStringLiteral("checkpoint")).join(u' ').endsWith(u"37.0 MiB 11 - -"),
             qPrintable(text));
    QVERIFY2(rowOf(job, QStringLiteral("wait")).join(u' ').startsWith(u"wait n1, if back"),
             qPrintable(text));
  }

  // n1 is back without its memory.
  void nobodyIsWaitedForInVain() {
    engine::JobStatus job = Lost();
    job.decision->awaited.clear();
    QVERIFY(rowOf(job, QStringLiteral("wait")).isEmpty());
  }

  void whatHappensByItselfIsSaid() {
    engine::JobStatus job = Lost();
    const auto says = [&job](const char* text) {
      return app::describeChoices(job).find(text) != std::string::npos;
    };
    job.decision->seconds_left = 47.2;
    QVERIFY(says("\nit continues by itself in 48 s\n"));
    job.decision->chosen = LossChoice::kWait;
    QVERIFY(says("\nit waits for the lost GPUs\n"));
    job.decision->chosen.reset();
    job.decision->seconds_left.reset();
    job.decision->ways.clear();
    job.decision->why_not = "no device is left";
    QVERIFY(says("\nit cannot continue: no device is left\n"));
  }

  void theSameIsInJson() {
    const app::Json json = app::toJson(*Lost().decision);
    QCOMPARE(json["ways"].size(), std::size_t{2});
    QVERIFY(json["ways"][0] == json["continue"]);
    QVERIFY(json["ways"][0]["source"] == "snapshot" && json["ways"][0]["lost_steps"] == 3);
    QVERIFY(json["ways"][0]["seconds"].is_null() && json["ways"][1]["survives"].is_null());
    QVERIFY(json["ways"][1]["checkpoint"] == "/c/mini-step-10");
    QVERIFY(json["snapshot_step"] == 18 && json["checkpoint_step"].is_null());
    QVERIFY(json["missing_layers"] == app::Json::array({{1, 2}, {5, 5}}));
    QVERIFY(json["awaited"] == app::Json::array({"n1g0", "n1g1"}));
  }
};

TESSERA_TEST_APPLESS(LossChoicesTest)
#include "loss_choices_test.moc"
