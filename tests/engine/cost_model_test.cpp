// SPDX-License-Identifier: Apache-2.0
#include "engine/search/cost_model.h"

#include <QTest>
#include <map>
#include <set>
#include <vector>

#include "engine/search/enumerate.h"
#include "engine/search/group_traffic.h"
#include "engine/search/workload.h"
#include "tests/engine/step_oracle.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::Calibration;
using engine::Machines;
using engine::StepCost;
using engine::StepOptions;
using ptc::Axis;

namespace {

engine::JobSettings Settings(const char* model) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel(model);
  return settings;
}

ptc::DeviceMesh On(const ptc::MeshShape& shape, int per_node) {
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t i = 0; i < shape.num_ranks(); ++i) {
    devices.push_back({i / per_node, i % per_node});
  }
  return *ptc::DeviceMesh::Make(shape, devices);
}

double Total(const char* mesh, const StepOptions& options, const Calibration& calibration,
             int per_node = 64) {
  return EstimateStep(Settings("gpt-mini"), On(*ptc::ParseMeshShape(mesh), per_node), options, {},
                      calibration)
      .total();
}

}  // namespace

class CostModelTest : public QObject {
  Q_OBJECT
 private slots:
  // Against the collection itself: the fullest rank of each stage.
  void parametersAreThoseOfTheLayout_data() {
    QTest::addColumn<QString>("model");
    for (const std::string& name : engine::ModelNames()) {
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
  }
  void parametersAreThoseOfTheLayout() {
    QFETCH(QString, model);
    for (const bool variant : {false, true}) {
      engine::JobSettings settings = Settings(model.toUtf8().constData());
      settings.model.gated_mlp = variant;
      settings.model.tied_head = !variant;
      if (variant) settings.model.kv_heads = settings.model.heads / 2;
      const auto tensors = *engine::MakeCollection(settings, false);
      for (const ptc::MeshShape& shape : engine::MeshesOf(settings, 4)) {
        const auto layout = *ptc::Layout::Make(On(shape, 4), tensors);
        const std::int64_t stages = shape[Axis::kPp];
        for (std::int64_t stage = 0; stage < stages; ++stage) {
          const auto rank = static_cast<int>(stage * 4 / stages);
          std::int64_t elements = 0;
          for (int t = 0; t < static_cast<int>(tensors->tensors().size()); ++t) {
            if (tensors->tensors()[static_cast<std::size_t>(t)].role != ptc::TensorRole::kParam) {
              continue;
            }
            for (const ptc::Box& box : layout.Boxes(rank, t)) elements += box.num_elements();
          }
          QCOMPARE(engine::ParametersOf(settings.model, shape[Axis::kTp], stage, stages), elements);
        }
      }
    }
  }

  void partsOfTheWorkAddUpToTheWhole() {
    const engine::GptConfig model = *engine::FindModel("gpt-mini");
    const engine::PassWork whole = engine::WorkOf(model, 1, 0, 1, 8);
    double flops = 0, layers = 0;
    for (int stage = 0; stage < 4; ++stage) {
      const engine::PassWork part = engine::WorkOf(model, 2, stage, 4, 8);
      flops += 2 * part.flops;
      layers += part.layers;
    }
    QVERIFY(qFuzzyCompare(flops, whole.flops));
    QCOMPARE(layers, whole.layers);
    // 6 FLOPs a parameter and token (Kaplan et al. 2020, section 2.1), plus attention's.
    const double tokens = 8.0 * static_cast<double>(model.sequence);
    const auto matrices = static_cast<double>(model.layers * 12 * model.width * model.width +
                                              model.vocab * model.width);
    const double attention =
        3 * 4.0 * tokens * static_cast<double>(model.layers * model.sequence * model.width);
    QVERIFY(qFuzzyCompare(whole.flops, 6 * matrices * tokens + attention));
  }

  void moreOfAnythingIsNeverSlower() {
    const std::vector<std::pair<const char*, void (*)(Calibration&)>> better = {
        {"flops", [](Calibration& c) { c.flops_per_second *= 2; }},
        {"speed of all cores", [](Calibration& c) { c.all_cores_speed = 2; }},
        {"shared bandwidth",
         [](Calibration& c) {
           for (auto* link : {&c.shared_all_reduce.two, &c.shared_all_reduce.four,
                              &c.shared_all_reduce.eight, &c.shared_gather.two, &c.shared_send}) {
             link->seconds_per_byte /= 2;
           }
         }},
        {"network latency",
         [](Calibration& c) {
           for (auto* link : {&c.network_all_reduce.two, &c.network_all_reduce.four,
                              &c.network_all_reduce.eight, &c.network_send}) {
             link->seconds /= 2;
           }
         }},
        {"update", [](Calibration& c) { c.update_seconds /= 2; }},
        {"layers", [](Calibration& c) { c.layer_seconds /= 2; }}};
    const engine::JobSettings settings = Settings("gpt-mini");
    for (const std::int64_t ranks : {1, 2, 4, 8, 16}) {
      for (const ptc::MeshShape& shape : engine::MeshesOf(settings, ranks)) {
        for (const int per_node : {2, 16}) {
          for (const bool zero : {false, true}) {
            const auto mesh = On(shape, per_node);
            const double before =
                EstimateStep(settings, mesh, {.zero = zero}, {}, Calibration{}).total();
            QVERIFY(before > 0 && std::isfinite(before));
            for (const auto& [what, improve] : better) {
              Calibration calibration;
              improve(calibration);
              const double after =
                  EstimateStep(settings, mesh, {.zero = zero}, {}, calibration).total();
              QVERIFY2(
                  after <= before * (1 + 1e-12),
                  qPrintable(
                      QString("%1 on %2").arg(what, QString::fromStdString(ptc::ToString(shape)))));
            }
          }
        }
      }
    }
  }

  // With links that take a second per byte and nothing else, a step takes as many seconds as its
  // groups send bytes.
  void groupsSendWhatTheModelCharges_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<bool>("zero");
    for (const char* mesh :
         {"tp=2", "dp=2", "dp=3", "pp=2", "dp=3,tp=2", "tp=4,pp=2", "dp=2,tp=2,pp=4"})
      for (const bool zero : {false, true})
        QTest::addRow("%s%s", mesh, zero ? " ZeRO" : "") << QString(mesh) << zero;
  }
  void groupsSendWhatTheModelCharges() {
    QFETCH(QString, mesh);
    QFETCH(bool, zero);
    const auto shape = *ptc::ParseMeshShape(mesh.toStdString());
    Calibration calibration;
    calibration.cores = 1;
    calibration.all_cores_speed = 1;
    calibration.layer_seconds = calibration.element_seconds = calibration.gradient_seconds =
        calibration.update_seconds = calibration.step_seconds = 0;
    calibration.flops_per_second = 1e300;
    const engine::LinkCost perByte{0, 1};
    calibration.shared_all_reduce = {perByte, perByte, perByte};
    calibration.shared_gather = {perByte, perByte, perByte};
    calibration.shared_send = perByte;
    for (const bool tied : {false, true}) {
      engine::JobSettings settings = Settings("gpt-mini");
      settings.model.tied_head = tied;
      const StepOptions options{.zero = zero};
      VERIFY_OK(engine::CheckMesh(settings, shape, options));
      const auto placed = On(shape, 64);
      const StepCost cost = EstimateStep(settings, placed, options, {}, calibration);
      const auto sum = [&](Axis axis) {
        double bytes = 0;
        for (int rank = 0; rank < placed.num_ranks(); ++rank) {
          if (placed.Coordinate(rank, axis) != 0) continue;  // one rank of each group
          bytes += static_cast<double>(engine::GroupBytes(settings, shape, options, rank, axis));
        }
        return bytes;
      };
      QCOMPARE(sum(Axis::kTp), cost.tensor);
      QCOMPARE(sum(Axis::kDp) + sum(Axis::kPp), cost.reduction + cost.gather + cost.pipeline);
      QCOMPARE(sum(Axis::kEp) + sum(Axis::kCp), 0.0);
      for (const Axis axis : {Axis::kTp, Axis::kDp, Axis::kPp})
        QCOMPARE(sum(axis) > 0, shape[axis] > 1);
    }
  }

  // All ranks of a group say the same.
  void aGroupHasOneSize() {
    const engine::JobSettings settings = Settings("gpt-mini");
    const auto shape = *ptc::ParseMeshShape("dp=3,tp=2,pp=2");
    const auto placed = On(shape, 64);
    for (const Axis axis : {Axis::kTp, Axis::kPp}) {
      std::map<std::vector<std::int64_t>, std::set<std::int64_t>> sizes;  // by group
      for (int rank = 0; rank < placed.num_ranks(); ++rank) {
        std::vector<std::int64_t> group;
        for (const Axis other : ptc::kAxes)
          if (other != axis) group.push_back(placed.Coordinate(rank, other));
        sizes[group].insert(engine::GroupBytes(settings, shape, {}, rank, axis));
      }
      QVERIFY(sizes.size() > 1);
      for (const auto& [group, size] : sizes) QCOMPARE(size.size(), std::size_t{1});
    }
  }

  void ranksOfOneMachineShareItsCores() {
    Calibration two;
    Calibration many = two;
    many.cores = 64;
    many.all_cores_speed = 64;
    // Twice the ranks on the same two cores do the same work: nothing is gained.
    QVERIFY(Total("dp=4", {}, two) > 0.9 * Total("dp=2", {}, two));
    QVERIFY(Total("dp=4", {}, many) < 0.7 * Total("dp=2", {}, many));
    // Two nodes of one machine are no faster than one, two machines are.
    const auto mesh = On(*ptc::ParseMeshShape("dp=4"), 2);
    const Machines apart{.topology = {.host_of_node = {{0, 0}, {1, 0}}}};
    Machines together = apart;
    together.machine_of_node = {{0, 0}, {1, 0}};
    const engine::JobSettings settings = Settings("gpt-mini");
    QVERIFY(EstimateStep(settings, mesh, {}, apart, two).total() <
            0.7 * EstimateStep(settings, mesh, {}, together, two).total());
  }

  void aNetworkBetweenHostsCostsMoreThanSharedMemory() {
    for (const char* mesh : {"dp=2", "tp=2", "pp=2"}) {
      Machines together{.topology = {.host_of_node = {{0, 0}, {1, 0}}},
                        .machine_of_node = {{0, 0}, {1, 0}}};
      Machines apart{.topology = {}, .machine_of_node = {{0, 0}, {1, 0}}};
      const auto placed = On(*ptc::ParseMeshShape(mesh), 1);
      const engine::JobSettings settings = Settings("gpt-mini");
      QVERIFY(EstimateStep(settings, placed, {}, together, {}).total() <
              EstimateStep(settings, placed, {}, apart, {}).total());
    }
  }

  // Narayanan et al., SC 2021, section 2.2: the bubble is (p - 1) / m of the work.
  void theBubbleIsThatOfTheLiterature() {
    Calibration calibration;
    calibration.cores = 4;
    calibration.all_cores_speed = 4;
    calibration.pass_seconds = calibration.layer_seconds = calibration.element_seconds = 0;
    calibration.shared_send = {};
    engine::JobSettings settings = Settings("gpt-mini");
    settings.model.vocab = 1;  // no head: stages of equal work
    for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
      const StepCost cost = EstimateStep(settings, On(*ptc::ParseMeshShape("pp=4"), 4),
                                         {.micro_batch = micro_batch}, {}, calibration);
      const double batches = 16.0 / static_cast<double>(micro_batch);
      QVERIFY(std::abs(cost.pipeline / cost.compute - 3 / batches) < 0.01);
    }
    // Stages that share one core wait for nothing but it.
    calibration.cores = 1;
    calibration.all_cores_speed = 1;
    QVERIFY(EstimateStep(settings, On(*ptc::ParseMeshShape("pp=4"), 4), {.micro_batch = 4}, {},
                         calibration)
                .pipeline < 1e-12);
  }

  // 16 samples on three ranks are 6, 5 and 5: a step takes as long as 6.
  void unevenSharesWaitForTheLargest() {
    Calibration calibration;
    calibration.cores = 3;
    calibration.all_cores_speed = 3;
    calibration.pass_seconds = calibration.layer_seconds = 0;
    const auto seconds = [&](const char* mesh, const StepOptions& options) {
      const StepCost cost = EstimateStep(Settings("gpt-mini"), On(*ptc::ParseMeshShape(mesh), 4),
                                         options, {}, calibration);
      return cost.compute + cost.pipeline;
    };
    const double all = seconds("dp=1", {});
    QVERIFY(std::abs(seconds("dp=3", {}) / all - 6.0 / 16) < 1e-9);
    // In parts of 4, which leave 2 and 1 for the last.
    QVERIFY(std::abs(seconds("dp=3", {.micro_batch = 4}) / all - 6.0 / 16) < 1e-9);
    // What each pass costs whatever it holds: two passes a rank, of 4 and of what is left.
    calibration.pass_seconds = 1000;
    QVERIFY(std::abs(seconds("dp=3", {.micro_batch = 4}) - 2000) < 100);
  }

  void estimatesAreThoseOfTheFormulae() {
    std::mt19937_64 rng(test::Seed());
    const auto pick = [&](std::int64_t least, std::int64_t most) {
      return least +
             static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(most - least + 1));
    };
    int compared = 0;
    for (int i = 0; i < 300; ++i) {
      engine::JobSettings settings = Settings(i % 2 == 0 ? "gpt-mini" : "gpt2");
      settings.global_batch = pick(1, 40);
      settings.model.tied_head = pick(0, 1) == 1;
      Calibration calibration;
      calibration.cores = pick(1, 8);
      calibration.all_cores_speed = static_cast<double>(calibration.cores);
      calibration.pass_seconds = 1e-4 * static_cast<double>(pick(0, 9));
      // Nodes share machines, and hosts, in any way.
      const std::int32_t per_node = static_cast<std::int32_t>(pick(1, 8));
      Machines machines;
      for (std::int32_t node = 0; node < 64; ++node) {
        if (pick(0, 1) == 1) machines.machine_of_node[node] = static_cast<std::int32_t>(pick(0, 5));
        if (pick(0, 2) == 0) machines.topology.host_of_node[node] = node - node % 2;
      }
      const auto meshes = engine::MeshesOf(settings, pick(1, 64));
      if (meshes.empty()) continue;
      const ptc::MeshShape& shape = meshes[rng() % meshes.size()];
      std::vector<ptc::DeviceId> devices = On(shape, per_node).devices();
      if (pick(0, 1) == 1) std::shuffle(devices.begin(), devices.end(), rng);
      const auto mesh = *ptc::DeviceMesh::Make(shape, devices);
      const auto sizes = engine::MicroBatchesOf(settings, shape);
      const StepOptions options{.zero = pick(0, 1) == 1,
                                .micro_batch = sizes[rng() % sizes.size()]};
      const double fast = EstimateStep(settings, mesh, options, machines, calibration).total();
      const double slow = test::StepOracle(settings, mesh, options, machines, calibration).Total();
      QVERIFY2(std::abs(fast - slow) <= 1e-9 * slow,
               qPrintable(QString("%1: %2, %3 by the formulae")
                              .arg(QString::fromStdString(ptc::ToString(shape)))
                              .arg(fast)
                              .arg(slow)));
      ++compared;
    }
    QVERIFY(compared > 100);
  }

  void zeroIsNothingWithoutReplicas() {
    QCOMPARE(Total("tp=2", {.zero = true}, {}), Total("tp=2", {}, {}));
    QVERIFY(Total("dp=4", {.zero = true}, {}) != Total("dp=4", {}, {}));
  }
};
TESSERA_TEST_APPLESS(CostModelTest)
#include "cost_model_test.moc"
