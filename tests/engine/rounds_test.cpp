// SPDX-License-Identifier: Apache-2.0
// Moves in rounds on arenas that have no room for old and new state side by side.
#include "engine/search/rounds.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/store/memory_needs.h"
#include "ptc/plan/mixed_plan.h"
#include "ptc/plan/plan.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;
using ptc::Axis;
using ptc::DeviceId;

namespace {

ptc::Layout LayoutOn(std::int64_t dp, std::int64_t tp, std::int64_t pp) {
  ptc::MeshShape shape;
  shape[Axis::kDp] = dp;
  shape[Axis::kTp] = tp;
  shape[Axis::kPp] = pp;
  std::vector<DeviceId> devices;
  for (int i = 0; i < shape.num_ranks(); ++i) devices.push_back({i / 4, i % 4});
  JobSettings settings;
  settings.model = *FindModel("gpt-mini");
  return *MakeLayout(*TensorsOf(settings, false), *ptc::DeviceMesh::Make(shape, devices));
}

std::vector<DeviceId> DevicesOfBoth(const ptc::Layout& from, const ptc::Layout& to) {
  std::vector<DeviceId> devices = from.mesh().devices();
  for (const DeviceId device : to.mesh().devices()) {
    if (!from.mesh().RankOf(device)) devices.push_back(device);
  }
  return devices;
}

/// Equal arenas, of which the layout that needs more fills 95 %.
std::map<DeviceId, std::int64_t> FullArenas(const ptc::Layout& from, const ptc::Layout& to) {
  std::int64_t needed = 0;
  for (const ptc::Layout& layout : {from, to}) {
    for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
      needed = std::max(needed, BytesNeeded(layout, rank));
    }
  }
  std::map<DeviceId, std::int64_t> capacities;
  for (const DeviceId device : DevicesOfBoth(from, to)) {
    capacities[device] = (needed * 100 / 95 + 4095) / 4096 * 4096;
  }
  return capacities;
}

PieceTable Begin(const ptc::Layout& from, DeviceId device, std::int64_t capacity) {
  const auto rank = from.mesh().RankOf(device);
  return rank ? *AllocateInitial("j", 3, from, *rank, capacity)
              : *PieceTable::Make(3, from.hash(), "j", {}, capacity);
}

bool AreDisjoint(const PieceEntry& a, const PieceEntry& b) {
  return a.offset_bytes + a.size_bytes <= b.offset_bytes ||
         b.offset_bytes + b.size_bytes <= a.offset_bytes;
}

bool Moves(const Round& round, int tensor) {
  return std::binary_search(round.tensors.begin(), round.tensors.end(), tensor);
}

struct InRounds {
  const ptc::Layout* to;
  const std::vector<ptc::Move>* moves;
  const RoundPlan* plan;
};

/// Takes `table` through the rounds. In each of them nothing is overwritten that is still read, and
/// as much memory is needed as planned.
void MoveInRounds(const InRounds& move, DeviceId device, std::int64_t capacity, PieceTable& table,
                  int& made_room) {
  const std::int64_t planned = move.plan->extra.at(device);
  std::int64_t extra = 0;
  for (const Round& round : move.plan->rounds) {
    const auto allocate = [&] {
      return AllocateRound(table, *move.to, device, *move.moves, capacity, round, planned);
    };
    const auto made = allocate();
    VERIFY_OK(made);
    QCOMPARE(made->epoch(), table.epoch() + 1);
    QVERIFY(*allocate() == *made);
    extra = std::max(extra, BytesBeside(table, *made));
    for (const PieceEntry& entry : made->entries()) {
      if (entry.kind != PieceEntry::kState) continue;
      if (!Moves(round, entry.tensor)) {  // it stays where it is, or makes room
        const PieceEntry* same = table.Find(entry.kind, entry.tensor, entry.box);
        QVERIFY(same);
        if (*same == entry) continue;
        ++made_room;
        const auto& coming = round.next_tensors;  // of which other devices may be reading
        QVERIFY(std::find(coming.begin(), coming.end(), entry.tensor) == coming.end());
      }
      for (const PieceEntry& before : table.entries()) {
        if (before.kind != PieceEntry::kState || AreDisjoint(before, entry)) continue;
        // It was kept, inside the old piece of the same tensor.
        QVERIFY(Moves(round, entry.tensor));
        QVERIFY(before.tensor == entry.tensor && Contains(before.box, entry.box));
      }
    }
    table = *made;
  }
  QVERIFY2(std::abs(extra - planned) * 50 <= planned,
           qPrintable(QString("%1 planned, %2 needed").arg(planned).arg(extra)));
  QCOMPARE(table.layout_hash(), move.to->hash());
  const auto rank = move.to->mesh().RankOf(device);
  if (!rank) {
    QVERIFY(table.entries().empty());
    return;
  }
  const auto fresh = AllocateInitial("j", 0, *move.to, *rank, BytesNeeded(*move.to, *rank));
  QCOMPARE(table.entries().size(), fresh->entries().size());
  for (const PieceEntry& entry : fresh->entries()) {
    const PieceEntry* held = table.Find(entry.kind, entry.tensor, entry.box);
    QVERIFY(held && held->size_bytes == entry.size_bytes);
  }
}

}  // namespace

class RoundsTest : public QObject {
  Q_OBJECT
 private slots:
  void fullArenasMoveInRounds_data() {
    QTest::addColumn<QList<int>>("from");
    QTest::addColumn<QList<int>>("to");
    QTest::newRow("shrink tp") << QList<int>{1, 4, 1} << QList<int>{2, 2, 1};
    QTest::newRow("grow tp") << QList<int>{2, 2, 1} << QList<int>{1, 4, 1};
    QTest::newRow("stages") << QList<int>{1, 4, 1} << QList<int>{1, 1, 4};
    QTest::newRow("tp to stages") << QList<int>{1, 4, 1} << QList<int>{1, 2, 2};
    QTest::newRow("stages to tp") << QList<int>{1, 2, 2} << QList<int>{1, 4, 1};
    QTest::newRow("more devices") << QList<int>{1, 2, 2} << QList<int>{2, 2, 2};
    QTest::newRow("fewer devices") << QList<int>{2, 2, 2} << QList<int>{1, 2, 2};
  }
  void fullArenasMoveInRounds() {
    QFETCH(QList<int>, from);
    QFETCH(QList<int>, to);
    const ptc::Layout old = LayoutOn(from[0], from[1], from[2]);
    const ptc::Layout next = LayoutOn(to[0], to[1], to[2]);
    const auto capacities = FullArenas(old, next);
    const auto plan = ptc::MakePlan(old, next, {});
    VERIFY_OK(plan);
    const ptc::Kinds kinds = ptc::MakeKinds(old, next);
    const std::int64_t limit = FindMoveMemory(RoundBasis::Of(old, next, kinds, capacities));
    QVERIFY(limit > 0);
    const auto rounds = PlanRounds(RoundBasis::Of(old, next, kinds, capacities), limit);
    VERIFY_OK(rounds);

    int made_room = 0;
    for (const auto& [device, capacity] : capacities) {
      PieceTable table = Begin(old, device, capacity);
      MoveInRounds({&next, &plan->moves, &*rounds}, device, capacity, table, made_room);
      if (QTest::currentTestFailed()) return;
      QCOMPARE(table.epoch(), 3 + std::ssize(rounds->rounds));
      QVERIFY(rounds->extra.at(device) <= limit);
      QVERIFY(rounds->peak.at(device) <= capacity);
    }
    qInfo("%zu rounds of %lld KiB, %d pieces made room", rounds->rounds.size(),
          static_cast<long long>(limit >> 10), made_room);
  }

  // A node is lost after some of the rounds. What the others hold, some tensors as in the new
  // layout and some as in the old one, moves to a layout on them, in rounds too.
  void whatIsLeftOfRoundsMovesOn_data() {
    QTest::addColumn<int>("percent");
    for (const int percent : {0, 20, 50, 80, 100}) {
      QTest::addRow("%d %% of the rounds", percent) << percent;
    }
  }
  void whatIsLeftOfRoundsMovesOn() {
    QFETCH(int, percent);
    const ptc::Layout old = LayoutOn(2, 4, 1), next = LayoutOn(4, 2, 1), left = LayoutOn(2, 2, 1);
    const auto capacities = FullArenas(old, next);
    const auto plan = ptc::MakePlan(old, next, {});
    const ptc::Kinds kinds = ptc::MakeKinds(old, next);
    const auto whole = RoundBasis::Of(old, next, kinds, capacities);
    const auto rounds = PlanRounds(whole, std::int64_t{4} << 20);
    VERIFY_OK(rounds);
    const std::size_t done = (rounds->rounds.size() - 1) * static_cast<std::size_t>(percent) / 100;
    ptc::MixedLayout mixed(old);
    for (std::size_t r = 0; r < done; ++r) mixed = mixed.After(next, rounds->rounds[r].tensors);

    std::vector<DeviceId> lost;
    for (const DeviceId device : mixed.devices()) {
      if (device.node == 1) lost.push_back(device);
    }
    const auto way_on = ptc::MakeMixedPlan(mixed, left, {}, {.lost = lost});
    VERIFY_OK(way_on);
    QCOMPARE(FiguresOf(*way_on).lost_bytes, 0);
    RoundBasis basis{{},   &left,    &capacities, MixedHash(old.hash(), next.hash(), 1),
                     lost, done == 0};
    for (std::size_t p = 0; p < mixed.parts().size(); ++p) {
      basis.parts.push_back({&mixed.parts()[p].layout, way_on->outlines[p].kinds.get(), nullptr});
    }
    const std::int64_t limit = FindMoveMemory(basis);
    QVERIFY(limit > 0);
    const auto more = PlanRounds(basis, limit);
    VERIFY_OK(more);
    const std::vector<DeviceId>& devices = left.mesh().devices();
    const ptc::DeviceMoves moves = ptc::MovesOf(*way_on, mixed, left, devices);
    QVERIFY(moves.reads.empty());
    int made_room = 0;
    for (const DeviceId device : devices) {
      const std::int64_t capacity = capacities.at(device);
      PieceTable table = Begin(old, device, capacity);
      for (std::size_t r = 0; r < done; ++r) {
        const auto made = AllocateRound(table, next, device, plan->moves, capacity,
                                        rounds->rounds[r], rounds->extra.at(device));
        VERIFY_OK(made);
        table = *made;
      }
      MoveInRounds({&left, &moves.moves, &*more}, device, capacity, table, made_room);
      if (QTest::currentTestFailed()) return;
    }
  }

  // What earlier moves have left scattered does not keep later ones from finding room.
  void movesFollowEachOther() {
    const std::vector<ptc::Layout> layouts{LayoutOn(1, 4, 1), LayoutOn(1, 2, 2), LayoutOn(1, 1, 4)};
    std::int64_t capacity = 0;
    for (const ptc::Layout& layout : layouts) {
      capacity = std::max(capacity, FullArenas(layout, layout).begin()->second);
    }
    std::map<DeviceId, std::int64_t> capacities;
    for (const DeviceId device : layouts[0].mesh().devices()) capacities[device] = capacity;
    std::mt19937_64 rng(test::Seed());
    std::size_t now = 0;
    int done = 0;
    std::map<DeviceId, PieceTable> tables;
    for (const DeviceId device : layouts[0].mesh().devices()) {
      tables.emplace(device, Begin(layouts[now], device, capacity));
    }
    for (int hop = 0; hop < 40; ++hop) {
      const std::size_t next = (now + 1 + rng() % 2) % 3;
      const ptc::Layout& from = layouts[now];
      const ptc::Layout& to = layouts[next];
      const auto plan = ptc::MakePlan(from, to, {});
      VERIFY_OK(plan);
      const ptc::Kinds kinds = ptc::MakeKinds(from, to);
      const std::int64_t limit = FindMoveMemory(RoundBasis::Of(from, to, kinds, capacities));
      const auto rounds = PlanRounds(RoundBasis::Of(from, to, kinds, capacities), limit);
      VERIFY_OK(rounds);
      std::map<DeviceId, PieceTable> moved = tables;
      bool fits = true;
      for (auto& [device, table] : moved) {
        for (const Round& round : rounds->rounds) {
          auto made = AllocateRound(table, to, device, plan->moves, capacity, round,
                                    rounds->extra.at(device));
          if (!made) {
            // The largest pieces of one stage are larger than what is left of the arena.
            QVERIFY2(next == 2, made.error().message.c_str());
            fits = false;
            break;
          }
          table = *made;
        }
        if (!fits) break;
        QCOMPARE(table.layout_hash(), to.hash());
      }
      if (!fits) continue;  // it is refused before anything moves
      ++done;
      tables = std::move(moved);
      now = next;
    }
    qInfo("%d of 40 moves fit", done);
    QVERIFY(done >= 5);  // about 24
  }

  // The same where the bound is small.
  void smallRoundsFollowEachOther() {
    const std::vector<ptc::Layout> layouts{LayoutOn(1, 4, 1), LayoutOn(1, 2, 2)};
    const auto capacities = FullArenas(layouts[0], layouts[1]);
    const std::int64_t capacity = capacities.begin()->second;
    std::map<DeviceId, PieceTable> tables;
    for (const DeviceId device : layouts[0].mesh().devices()) {
      tables.emplace(device, Begin(layouts[0], device, capacity));
    }
    for (std::size_t hop = 0; hop < 30; ++hop) {
      const ptc::Layout& from = layouts[hop % 2];
      const ptc::Layout& to = layouts[(hop + 1) % 2];
      const auto plan = ptc::MakePlan(from, to, {});
      VERIFY_OK(plan);
      const ptc::Kinds kinds = ptc::MakeKinds(from, to);
      const auto rounds =
          PlanRounds(RoundBasis::Of(from, to, kinds, capacities), std::int64_t{1} << 20);
      VERIFY_OK(rounds);
      for (auto& [device, table] : tables) {
        for (const Round& round : rounds->rounds) {
          auto made = AllocateRound(table, to, device, plan->moves, capacity, round,
                                    rounds->extra.at(device));
          QVERIFY2(made, made ? "" : (std::to_string(hop) + ": " + made.error().message).c_str());
          table = *made;
        }
      }
    }
  }

  // What does not fit side by side is the reason for rounds.
  void aFullArenaHasNoRoomForBothSides() {
    const ptc::Layout from = LayoutOn(1, 4, 1), to = LayoutOn(1, 1, 4);
    const auto capacities = FullArenas(from, to);
    MemoryNeeds needs(from, to);
    int full = 0;
    for (int rank = 0; rank < 4; ++rank) {
      full += needs.DuringMove(rank, rank) > capacities.at(from.mesh().devices()[0]) ? 1 : 0;
    }
    QVERIFY(full > 0);
  }

  void aSmallerLimitMakesMoreRounds() {
    const ptc::Layout from = LayoutOn(1, 4, 1), to = LayoutOn(2, 2, 1);
    const ptc::Kinds kinds = ptc::MakeKinds(from, to);
    std::map<DeviceId, std::int64_t> capacities;
    for (const DeviceId device : DevicesOfBoth(from, to))
      capacities[device] = std::int64_t{1} << 30;
    std::size_t before = 0;
    for (const std::int64_t limit : {64 << 20, 8 << 20, 4 << 20}) {
      const auto plan = PlanRounds(RoundBasis::Of(from, to, kinds, capacities), limit);
      VERIFY_OK(plan);
      QVERIFY(plan->rounds.size() > before);
      before = plan->rounds.size();
      std::vector<int> moved;
      for (const Round& round : plan->rounds) {
        moved.insert(moved.end(), round.tensors.begin(), round.tensors.end());
        QCOMPARE(round.is_last, &round == &plan->rounds.back());
      }
      QCOMPARE(moved.size(), from.collection().tensors().size());
      std::sort(moved.begin(), moved.end());
      QVERIFY(std::adjacent_find(moved.begin(), moved.end()) == moved.end());
    }
  }

  void aTensorThatDoesNotFitIsNamed() {
    const ptc::Layout from = LayoutOn(1, 4, 1), to = LayoutOn(2, 2, 1);
    const ptc::Kinds kinds = ptc::MakeKinds(from, to);
    std::map<DeviceId, std::int64_t> capacities;
    for (const DeviceId device : DevicesOfBoth(from, to))
      capacities[device] = std::int64_t{1} << 30;
    VERIFY_ERROR(PlanRounds(RoundBasis::Of(from, to, kinds, capacities), 100 << 10),
                 ErrorCode::kResourceExhausted, "--move-memory allows 0.1 MiB");
    const auto full = FullArenas(from, to);
    std::map<DeviceId, std::int64_t> small;
    for (const auto& [device, capacity] : full) small[device] = capacity / 2;
    VERIFY_ERROR(PlanRounds(RoundBasis::Of(from, to, kinds, small), 64 << 20),
                 ErrorCode::kResourceExhausted, "it has");
    QCOMPARE(FindMoveMemory(RoundBasis::Of(from, to, kinds, small)), 0);
  }

  void noLayoutHasTheHashOfAMixedTable() {
    QVERIFY(MixedHash(1, 2, 1) != MixedHash(1, 2, 2));
    QVERIFY(MixedHash(1, 2, 1) != MixedHash(2, 1, 1));
  }
};

TESSERA_TEST_APPLESS(RoundsTest)
#include "rounds_test.moc"
