// SPDX-License-Identifier: Apache-2.0

/// \file
/// A job computes the same under every mesh: losses, gradient norms, replicas.

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "agents/job/decision.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"
#include "tests/agents/local_rendezvous.h"

using namespace tessera;
using namespace tessera::agents::train;

namespace {

struct StepResult {
  double loss = 0, norm = 0;
};
using States = std::vector<std::unique_ptr<PrivateState>>;

bool IsReplicated(const tessera_piece& piece) {
  for (int d = 0; d < piece.rank; ++d) {
    if (piece.end[d] - piece.begin[d] != piece.shape[d]) return false;
  }
  return true;
}

std::size_t BytesOf(const tessera_piece& piece) {
  return static_cast<std::size_t>(piece.num_elements) * (std::string(piece.dtype) == "i64" ? 8 : 4);
}

/// Visits the elements of a piece as (index in the uncut tensor, address).
void ForEachElement(const tessera_piece& piece,
                    const std::function<void(std::int64_t, std::byte*)>& visit) {
  const std::int64_t bytes = static_cast<std::int64_t>(BytesOf(piece)) / piece.num_elements;
  for (std::int64_t i = 0; i < piece.num_elements; ++i) {
    std::int64_t rest = i, index = 0, stride = 1;
    for (int d = piece.rank - 1; d >= 0; --d) {
      const std::int64_t size = piece.end[d] - piece.begin[d];
      index += (piece.begin[d] + rest % size) * stride;
      rest /= size;
      stride *= piece.shape[d];
    }
    visit(index, static_cast<std::byte*>(piece.data) + i * bytes);
  }
}

/// Copies the whole state into pieces of another layout, element by element.
void MoveState(const States& from, const States& to) {
  std::map<std::string, std::map<std::int64_t, const std::byte*>> elements;
  for (const auto& state : from) {
    for (const tessera_piece& piece : state->pieces()) {
      auto& of_tensor = elements[piece.name];
      ForEachElement(piece, [&](std::int64_t index, std::byte* at) { of_tensor[index] = at; });
    }
  }
  for (const auto& state : to) {
    for (const tessera_piece& piece : state->pieces()) {
      const auto& of_tensor = elements.at(piece.name);
      const std::size_t bytes = BytesOf(piece) / static_cast<std::size_t>(piece.num_elements);
      ForEachElement(piece, [&](std::int64_t index, std::byte* at) {
        std::memcpy(at, of_tensor.at(index), bytes);
      });
    }
  }
}

}  // namespace

class TrainAgreementTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  engine::JobSettings m_settings;
  std::vector<StepResult> m_reference;

  States statesFor(int dp, int tp) const {
    const auto mesh =
        ptc::ParseDeviceMesh("dp=" + std::to_string(dp) + ",tp=" + std::to_string(tp) + " on 1x" +
                             std::to_string(dp * tp));
    const auto layout = ptc::Layout::Make(*mesh, *engine::MakeCollection(m_settings.model));
    States states;
    for (int rank = 0; rank < dp * tp; ++rank) {
      states.push_back(std::make_unique<PrivateState>(*layout, rank));
    }
    return states;
  }

  void initialise(const States& states) const {
    for (const auto& state : states) Initialise(m_settings, *BindState(state->pieces()));
  }

  /// Makes `steps` steps of a job of dp x tp ranks, a thread each, on `states`.
  std::vector<StepResult> train(int dp, int tp, int hosts, int steps, const States& states) {
    const test::LocalMesh mesh(dp, tp, hosts);
    const auto rendezvous = std::make_shared<test::LocalRendezvous>();
    std::vector<StepResult> results;
    std::vector<std::string> errors(states.size());
    {
      std::vector<std::jthread> ranks;
      for (int rank = 0; rank < mesh.world(); ++rank) {
        ranks.emplace_back([&, rank] {
          const auto index = static_cast<std::size_t>(rank);
          const auto run = [&]() -> Status {
            TESSERA_TRY(auto dataset,
                        engine::TextDataset::Open(m_settings.data, m_settings.model.sequence));
            TESSERA_TRY(Groups groups,
                        ConnectGroups(mesh.View(rank), rendezvous, dataset.fingerprint(),
                                      std::chrono::seconds(30)));
            const CollectivePtr world = groups.world;
            Trainer trainer(m_settings, std::move(dataset));
            TESSERA_TRY(Groups none, trainer.Bind(states[index]->pieces(), std::move(groups)));
            if (none.world) return Internal("a fresh trainer had groups");
            for (int i = 0; i < steps; ++i) {
              TESSERA_TRY(const tessera_record mine, trainer.ComputeGradients());
              std::vector<tessera_record> all(states.size());
              TESSERA_RETURN_IF_ERROR(world->AllGather(std::as_bytes(std::span(&mine, 1)),
                                                       std::as_writable_bytes(std::span(all))));
              const auto decision = agents::Decide(trainer.step() + 1, all, m_settings.max_norm);
              if (decision.tokens != m_settings.global_batch * m_settings.model.sequence) {
                return Internal("tokens were counted twice or not at all");
              }
              trainer.Update(decision.clip, decision.skip != 0);
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

  static void compare(const std::vector<StepResult>& results,
                      const std::vector<StepResult>& reference) {
    QCOMPARE(results.size(), reference.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto message = [&](const char* what, double a, double b) {
        return QString("%1 of step %2: %3, %4")
            .arg(what)
            .arg(i)
            .arg(a, 0, 'g', 9)
            .arg(b, 0, 'g', 9);
      };
      const StepResult &a = results[i], &b = reference[i];
      QVERIFY2(std::abs(a.loss - b.loss) <= 1e-5 * b.loss,
               qPrintable(message("loss", a.loss, b.loss)));
      QVERIFY2(std::abs(a.norm - b.norm) <= (i == 0 ? 1e-4 : 1e-3) * b.norm,
               qPrintable(message("norm", a.norm, b.norm)));
    }
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_folder.isValid());
    QFile file(m_folder.filePath("text"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    std::mt19937 rng(7);
    for (int word = 0; word < 12000; ++word) {
      const QByteArray words[] = {"the ", "of ", "mesh ", "device ", "layout\n", "moves ", "to "};
      file.write(words[rng() % 7]);
    }
    file.close();
    m_settings.model = *engine::FindModel("gpt-nano");
    m_settings.global_batch = 16;  // two micro-batches on one rank
    m_settings.warmup_steps = 2;
    m_settings.data = {m_folder.filePath("text").toStdString()};

    const States states = statesFor(1, 1);
    initialise(states);
    m_reference = train(1, 1, 1, 10, states);
    QCOMPARE(m_reference.size(), std::size_t{10});
    // Near log(256) before the first step, and it learns.
    QVERIFY(m_reference.front().loss > 4.5 && m_reference.front().loss < 6.5);
    QVERIFY(m_reference.back().loss < 0.9 * m_reference.front().loss);
  }

  void initialStateIsTheSameBits() {
    const States one = statesFor(1, 1), moved = statesFor(2, 4), direct = statesFor(2, 4);
    initialise(one);
    initialise(direct);
    MoveState(one, moved);
    for (std::size_t rank = 0; rank < direct.size(); ++rank) {
      const auto a = direct[rank]->pieces(), b = moved[rank]->pieces();
      for (std::size_t i = 0; i < a.size(); ++i) {
        QVERIFY2(std::memcmp(a[i].data, b[i].data, BytesOf(a[i])) == 0, a[i].name);
      }
    }
  }

  void everyMeshComputesTheSame_data() {
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("hosts");
    QTest::newRow("dp=2") << 2 << 1 << 1;
    QTest::newRow("tp=2") << 1 << 2 << 1;
    QTest::newRow("dp=2,tp=2") << 2 << 2 << 1;
    QTest::newRow("dp=4") << 4 << 1 << 1;
    QTest::newRow("tp=4") << 1 << 4 << 1;
    QTest::newRow("dp=2,tp=4") << 2 << 4 << 1;
    QTest::newRow("dp=2,tp=2 on two hosts") << 2 << 2 << 2;
    QTest::newRow("tp=2 on two hosts") << 1 << 2 << 2;
  }
  void everyMeshComputesTheSame() {
    QFETCH(int, dp);
    QFETCH(int, tp);
    QFETCH(int, hosts);
    const States states = statesFor(dp, tp);
    initialise(states);
    compare(train(dp, tp, hosts, 10, states), m_reference);

    // Replicas are the same bits: across dp every piece, across tp those that are not cut.
    for (int rank = 0; rank < dp * tp; ++rank) {
      const auto mine = states[static_cast<std::size_t>(rank)]->pieces();
      const auto same_part = states[static_cast<std::size_t>(rank % tp)]->pieces();
      const auto first = states[0]->pieces();
      QCOMPARE(mine.size(), first.size());
      for (std::size_t i = 0; i < mine.size(); ++i) {
        QVERIFY2(std::memcmp(mine[i].data, same_part[i].data, BytesOf(mine[i])) == 0, mine[i].name);
        if (IsReplicated(mine[i])) {
          QVERIFY2(std::memcmp(mine[i].data, first[i].data, BytesOf(mine[i])) == 0, mine[i].name);
        }
      }
    }
  }

  void jobGoesOnUnderAnotherMesh() {
    const States first = statesFor(2, 2), second = statesFor(1, 4), third = statesFor(1, 1);
    initialise(first);
    std::vector<StepResult> results = train(2, 2, 1, 4, first);
    MoveState(first, second);
    for (const StepResult& result : train(1, 4, 1, 3, second)) results.push_back(result);
    MoveState(second, third);
    for (const StepResult& result : train(1, 1, 1, 3, third)) results.push_back(result);
    compare(results, m_reference);
  }

  void stateThatDoesNotFitIsRefused() {
    engine::JobSettings settings = m_settings;
    settings.model.ffn = 128;
    auto dataset = engine::TextDataset::Open(settings.data, settings.model.sequence);
    Trainer trainer(settings, std::move(*dataset));
    const States states = statesFor(1, 1);
    const auto refused = trainer.Bind(states[0]->pieces(), SelfGroups());
    QVERIFY(!refused);
    QCOMPARE(refused.error().message,
             std::string("tensor 'h.0.mlp.fc1.weight' has 1 pieces of [256,64], the model needs 1 "
                         "of [128,64]"));
    const auto empty = trainer.Bind({}, SelfGroups());
    QVERIFY(!empty);
    QCOMPARE(empty.error().message, std::string("this rank has no 'job.step'"));
  }
};
QTEST_GUILESS_MAIN(TrainAgreementTest)
#include "train_agreement_test.moc"
