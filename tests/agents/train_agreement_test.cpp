// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job computes the same under every mesh: losses, gradient norms, replicas. By default a small
/// model makes a few steps under some meshes; with TESSERA_TEST_ALL in the environment gpt-nano
/// makes up to 60 steps under all of them. trainer_oracle_test compares the values with PyTorch.

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "agents/data/job_data.h"
#include "agents/job/decision.h"
#include "agents/train/comm/groups.h"
#include "agents/train/comm/thread_rendezvous.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"
#include "engine/update/bfloat16.h"
#include "tests/agents/local_mesh.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents::train;

namespace {

struct StepResult {
  double loss = 0, norm = 0;
  friend bool operator==(const StepResult&, const StepResult&) = default;
};
using Results = std::vector<StepResult>;
using States = std::vector<std::unique_ptr<PrivateState>>;

struct Mesh {
  int dp = 1, tp = 1, pp = 1;
  bool zero = false;
  std::int64_t micro_batch = 0;
  int hosts = 1;
  int world() const { return dp * tp * pp; }
};

std::size_t ElementBytes(const tessera_piece& piece) {
  return static_cast<std::size_t>(ptc::SizeBytes(*ptc::ParseDType(piece.dtype)));
}
std::size_t BytesOf(const tessera_piece& piece) {
  return static_cast<std::size_t>(piece.num_elements) * ElementBytes(piece);
}

/// Visits the elements of a piece as (index in the uncut tensor, address).
template <typename Visit>
void ForEachElement(const tessera_piece& piece, Visit visit) {
  const std::size_t bytes = ElementBytes(piece);
  auto* at = static_cast<std::byte*>(piece.data);
  for (std::int64_t i = 0; i < piece.num_elements; ++i, at += bytes) {
    std::int64_t rest = i, index = 0, stride = 1;
    for (int d = piece.rank - 1; d >= 0; --d) {
      const std::int64_t size = piece.end[d] - piece.begin[d];
      index += (piece.begin[d] + rest % size) * stride;
      rest /= size;
      stride *= piece.shape[d];
    }
    visit(static_cast<std::size_t>(index), at);
  }
}

/// The uncut tensors of a job, assembled from the pieces of all ranks.
struct WholeState {
  std::map<std::string, std::vector<std::byte>> tensors;
  /// Tensors of which two ranks hold an element with different bits, or no rank holds an element.
  std::vector<std::string> damaged;
  friend bool operator==(const WholeState&, const WholeState&) = default;
};

WholeState Gather(const States& states) {
  WholeState whole;
  std::map<std::string, std::vector<bool>> held;
  std::map<std::string, bool> conflict;
  for (const auto& state : states) {
    for (const tessera_piece& piece : state->pieces()) {
      const std::size_t bytes = ElementBytes(piece);
      std::size_t elements = 1;
      for (int d = 0; d < piece.rank; ++d) elements *= static_cast<std::size_t>(piece.shape[d]);
      auto& tensor = whole.tensors[piece.name];
      auto& is_held = held[piece.name];
      tensor.resize(elements * bytes);
      is_held.resize(elements);
      ForEachElement(piece, [&](std::size_t index, const std::byte* at) {
        std::byte* const to = tensor.data() + index * bytes;
        if (is_held[index] && std::memcmp(to, at, bytes) != 0) conflict[piece.name] = true;
        is_held[index] = true;
        std::memcpy(to, at, bytes);
      });
    }
  }
  for (const auto& [name, elements] : held) {
    if (conflict[name] || std::find(elements.begin(), elements.end(), false) != elements.end()) {
      whole.damaged.push_back(name);
    }
  }
  return whole;
}

void Scatter(const WholeState& whole, const States& states) {
  for (const auto& state : states) {
    for (const tessera_piece& piece : state->pieces()) {
      const auto& tensor = whole.tensors.at(piece.name);
      const std::size_t bytes = ElementBytes(piece);
      ForEachElement(piece, [&](std::size_t index, std::byte* at) {
        std::memcpy(at, tensor.data() + index * bytes, bytes);
      });
    }
  }
}

States StatesFor(const engine::JobSettings& settings, const Mesh& mesh) {
  const auto device_mesh = ptc::ParseDeviceMesh(QStringLiteral("dp=%1,tp=%2,pp=%3 on 1x%4")
                                                    .arg(mesh.dp)
                                                    .arg(mesh.tp)
                                                    .arg(mesh.pp)
                                                    .arg(mesh.world())
                                                    .toStdString());
  const auto layout = ptc::Layout::Make(*device_mesh, *engine::MakeCollection(settings, mesh.zero));
  if (!layout) {
    qWarning("%s", layout.error().ToString().c_str());
    return {};
  }
  States states;
  for (int rank = 0; rank < mesh.world(); ++rank) {
    states.push_back(std::make_unique<PrivateState>(*layout, rank));
  }
  return states;
}

States InitialStates(const engine::JobSettings& settings, const Mesh& mesh) {
  States states = StatesFor(settings, mesh);
  for (const auto& state : states) Initialise(settings, *BindState(state->pieces()));
  return states;
}

std::vector<std::byte> BytesOf(const PrivateState& state) {
  std::vector<std::byte> bytes;
  for (const tessera_piece& piece : state.pieces()) {
    const auto* data = static_cast<const std::byte*>(piece.data);
    bytes.insert(bytes.end(), data, data + BytesOf(piece));
  }
  return bytes;
}

/// A group that changes the last bits of the results of one rank, as a different processor would
/// change those of gradients.
class RoundsOtherwise final : public Collective {
 public:
  explicit RoundsOtherwise(CollectivePtr group)
      : Collective(group->rank(), group->size()), group_(std::move(group)) {}
  Status AllReduceSum(std::span<float> values) override {
    TESSERA_RETURN_IF_ERROR(group_->AllReduceSum(values));
    for (float& value : values) value = std::nextafter(value, 1.0F);
    return OkStatus();
  }
  Status AllReduceMax(std::span<float> values) override { return group_->AllReduceMax(values); }
  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    return group_->AllGather(mine, all);
  }
  Status Send(int to, std::span<const float> values) override { return group_->Send(to, values); }
  Status Receive(int from, std::span<float> values) override {
    return group_->Receive(from, values);
  }
  void Abort() override { group_->Abort(); }

 private:
  const CollectivePtr group_;
};

/// Makes `steps` steps of a job on `states`, each rank on a thread. `change`, if given, changes the
/// groups of a rank before it trains.
Results Train(const engine::JobSettings& settings, const Mesh& mesh, int steps,
              const States& states,
              const std::function<void(int rank, Groups& groups)>& change = {}) {
  const test::LocalMesh local(mesh.pp, mesh.dp, mesh.tp, mesh.hosts);
  const auto rendezvous = std::make_shared<ThreadRendezvous>();
  Results results;
  std::vector<std::string> errors(states.size());
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < local.world(); ++rank) {
      ranks.emplace_back([&, rank] {
        const auto index = static_cast<std::size_t>(rank);
        const PrivateState& state = *states[index];
        const auto run = [&]() -> Status {
          TESSERA_TRY(auto data, agents::OpenJobData(settings));
          tessera_view view = local.View(rank);
          view.micro_batch = mesh.micro_batch;
          TESSERA_TRY(Groups groups,
                      ConnectGroups(view, rendezvous, data.fingerprint(), std::chrono::seconds(30),
                                    StageMessageFloats(settings, view)));
          if (change) change(rank, groups);
          const CollectivePtr world = groups.world;
          Trainer trainer(settings, std::move(data));
          TESSERA_TRY(Groups none,
                      trainer.Bind(state.pieces(), std::move(groups), mesh.micro_batch));
          if (none.world) return Internal("a fresh trainer had groups");
          for (int i = 0; i < steps; ++i) {
            const auto before = i < 2 ? BytesOf(state) : std::vector<std::byte>();
            TESSERA_TRY(const tessera_record mine, trainer.ComputeGradients());
            std::vector<tessera_record> all(states.size());
            TESSERA_RETURN_IF_ERROR(world->AllGather(std::as_bytes(std::span(&mine, 1)),
                                                     std::as_writable_bytes(std::span(all))));
            const auto decision = agents::Decide(trainer.step() + 1, all, settings.max_norm);
            if (decision.tokens != settings.global_batch * settings.model.sequence) {
              return Internal("tokens were counted twice or not at all");
            }
            TESSERA_RETURN_IF_ERROR(trainer.PrepareUpdate(decision.clip, decision.skip != 0));
            if (i < 2 && BytesOf(state) != before) return Internal("state changed before begin");
            trainer.CommitUpdate();
            if (i < 2 && BytesOf(state) == before) return Internal("state did not change");
            if (rank == 0) results.push_back({decision.loss, std::sqrt(decision.norm2)});
          }
          return OkStatus();
        };
        if (const Status status = run(); !status) errors[index] = status.error().ToString();
      });
    }
  }
  for (const std::string& error : errors) {
    if (!error.empty()) qWarning("%s", error.c_str());
  }
  return results;
}

void Compare(const Results& results, const Results& reference, double tolerance = 1e-5) {
  QVERIFY(!results.empty() && results.size() <= reference.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto message = [&](const char* what, double a, double b) {
      return QString("%1 of step %2: %3, %4").arg(what).arg(i).arg(a, 0, 'g', 9).arg(b, 0, 'g', 9);
    };
    const StepResult &a = results[i], &b = reference[i];
    QVERIFY2(std::abs(a.loss - b.loss) <= (i == 0 ? 1e-5 : tolerance) * b.loss,
             qPrintable(message("loss", a.loss, b.loss)));
    QVERIFY2(std::abs(a.norm - b.norm) <= (i == 0 ? 1e-4 : 100 * tolerance) * b.norm,
             qPrintable(message("norm", a.norm, b.norm)));
  }
}

}  // namespace

Q_DECLARE_METATYPE(Mesh)

class TrainAgreementTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  engine::JobSettings m_settings;
  std::map<std::string, Results> m_references;  // by settings
  const bool m_all = qEnvironmentVariableIsSet("TESSERA_TEST_ALL");

  /// A few steps, unless everything is tested.
  int stepsOf(int all, int few) const { return m_all ? all : few; }
  /// A row that is always tested, or only if everything is.
  enum Row { kAlways, kWithAll };
  bool isTested(Row row) const { return m_all || row == kAlways; }

  /// The beginning of the text that all ranks train on.
  std::string textFile(const QString& name, std::int64_t size) {
    QFile from(QString::fromStdString(m_settings.data.front())), to(m_folder.filePath(name));
    if (from.open(QIODevice::ReadOnly) && to.open(QIODevice::WriteOnly)) to.write(from.read(size));
    return to.fileName().toStdString();
  }
  std::string textFile(const QString& name, const std::function<QByteArray(std::mt19937&)>& word) {
    QFile file(m_folder.filePath(name));
    std::mt19937 rng(7);
    if (file.open(QIODevice::WriteOnly)) {
      for (int i = 0; i < 12000; ++i) file.write(word(rng));
    }
    return file.fileName().toStdString();
  }

  /// The results of one process after at least `steps` steps.
  const Results& reference(const engine::JobSettings& settings, int steps) {
    Results& results = m_references[engine::ToJson(settings)];
    if (std::ssize(results) < steps) {
      results = Train(settings, {}, steps, InitialStates(settings, {}));
    }
    return results;
  }

  /// Runs `mesh` from the start and compares it with one process.
  void agree(const engine::JobSettings& settings, const Mesh& mesh, int steps,
             double tolerance = 1e-5) {
    const States states = InitialStates(settings, mesh);
    QCOMPARE(std::ssize(states), mesh.world());
    const Results results = Train(settings, mesh, steps, states);
    QCOMPARE(std::ssize(results), steps);
    Compare(results, reference(settings, steps), tolerance);
    // Replicas have equal bits: over dp, tensors that tp does not cut over tp, and the copies of a
    // tied embedding.
    const WholeState whole = Gather(states);
    QVERIFY2(whole.damaged.empty(), whole.damaged.empty() ? "" : whole.damaged[0].c_str());
  }

  engine::JobSettings optionSettings() const {  // every option of the model that fp32 has
    engine::JobSettings settings = m_settings;
    settings.model.kv_heads = 2;
    settings.model.gated_mlp = true;
    settings.model.tied_head = false;
    return settings;
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_folder.isValid());
    m_settings.model = *engine::FindModel("gpt-nano");
    if (!m_all) {
      m_settings.model.width = 32;
      m_settings.model.ffn = 128;
      m_settings.model.sequence = 32;
    }
    m_settings.global_batch = 16;  // two micro-batches on one rank
    m_settings.warmup_steps = 2;
    m_settings.data = {textFile("text", [](std::mt19937& rng) -> QByteArray {
      const QByteArray words[] = {"the ", "of ", "mesh ", "device ", "layout\n", "moves ", "to "};
      return words[rng() % 7];
    })};
    const int steps = m_all ? 60 : 30;
    const Results& results = reference(m_settings, steps);
    QCOMPARE(std::ssize(results), steps);
    // The loss is near log(256) before the first step, and then falls.
    QVERIFY(results.front().loss > 4.5 && results.front().loss < 6.5);
    QVERIFY(results.back().loss < (m_all ? 0.5 : 0.8) * results.front().loss);
  }

  void initialStateIsTheSameBits_data() {
    QTest::addColumn<Mesh>("mesh");
    QTest::addColumn<bool>("bf16");
    QTest::newRow("dp=2,tp=4") << Mesh{2, 4} << false;
    QTest::newRow("tp=2,pp=2") << Mesh{1, 2, 2} << false;
    QTest::newRow("dp=2,tp=2,pp=2, zero") << Mesh{2, 2, 2, true} << false;
    QTest::newRow("dp=2,tp=2,pp=2, zero, bf16") << Mesh{2, 2, 2, true} << true;
  }
  void initialStateIsTheSameBits() {
    QFETCH(Mesh, mesh);
    QFETCH(bool, bf16);
    engine::JobSettings settings = m_settings;
    if (bf16) settings.precision = engine::Precision::kBf16;
    const WholeState whole = Gather(InitialStates(settings, mesh));
    QVERIFY(whole.damaged.empty());
    QVERIFY(whole == Gather(InitialStates(settings, {})));
  }

  void everyMeshComputesTheSame_data() {
    QTest::addColumn<Mesh>("mesh");
    QTest::addColumn<int>("steps");
    struct MeshRow {
      const char* name;
      Mesh mesh;
      int steps;
      Row row;
    };
    const MeshRow rows[] = {
        {"dp=2", {2}, 60, kWithAll},
        {"tp=2", {1, 2}, 60, kAlways},
        {"pp=2", {1, 1, 2}, 60, kWithAll},
        {"dp=2,tp=2", {2, 2}, 60, kWithAll},
        {"dp=2,pp=2", {2, 1, 2}, 60, kWithAll},
        {"tp=2,pp=2", {1, 2, 2}, 60, kWithAll},
        {"dp=2,tp=2,pp=2", {2, 2, 2}, 60, kAlways},
        {"tp=4", {1, 4}, 60, kAlways},
        {"dp=2,tp=4", {2, 4}, 10, kWithAll},
        {"dp=4,zero", {4, 1, 1, true}, 10, kAlways},
        {"dp=3: 6, 5 and 5 samples", {3}, 30, kWithAll},
        {"dp=3,tp=2", {3, 2}, 20, kWithAll},
        {"dp=3,pp=2", {3, 1, 2}, 20, kWithAll},
        {"dp=3,pp=2, micro-batch 4: 4 and 2, 4 and 1", {3, 1, 2, false, 4}, 10, kWithAll},
        {"dp=5,zero", {5, 1, 1, true}, 10, kAlways},
        {"dp=7,pp=2: 3 and 2 samples", {7, 1, 2}, 5, kWithAll},
        {"one process, micro-batch 3: the last holds 1", {1, 1, 1, false, 3}, 10, kAlways},
        {"tp=2,pp=2, micro-batch 5: the last holds 1", {1, 2, 2, false, 5}, 10, kWithAll},
        {"dp=3,pp=2 on two hosts", {3, 1, 2, false, 4, 2}, 10, kAlways},
        {"16 ranks, zero", {4, 2, 2, true}, 5, kWithAll},
        {"one process, micro-batch 1", {1, 1, 1, false, 1}, 10, kWithAll},
        {"dp=2,tp=2, micro-batch 2", {2, 2, 1, false, 2}, 10, kWithAll},
        {"pp=2, micro-batch 1", {1, 1, 2, false, 1}, 10, kAlways},
        {"pp=2, micro-batch 4", {1, 1, 2, false, 4}, 10, kWithAll},
        {"pp=2, micro-batch 16: one at a time", {1, 1, 2, false, 16}, 10, kWithAll},
        {"tp=2 on two hosts", {1, 2, 1, false, 0, 2}, 10, kWithAll},
        {"dp=2,tp=2 on two hosts, zero", {2, 2, 1, true, 0, 2}, 10, kAlways},
        {"tp=2,pp=2 on two hosts", {1, 2, 2, false, 0, 2}, 10, kWithAll},
    };
    for (const auto& [name, mesh, steps, row] : rows) {
      if (isTested(row)) QTest::addRow("%s", name) << mesh << stepsOf(steps, 4);
    }
  }
  void everyMeshComputesTheSame() {
    QFETCH(Mesh, mesh);
    QFETCH(int, steps);
    agree(m_settings, mesh, steps);
  }

  void everyModelComputesTheSame_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<Mesh>("mesh");
    struct ModelRow {
      const char* change;
      Mesh mesh;
      Row row;
    };
    const ModelRow rows[] = {
        {"ragged", {1, 2, 2}, kWithAll},       {"ragged", {1, 4, 1}, kWithAll},
        {"ragged", {2, 4, 1, true}, kAlways},  {"options", {2, 1, 1}, kWithAll},
        {"options", {1, 2, 1}, kWithAll},      {"options", {1, 1, 2}, kWithAll},
        {"options", {2, 2, 2, true}, kAlways}, {"dropout", {2, 1, 1}, kWithAll},
        {"dropout", {1, 2, 1}, kWithAll},      {"dropout", {1, 1, 2}, kWithAll},
        {"dropout", {2, 2, 2}, kWithAll},      {"dropout", {3, 1, 1}, kWithAll},
        {"dropout", {3, 2, 2}, kAlways},       {"dropout", {1, 1, 1, false, 2}, kWithAll},
        {"uneven", {1, 1, 2}, kWithAll},       {"uneven", {1, 2, 3}, kWithAll},
        {"uneven", {2, 1, 3, true}, kAlways},
    };
    for (const auto& [change, mesh, row] : rows) {
      if (!isTested(row)) continue;
      QTest::addRow("%s: dp=%d,tp=%d,pp=%d", change, mesh.dp, mesh.tp, mesh.pp) << change << mesh;
    }
  }
  void everyModelComputesTheSame() {
    QFETCH(QString, change);
    QFETCH(Mesh, mesh);
    engine::JobSettings settings = m_settings;
    if (change == "ragged") settings.model.vocab = 257;
    if (change == "options") settings = optionSettings();
    if (change == "dropout") settings.dropout = 0.1;
    if (change == "uneven") settings.model.layers = 3;
    const int steps = stepsOf(10, 4);
    agree(settings, mesh, steps);
    // The option has an effect.
    QVERIFY(reference(settings, steps)[0].loss != reference(m_settings, steps)[0].loss);
  }

  void ranksWithoutVocabularyTakePart_data() {
    QTest::addColumn<Mesh>("mesh");
    QTest::addColumn<bool>("tied");
    if (m_all) QTest::newRow("tp=4") << Mesh{1, 4} << true;
    if (m_all) QTest::newRow("tp=4,pp=2") << Mesh{1, 4, 2} << true;
    QTest::newRow("tp=4,pp=2, untied") << Mesh{1, 4, 2} << false;
    QTest::newRow("dp=2,tp=4, zero") << Mesh{2, 4, 1, true} << true;
  }
  void ranksWithoutVocabularyTakePart() {
    QFETCH(Mesh, mesh);
    QFETCH(bool, tied);
    engine::JobSettings settings = m_settings;
    settings.model.vocab = 9;  // rows 3, 3, 3 and none
    settings.model.tied_head = tied;
    settings.data = {textFile("digits", [](std::mt19937& rng) {
      return QByteArray(5, static_cast<char>(1 + rng() % 8));
    })};
    const auto last = StatesFor(settings, {1, 4}).back()->pieces().size();
    QVERIFY(last < StatesFor(settings, {1, 4}).front()->pieces().size());
    agree(settings, mesh, stepsOf(10, 4));
  }

  // Gradients of tensors that tp does not cut are averaged over it, so that copies of a parameter
  // stay equal even if ranks round differently.
  void copiesStayEqualWhereRanksRoundOtherwise_data() {
    QTest::addColumn<Mesh>("mesh");
    QTest::newRow("tp=2") << Mesh{1, 2};
    QTest::newRow("tp=2,pp=2") << Mesh{1, 2, 2};
  }
  void copiesStayEqualWhereRanksRoundOtherwise() {
    QFETCH(Mesh, mesh);
    const States states = InitialStates(m_settings, mesh);
    // With dp=1 the sum over dp is the last operation on a gradient before the average.
    const Results results = Train(m_settings, mesh, 3, states, [](int rank, Groups& groups) {
      if (rank % 2 == 1) groups.dp = std::make_shared<RoundsOtherwise>(groups.dp);
    });
    QCOMPARE(std::ssize(results), 3);
    const WholeState whole = Gather(states);
    QVERIFY2(whole.damaged.empty(), whole.damaged.empty() ? "" : whole.damaged[0].c_str());
  }

  void lossWithoutGradientsIsThatOfAForwardPass() {
    const States states = InitialStates(m_settings, {});
    const auto state = BindState(states[0]->pieces());
    const auto model = GptModel::Make(m_settings, *state, MakeSelfGroup(), MakeSelfGroup());
    QVERIFY(model.has_value());
    const auto data = agents::OpenJobData(m_settings);
    const auto batch = ReadBatch(*data, m_settings.model, {{.seed = m_settings.seed}, {0, 4}});
    const MicroBatch samples{.num_samples = 4, .tokens = batch->tokens};
    (*model)->BeginStep();
    const auto is_zero = [&] {
      const auto gradients = (*model)->gradients();
      return std::all_of(gradients.begin(), gradients.end(), [](float g) { return g == 0; });
    };
    const auto loss = (*model)->EvaluateLoss(samples);
    QVERIFY(loss.has_value() && *loss > 0);
    QCOMPARE(*(*model)->Forward(samples), *loss);
    QVERIFY(is_zero());
    QVERIFY((*model)
                ->Backward()
                .has_value());  // of the forward pass, because EvaluateLoss stored nothing
    QVERIFY(!is_zero());
  }

  void zeroChangesNoBit_data() {
    QTest::addColumn<Mesh>("mesh");
    QTest::addColumn<bool>("bf16");
    if (m_all) QTest::newRow("dp=2") << Mesh{2} << false;
    QTest::newRow("dp=3, shares that do not divide") << Mesh{3, 2} << false;
    if (m_all) QTest::newRow("dp=2,tp=2,pp=2") << Mesh{2, 2, 2} << false;
    if (m_all) QTest::newRow("dp=2,tp=2, bf16") << Mesh{2, 2} << true;
    QTest::newRow("dp=3,pp=2, bf16") << Mesh{3, 1, 2} << true;
  }
  void zeroChangesNoBit() {
    QFETCH(Mesh, mesh);
    QFETCH(bool, bf16);
    engine::JobSettings settings = optionSettings();
    settings.global_batch = 12;
    if (bf16) settings.precision = engine::Precision::kBf16;
    const States whole = InitialStates(settings, mesh);
    mesh.zero = true;
    const States cut = InitialStates(settings, mesh);
    const int steps = stepsOf(6, 3);
    const Results with = Train(settings, mesh, steps, cut);
    mesh.zero = false;
    QCOMPARE(std::ssize(with), steps);
    QVERIFY(with == Train(settings, mesh, steps, whole));
    const WholeState state = Gather(cut);
    QVERIFY(state.damaged.empty());
    QVERIFY(state == Gather(whole));
  }

  void bf16AgreesToItsPrecision_data() {
    QTest::addColumn<Mesh>("mesh");
    if (m_all) QTest::newRow("dp=2, zero") << Mesh{2, 1, 1, true};
    if (m_all) QTest::newRow("tp=2") << Mesh{1, 2};
    if (m_all) QTest::newRow("pp=2") << Mesh{1, 1, 2};
    QTest::newRow("dp=2,tp=2,pp=2, zero") << Mesh{2, 2, 2, true};
  }
  void bf16AgreesToItsPrecision() {
    QFETCH(Mesh, mesh);
    engine::JobSettings settings = m_settings;
    settings.precision = engine::Precision::kBf16;
    // All ranks compute the first step with the same parameters. After that, masters differ in
    // their last bits. About one parameter in ten thousand lies near the middle between two bf16
    // numbers; there one rank may round up and another down, a difference of 2^-8 of the value.
    agree(settings, mesh, stepsOf(20, 6), 1e-4);

    const States states = InitialStates(settings, mesh);
    QCOMPARE(Train(settings, mesh, 3, states).size(), std::size_t{3});
    const WholeState whole = Gather(states);
    int checked = 0;
    for (const auto& [name, bytes] : whole.tensors) {
      const auto master = whole.tensors.find(name + ".master");
      if (master == whole.tensors.end()) continue;
      std::vector<float> values(master->second.size() / sizeof(float));
      std::memcpy(values.data(), master->second.data(), master->second.size());
      std::vector<std::uint16_t> rounded(values.size());
      engine::RoundToBf16(values, rounded);
      QCOMPARE(bytes.size(), 2 * rounded.size());
      QVERIFY2(std::memcmp(bytes.data(), rounded.data(), bytes.size()) == 0, name.c_str());
      ++checked;
    }
    QCOMPARE(checked, 28);
  }

  void jobGoesOnUnderAnotherMesh_data() {
    QTest::addColumn<bool>("dropout");
    QTest::addColumn<bool>("few_samples");
    if (m_all) QTest::newRow("plain") << false << false;
    if (m_all) QTest::newRow("dropout") << true << false;
    if (m_all) QTest::newRow("few samples") << false << true;
    QTest::newRow("dropout and few samples") << true << true;
  }
  void jobGoesOnUnderAnotherMesh() {
    QFETCH(bool, dropout);
    QFETCH(bool, few_samples);
    std::vector<std::pair<Mesh, int>> parts = {
        {{2, 2, 1}, 3},       {{3, 1, 1}, 2},       {{1, 4, 1}, 2},
        {{3, 1, 2, true}, 3}, {{1, 2, 2}, 2},       {{4, 1, 2}, 2},
        {{1, 1, 1}, 2},       {{2, 2, 1, true}, 2}, {{5, 1, 1, false, 2}, 2}};
    if (!m_all) {
      parts = {{{2, 2, 1}, 2}, {{3, 1, 2, true}, 2}, {{1, 4, 1}, 1}, {{5, 1, 1, false, 2}, 1}};
    }
    engine::JobSettings settings = m_settings;
    if (dropout) settings.dropout = 0.1;
    // A data set of 7 samples: every batch of 16 spans two or three passes.
    if (few_samples) settings.data = {textFile("few", 7 * m_settings.model.sequence + 1)};
    WholeState whole = Gather(InitialStates(settings, {}));
    Results results;
    for (const auto& [mesh, steps] : parts) {
      const States states = StatesFor(settings, mesh);
      Scatter(whole, states);
      for (const StepResult& result : Train(settings, mesh, steps, states)) {
        results.push_back(result);
      }
      whole = Gather(states);
      QVERIFY(whole.damaged.empty());
    }
    const int steps = stepsOf(20, 6);
    QCOMPARE(std::ssize(results), steps);
    Compare(results, reference(settings, steps));
    const std::int64_t samples = agents::OpenJobData(settings)->num_samples();
    QVERIFY(!few_samples || samples == 7);
    const std::int64_t read = steps * settings.global_batch;
    const std::int64_t cursor[] = {settings.seed, read / samples, read % samples};
    QCOMPARE(std::memcmp(whole.tensors.at("job.cursor").data(), cursor, sizeof cursor), 0);
  }

  void gradientThatIsNotFiniteSkipsTheUpdate() {
    Trainer trainer(m_settings, *agents::OpenJobData(m_settings));
    const States states = InitialStates(m_settings, {});
    QVERIFY(trainer.Bind(states[0]->pieces(), SelfGroups(), 0).has_value());
    const tessera_piece& piece = states[0]->pieces()[0];
    QCOMPARE(std::string(piece.role), std::string("param"));
    const float before = *static_cast<float*>(piece.data);
    *static_cast<float*>(piece.data) = std::numeric_limits<float>::infinity();
    const auto record = trainer.ComputeGradients();
    QVERIFY(record.has_value());
    QCOMPARE(record->found_inf, 1);
    *static_cast<float*>(piece.data) = before;
    QVERIFY(trainer.PrepareUpdate(1, true).has_value());
    trainer.CommitUpdate();
    QCOMPARE(trainer.step(), 1);  // the step counts, and its data are consumed
    const WholeState after = Gather(states), initial = Gather(InitialStates(m_settings, {}));
    for (const auto& [name, bytes] : after.tensors) {
      QCOMPARE(bytes == initial.tensors.at(name), !name.starts_with("job."));
    }
  }

  void stateThatDoesNotFitIsRefused() {
    const auto refusal = [&](const engine::JobSettings& settings, const States& states,
                             std::int64_t micro_batch) {
      Trainer trainer(settings, *agents::OpenJobData(settings));
      const auto pieces = states.empty() ? std::span<const tessera_piece>() : states[0]->pieces();
      const auto bound = trainer.Bind(pieces, SelfGroups(), micro_batch);
      return bound ? std::string() : bound.error().message;
    };
    engine::JobSettings nano = m_settings;
    nano.model = *engine::FindModel("gpt-nano");
    engine::JobSettings other = nano;
    other.model.ffn = 128;
    QCOMPARE(refusal(other, StatesFor(nano, {}), 0),
             std::string("tensor 'h.0.mlp.fc1.weight' has 1 pieces of [256,64], the model needs 1 "
                         "of [128,64]"));
    QCOMPARE(refusal(nano, {}, 0), std::string("this rank has no 'job.step'"));
    QCOMPARE(refusal(nano, StatesFor(nano, {2, 1, 1, true}), 0),
             std::string("optimizer state of 'h.0.attn.proj.bias' has 32 elements, the share of "
                         "rank 0 of 1 has 64"));
    QCOMPARE(refusal(nano, StatesFor(nano, {}), 17),
             std::string("micro-batch 17 is larger than a rank's share of 16 samples"));
  }
};
TESSERA_TEST(TrainAgreementTest)
#include "train_agreement_test.moc"
