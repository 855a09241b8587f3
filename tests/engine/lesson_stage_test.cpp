// SPDX-License-Identifier: Apache-2.0
/// \file
/// The stage of lessons: its plans are those of the planner, and the lessons of the program run.
#include "engine/lesson/lesson_stage.h"

#include <QFile>
#include <QTest>
#include <algorithm>

#include "engine/lesson/lesson_names.h"
#include "engine/lesson/lesson_translation.h"
#include "engine/lesson/lessons.h"
#include "engine/model/job_layout.h"
#include "engine/search/place_job.h"
#include "ptc/certificate/certificate.h"
#include "tests/folders.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

engine::LessonSetup SmallSetup() {
  engine::LessonSetup setup;
  setup.job.model = "gpt-mini";
  setup.job.mesh = *ptc::ParseMeshShape("dp=2,tp=2");
  return setup;
}

engine::LessonState StartOf(const engine::LessonSetup& setup) {
  auto state = engine::StartState(setup);
  if (!state) qFatal("%s", state.error().ToString().c_str());
  return *state;
}

engine::LessonState After(const engine::LessonState& state, engine::LessonAction action) {
  auto next = engine::ActLesson(state, action, SmallSetup());
  if (!next) qFatal("%s", next.error().ToString().c_str());
  return *next;
}

double ValueOf(const engine::LessonState& state, const char* expression) {
  const auto value = engine::EvaluateLesson(expression, engine::NamesOnStage(state));
  if (!value) qFatal("%s: %s", expression, value.error().ToString().c_str());
  return value->number;
}

engine::LessonAction PlanOf(const char* mesh) {
  return {engine::LessonPlanAction{{.mesh = *ptc::ParseMeshShape(mesh)}}, 1};
}

engine::LessonStage ShippedStage(const std::string& name) {
  const auto text = engine::FindLessonText(name);
  if (!text) qFatal("%s", text.error().ToString().c_str());
  auto lesson = engine::ReadLesson(*text);
  if (!lesson) qFatal("%s", lesson.error().ToString().c_str());
  auto stage = engine::LessonStage::Make(*std::move(lesson));
  if (!stage) qFatal("%s", stage.error().ToString().c_str());
  return *std::move(stage);
}

}  // namespace

class LessonStageTest : public QObject {
  Q_OBJECT

 private slots:
  // The same change, planned without the stage.
  void bytesAreThoseOfThePlanner_data() {
    QTest::addColumn<QString>("mesh");
    for (const char* mesh : {"dp=4,tp=2", "dp=2,tp=4", "dp=1,tp=2", "dp=2,tp=2,pp=2", "pp=4"})
      QTest::newRow(mesh) << QString::fromLatin1(mesh);
  }
  void bytesAreThoseOfThePlanner() {
    QFETCH(QString, mesh);
    const engine::LessonState start = StartOf(SmallSetup());
    const engine::LessonState planned = After(start, PlanOf(mesh.toLatin1().constData()));

    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-mini");
    const auto tensors = *engine::TensorsOf(settings, false);
    const auto first = *ptc::ParseDevices("n0g0,n0g1,n0g2,n0g3");
    const auto from = *engine::MakeLayout(
        tensors, *ptc::DeviceMesh::Make(*ptc::ParseMeshShape("dp=2,tp=2"), first));
    const ptc::MeshShape shape = *ptc::ParseMeshShape(mesh.toStdString());
    auto devices = *ptc::ParseDevices("2x4");
    devices.resize(static_cast<std::size_t>(shape.num_ranks()));
    ptc::Topology topology;
    topology.network_bytes_per_second = 1e9;
    topology.host_bytes_per_second = 6e9;
    engine::SearchInput input;
    input.settings = start.world->settings;
    input.layout = from;
    input.machines.topology = topology;
    const auto to =
        *engine::MakeLayout(tensors, *engine::PlaceJob(input, shape, {}, tensors, devices));
    const auto outline =
        *ptc::MakeOutline(from, to, topology, {.relaying = ptc::Relaying::kIfFaster});
    const auto bounds = ptc::Certify(from, to, topology, {}, outline.port_prices);

    QCOMPARE(planned.plan->outline.hash, outline.hash);
    QCOMPARE(ValueOf(planned, "moved_bytes"), static_cast<double>(outline.bytes.moved()));
    QCOMPARE(ValueOf(planned, "kept_bytes"), static_cast<double>(outline.bytes.kept));
    QCOMPARE(ValueOf(planned, "network_bytes"), static_cast<double>(outline.bytes.network));
    QCOMPARE(ValueOf(planned, "volume_bound"), static_cast<double>(bounds.volume));
    QCOMPARE(ValueOf(planned, "network_bound"), static_cast<double>(bounds.network_volume));
    double received = 0;
    for (const ptc::DeviceFlow& flow : ptc::DeviceFlows(outline)) {
      if (flow.device == ptc::DeviceId{0, 1}) received += static_cast<double>(flow.bytes);
    }
    QCOMPARE(ValueOf(planned, "received_bytes(n0g1)"), received);
  }

  void aMoveGivesTheGpusTheirShards() {
    const engine::LessonState start = StartOf(SmallSetup());
    const engine::LessonState planned = After(start, PlanOf("dp=4,tp=2"));
    QVERIFY(planned.draft() != nullptr);
    QCOMPARE(planned.layout, start.layout);  // nothing has moved
    const engine::LessonState moved = After(planned, {engine::LessonMoveAction{}, 1});
    QVERIFY(moved.draft() == nullptr);
    QCOMPARE(moved.layout, planned.plan->to);
    const engine::ClusterSnapshot snapshot = engine::LessonSnapshot(moved);
    QCOMPARE(snapshot.jobs.front().devices.size(), std::size_t{8});
    QCOMPARE(snapshot.nodes[1].devices[0].job, std::string("gpt-mini"));
    QVERIFY(snapshot.nodes[1].devices[0].optimizer_bytes > 0);
    QVERIFY(engine::LessonSnapshot(start).nodes[1].devices[0].job.empty());
  }

  void aLossLeavesTheReplicas() {
    engine::LessonState state = StartOf(SmallSetup());
    QCOMPARE(engine::HoldersLeft(state), std::int64_t{2});
    QCOMPARE(engine::LostBytes(state), std::int64_t{0});
    state = After(state, {engine::LessonLoseAction{{}, {{0, 0}}}, 1});
    QCOMPARE(engine::HoldersLeft(state), std::int64_t{1});
    QCOMPARE(engine::LostBytes(state), std::int64_t{0});
    const engine::LessonState both = After(state, {engine::LessonLoseAction{{}, {{0, 2}}}, 1});
    QCOMPARE(engine::HoldersLeft(both), std::int64_t{0});
    // What n0g1 does not hold: the plan reads exactly this from storage, once for each that needs
    // it.
    const engine::LessonState planned = After(both, PlanOf("dp=1,tp=2"));
    QVERIFY(engine::LostBytes(both) > 0);
    QCOMPARE(planned.plan->outline.lost_bytes, engine::LostBytes(both));
    QCOMPARE(engine::LessonSnapshot(both).jobs.front().state, engine::JobState::kWaitingDecision);
    const engine::LessonState node =
        After(StartOf(SmallSetup()), {engine::LessonLoseAction{{1}, {}}, 1});
    QCOMPARE(engine::LessonSnapshot(node).nodes[1].state, engine::NodeState::kDead);
  }

  void zeroDividesTheOptimizerState() {
    engine::LessonSetup setup = SmallSetup();
    setup.job.mesh = *ptc::ParseMeshShape("dp=4");
    const engine::LessonState start = StartOf(setup);
    const engine::LessonState planned =
        After(start, {engine::LessonPlanAction{{.mesh = setup.job.mesh, .zero = true}}, 1});
    QCOMPARE(ValueOf(planned, "parameter_bytes(n0g0)"), ValueOf(start, "parameter_bytes(n0g0)"));
    QVERIFY(ValueOf(planned, "optimizer_bytes(n0g0)") <
            0.26 * ValueOf(start, "optimizer_bytes(n0g0)"));
    QCOMPARE(ValueOf(planned, "moved_bytes"), 0.0);
  }

  void theBubbleIsThatOfTheSchedule() {
    engine::LessonSetup setup = SmallSetup();
    setup.job.mesh = *ptc::ParseMeshShape("pp=4");
    setup.job.global_batch = 16;
    setup.job.micro_batch = 2;
    const engine::LessonState state = StartOf(setup);
    QCOMPARE(ValueOf(state, "micro_batches"), 8.0);
    QCOMPARE(ValueOf(state, "bubble"), 3.0 / 11.0);
  }

  void thePipelineIsShownUntilItIsHidden() {
    const auto start = StartOf(SmallSetup());
    QVERIFY(!start.has_pipeline);
    const auto shown = After(start, {engine::LessonPipelineAction{true}, 1});
    QVERIFY(shown.has_pipeline && !(shown == start));
    QVERIFY(After(shown, PlanOf("dp=2,tp=2,pp=2")).has_pipeline);
    QVERIFY(!After(shown, {engine::LessonPipelineAction{false}, 1}).has_pipeline);
    QVERIFY(!After(shown, {engine::LessonResetAction{}, 1}).has_pipeline);
    QVERIFY(ShippedStage("micro-batches").StateAt(0).has_pipeline);
    QVERIFY(ShippedStage("micro-batches").StateAt(4).has_pipeline);
  }

  void aSwapExchangesThePlacesOfGpus() {
    const engine::LessonState start = StartOf(SmallSetup());  // n0g0 and n0g2 hold the same
    const auto swap = [](std::vector<ptc::DeviceId> some, std::vector<ptc::DeviceId> others) {
      return engine::LessonAction{engine::LessonSwapAction{std::move(some), std::move(others)}, 1};
    };
    const engine::LessonState swapped = After(start, swap({{0, 1}}, {{0, 2}}));
    QCOMPARE(swapped.layout, start.layout);  // nothing has moved
    QVERIFY(swapped.draft() != nullptr);
    QCOMPARE(swapped.plan->to.mesh().shape(), start.layout.mesh().shape());
    QCOMPARE(swapped.plan->to.mesh().devices(), *ptc::ParseDevices("n0g0,n0g2,n0g1,n0g3"));
    // The two need what they are to hold but for the tensors that no slice divides; the others
    // keep everything.
    const double exchanged =
        ValueOf(start, "held_bytes(n0g1)") + ValueOf(start, "held_bytes(n0g2)");
    const double held =
        exchanged + ValueOf(start, "held_bytes(n0g0)") + ValueOf(start, "held_bytes(n0g3)");
    QCOMPARE(ValueOf(swapped, "moved_bytes") + ValueOf(swapped, "kept_bytes"), held);
    QVERIFY(ValueOf(swapped, "moved_bytes") < exchanged);
    QVERIFY(ValueOf(swapped, "moved_bytes") > 0.9 * exchanged);
    // As the same change with a fixed order.
    const auto pinned = engine::PlanLessonChange(
        start, {.devices = *ptc::ParseDevices("n0g0,n0g2,n0g1,n0g3"), .pin = true});
    QVERIFY2(pinned.has_value(), pinned ? "" : pinned.error().message.c_str());
    QCOMPARE((*pinned)->outline.hash, swapped.plan->outline.hash);
    // Two swaps are one plan: a second one changes the plan that is shown.
    const engine::LessonState twice = After(swapped, swap({{0, 1}}, {{1, 0}}));
    QCOMPARE(twice.plan->to.mesh().devices(), *ptc::ParseDevices("n0g0,n0g2,n1g0,n0g3"));
    const engine::LessonState once = After(start, swap({{0, 0}, {0, 1}}, {{1, 0}, {1, 1}}));
    QCOMPARE(once.plan->to.mesh().devices(), *ptc::ParseDevices("n1g0,n1g1,n0g2,n0g3"));
    const engine::LessonState moved = After(twice, {engine::LessonMoveAction{}, 1});
    QCOMPARE(moved.layout, twice.plan->to);
    QVERIFY(!engine::ActLesson(swapped, swap({{0, 1}}, {{0, 2}}), SmallSetup()));  // back again
  }

  void wrongChangesAreRefused_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<QString>("devices");
    QTest::addColumn<QString>("problem");
    QTest::newRow("heads") << "tp=3"
                           << ""
                           << "8 heads of gpt-mini are not divisible by tp = 3";
    QTest::newRow("too many") << "dp=16"
                              << ""
                              << "dp=16,tp=1,pp=1 needs 16 GPUs, there are 8";
    QTest::newRow("none") << "dp=2,tp=2"
                          << ""
                          << "nothing would change";
    QTest::newRow("unknown") << "dp=1"
                             << "n9g0"
                             << "the cluster has no GPU n9g0";
    QTest::newRow("idle") << "dp=1"
                          << "n0g0,n0g1"
                          << "dp=1,tp=1,pp=1 has 1 ranks, but 2 GPUs are given";
  }
  void wrongChangesAreRefused() {
    QFETCH(QString, mesh);
    QFETCH(QString, devices);
    QFETCH(QString, problem);
    engine::LessonChange change{.mesh = *ptc::ParseMeshShape(mesh.toStdString())};
    if (!devices.isEmpty()) change.devices = *ptc::ParseDevices(devices.toStdString());
    const auto plan = engine::PlanLessonChange(StartOf(SmallSetup()), change);
    QVERIFY(!plan);
    QVERIFY2(plan.error().message.find(problem.toStdString()) != std::string::npos,
             plan.error().message.c_str());
  }

  void aPlanThatDoesNotFitIsShownButNotCarriedOut() {
    engine::LessonSetup setup = SmallSetup();
    setup.cluster.memory_bytes = std::int64_t{30} << 20;
    const engine::LessonState start = StartOf(setup);
    const engine::LessonState planned = After(start, PlanOf("dp=4"));
    QCOMPARE(ValueOf(planned, "fits"), 0.0);
    const auto moved = engine::ActLesson(planned, {engine::LessonMoveAction{}, 1}, setup);
    QVERIFY(!moved);
    QVERIFY(moved.error().message.find("does not fit") != std::string::npos);
  }

  // Every file of resources/lessons is in the program, and each is rehearsed.
  void shippedLessonsRun_data() {
    QTest::addColumn<QString>("name");
    QCOMPARE(engine::LessonFileNames().size(), std::size_t{14});
    for (const std::string& name : engine::LessonFileNames())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void shippedLessonsRun() {
    QFETCH(QString, name);
    const engine::LessonStage stage = ShippedStage(name.toStdString());
    const auto rehearsed = engine::RehearseLesson(stage);
    QVERIFY2(rehearsed.has_value(), rehearsed ? "" : rehearsed.error().message.c_str());
    const auto& steps = stage.lesson().steps;
    QCOMPARE(std::ranges::count_if(steps, [](const auto& s) { return s.predict.has_value(); }), 1);
    QCOMPARE(std::ranges::count_if(steps, [](const auto& s) { return s.task.has_value(); }), 1);
    // Made again, each step is the same: going back needs no undo.
    const engine::LessonStage again = ShippedStage(name.toStdString());
    for (std::size_t step = 0; step < stage.num_steps(); ++step) {
      QVERIFY(stage.StateAt(step) == again.StateAt(step));
      if (step > 0) QVERIFY(engine::LessonSnapshot(stage.StateAt(step)).jobs.size() == 1);
    }
  }

  // Every text of every lesson is there in German.
  void shippedLessonsAreGerman_data() { shippedLessonsRun_data(); }
  void shippedLessonsAreGerman() {
    QFETCH(QString, name);
    const std::vector<NamedText> translations = engine::LessonTranslations(name.toStdString());
    QCOMPARE(translations.size(), std::size_t{1});
    QCOMPARE(engine::LessonLanguageOf(translations[0].name), std::string("de"));
    const engine::Lesson lesson = ShippedStage(name.toStdString()).lesson();
    const auto german = engine::TranslateLesson(lesson, translations[0]);
    QVERIFY2(german.has_value(), german ? "" : german.error().message.c_str());
    QVERIFY(german->summary != lesson.summary);
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      QVERIFY(german->steps[i].text != lesson.steps[i].text);
    }
  }

  // The example of the guide can be copied into a file.
  void theExampleOfTheGuideRuns() {
    QFile page(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/lessons.md"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray text = page.readAll();
    const auto begin = text.indexOf("\n    {\n"), end = text.indexOf("\n    }\n", begin);
    QVERIFY(begin > 0 && end > begin);
    const auto next = text.indexOf("\n    {\n", end), last = text.indexOf("\n    }\n", next);
    QVERIFY(next > end && last > next);
    const auto lesson =
        engine::ReadLesson({"guide.json", text.mid(begin, end + 6 - begin).toStdString()});
    QVERIFY2(lesson.has_value(), lesson ? "" : lesson.error().message.c_str());
    const auto stage = engine::LessonStage::Make(*lesson);
    QVERIFY2(stage.has_value(), stage ? "" : stage.error().message.c_str());
    const auto rehearsed = engine::RehearseLesson(*stage);
    QVERIFY2(rehearsed.has_value(), rehearsed ? "" : rehearsed.error().message.c_str());
    // The other example is its translation.
    const auto german = engine::TranslateLesson(
        *lesson, {"guide.de.json", text.mid(next, last + 6 - next).toStdString()});
    QVERIFY2(german.has_value(), german ? "" : german.error().message.c_str());
  }

  // The page names every value.
  void theGuideListsAllValues() {
    QFile page(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/lessons.md"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray text = page.readAll();
    for (const engine::LessonName& name : engine::LessonNameTable()) {
      QVERIFY2(text.contains("| `" + QByteArray(name.name.data())), name.name.data());
    }
  }

  void aTaskIsOpenBeforeItsSolution() {
    const engine::LessonStage stage = ShippedStage("what-moves");
    const std::size_t last = stage.num_steps() - 1;
    const engine::LessonTask& task = *stage.lesson().steps[last].task;
    const engine::LessonState& state = stage.StateAt(last);
    const auto open = engine::CheckTask(task, state, nullptr);
    QVERIFY(!open[0].holds && !open[2].holds);
    QVERIFY(!open[2].known);            // the bytes of a plan that does not exist
    QVERIFY(open[2].limit.number > 0);  // but their limit is known
    const auto plan = engine::PlanLessonChange(state, task.solution);
    QVERIFY(plan.has_value());
    const auto done = engine::CheckTask(task, state, *plan);
    QVERIFY(std::ranges::all_of(done, &engine::LessonCheck::holds));
    // Another change meets only some of the conditions.
    const auto other = engine::PlanLessonChange(state, {.mesh = *ptc::ParseMeshShape("dp=4,tp=2")});
    const auto half = engine::CheckTask(task, state, *other);
    QVERIFY(!half[0].holds && half[1].holds && half[0].known);
  }
};

TESSERA_TEST_APPLESS(LessonStageTest)
#include "lesson_stage_test.moc"
