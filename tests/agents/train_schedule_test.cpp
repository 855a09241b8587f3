// SPDX-License-Identifier: Apache-2.0

/// \file
/// The order of micro-batches in a pipeline.

#include <QTest>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "agents/train/comm/collective.h"
#include "engine/model/pass_order.h"
#include "tests/support/test_main.h"

using tessera::agents::train::Collective;
using tessera::engine::OneForwardOneBackward;
using tessera::engine::StageAction;

namespace {

/// "F0 F1 B0 …".
std::string TextOf(const std::vector<StageAction>& actions) {
  std::string text;
  for (const StageAction& action : actions) {
    if (!text.empty()) text += ' ';
    text += action.kind == StageAction::kForward ? 'F' : 'B';
    text += std::to_string(action.micro_batch);
  }
  return text;
}

/// Messages from a stage to a neighbour that are not yet received.
struct Channel {
  std::deque<std::int64_t> messages;
  bool has_room() const { return std::ssize(messages) < Collective::kMaxInFlight; }
  bool Offers(std::int64_t micro_batch) const {
    return !messages.empty() && messages.front() == micro_batch;
  }
};

}  // namespace

class TrainScheduleTest : public QObject {
  Q_OBJECT

 private slots:
  void stagesFollowTheFigure_data() {
    QTest::addColumn<int>("stage");
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("micro_batches");
    QTest::addColumn<std::string>("actions");
    QTest::newRow("no pipeline") << 0 << 1 << 3 << std::string("F0 B0 F1 B1 F2 B2");
    QTest::newRow("first of four") << 0 << 4 << 5 << std::string("F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
    QTest::newRow("third of four") << 2 << 4 << 5 << std::string("F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
    QTest::newRow("last of four") << 3 << 4 << 5 << std::string("F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
    QTest::newRow("fewer micro-batches than stages") << 0 << 4 << 2 << std::string("F0 F1 B0 B1");
  }
  void stagesFollowTheFigure() {
    QFETCH(int, stage);
    QFETCH(int, stages);
    QFETCH(int, micro_batches);
    QFETCH(std::string, actions);
    QCOMPARE(TextOf(OneForwardOneBackward(stage, stages, micro_batches)), actions);
  }

  /// Runs all stages together, each as far as possible. A stage waits for the message of its
  /// micro-batch and for room for its own.
  void noStageWaitsInACircle() {
    for (std::int64_t stages = 1; stages <= 9; ++stages) {
      for (std::int64_t micro_batches = 1; micro_batches <= 20; ++micro_batches) {
        const auto count = static_cast<std::size_t>(stages);
        std::vector<std::vector<StageAction>> actions;
        for (std::int64_t s = 0; s < stages; ++s) {
          actions.push_back(OneForwardOneBackward(s, stages, micro_batches));
          QCOMPARE(std::ssize(actions.back()), 2 * micro_batches);
        }
        std::vector<Channel> down(count + 1), up(count + 1);  // [s]: from stage s
        std::vector<std::size_t> next(count);
        std::vector<std::int64_t> in_flight(count);
        bool moves = true;
        while (moves) {
          moves = false;
          for (std::size_t s = 0; s < count; ++s) {
            if (next[s] == actions[s].size()) continue;
            const StageAction action = actions[s][next[s]];
            const bool is_forward = action.kind == StageAction::kForward;
            Channel* const from = is_forward ? (s > 0 ? &down[s - 1] : nullptr)
                                             : (s + 1 < count ? &up[s + 1] : nullptr);
            Channel* const to =
                is_forward ? (s + 1 < count ? &down[s] : nullptr) : (s > 0 ? &up[s] : nullptr);
            if (from != nullptr && !from->Offers(action.micro_batch)) continue;
            if (to != nullptr && !to->has_room()) continue;
            if (from != nullptr) from->messages.pop_front();
            if (to != nullptr) to->messages.push_back(action.micro_batch);
            in_flight[s] += is_forward ? 1 : -1;
            QVERIFY(0 <= in_flight[s] && in_flight[s] <= stages - static_cast<std::int64_t>(s));
            ++next[s];
            moves = true;
          }
        }
        for (std::size_t s = 0; s < count; ++s) {
          QCOMPARE(next[s], actions[s].size());
          QVERIFY(down[s].messages.empty() && up[s].messages.empty());
        }
      }
    }
  }
};
TESSERA_TEST_APPLESS(TrainScheduleTest)
#include "train_schedule_test.moc"
