// SPDX-License-Identifier: Apache-2.0
// Plans from state that lies as in several layouts, compared with ownership element by element.
#include "ptc/plan/mixed_plan.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <variant>
#include <vector>

#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera::ptc;
using tessera::test::AnyHistory;
using tessera::test::ElementsOf;
using tessera::test::HeldElements;

namespace {

/// A state that several rounds of moves have left, and the layout that it is to get.
struct Case {
  MixedLayout from;
  Layout to;
  std::vector<DeviceId> lost;
};

std::vector<int> SomeTensors(std::mt19937_64& rng, std::size_t count) {
  std::vector<int> out;
  for (std::size_t t = 0; t < count; ++t) {
    if (rng() % 2 == 0) out.push_back(static_cast<int>(t));
  }
  return out;
}

Case AnyCase(std::mt19937_64& rng) {
  const std::vector<Layout> layouts = AnyHistory(rng, 4);
  MixedLayout from(layouts[0]);
  const std::size_t count = layouts[0].collection().tensors().size();
  for (std::size_t change = 1; change <= 1 + rng() % 2; ++change) {
    std::vector<DeviceId> lost;
    for (const DeviceId device : from.devices()) {
      if (rng() % 6 == 0) lost.push_back(device);
    }
    from = from.After(layouts[change], SomeTensors(rng, count), lost);
  }
  Case out{from, layouts[3], {}};
  for (const DeviceId device : from.devices()) {
    if (rng() % 4 == 0) out.lost.push_back(device);
  }
  return out;
}

bool IsLost(const Case& c, DeviceId device) {
  return std::find(c.lost.begin(), c.lost.end(), device) != c.lost.end();
}

/// The elements of a tensor that a device holds as in `layout`; none if it is in no mesh of it.
std::vector<bool> HeldBy(const Layout& layout, DeviceId device, int tensor) {
  const auto rank = layout.mesh().RankOf(device);
  return rank ? HeldElements(layout, *rank, tensor) : std::vector<bool>();
}

/// The same of the old state. A device that was lost before the tensor moved holds nothing of it.
std::vector<bool> HeldBefore(const MixedLayout& from, DeviceId device, int tensor) {
  const LayoutPart& part = from.PartWith(tensor);
  const bool is_lost = std::count(part.lost.begin(), part.lost.end(), device) > 0;
  return is_lost ? std::vector<bool>() : HeldBy(part.layout, device, tensor);
}

}  // namespace

class MixedPlanTest : public QObject {
  Q_OBJECT
 private slots:
  // Each element that a device needs is written once, from a live device that holds its tensor as
  // the part of that tensor says, or from storage if there is none.
  void everyElementComesFromWhereItLies() {
    std::mt19937_64 rng(tessera::test::Seed());
    int parts = 0, lost = 0;
    for (int i = 0; i < 1000; ++i) {
      const Case c = AnyCase(rng);
      parts += static_cast<int>(c.from.parts().size());
      const auto plan = MakeMixedPlan(c.from, c.to, {}, {.lost = c.lost});
      VERIFY_OK(plan);
      std::vector<DeviceId> devices = c.to.mesh().devices();
      std::sort(devices.begin(), devices.end());
      const DeviceMoves moves = MovesOf(*plan, c.from, c.to, devices);
      // By device and tensor: how often each element is written.
      std::map<std::pair<DeviceId, int>, std::map<std::size_t, int>> written;
      const auto write = [&](DeviceId device, int tensor, const Box& box) {
        const Shape& shape = c.to.collection().tensors()[static_cast<std::size_t>(tensor)].shape;
        for (const std::size_t element : ElementsOf(shape, box)) {
          ++written[{device, tensor}][element];
        }
      };
      const auto read = [&](DeviceId source, int tensor, const Box& box) {
        QVERIFY(!IsLost(c, source));
        const std::vector<bool> held = HeldBefore(c.from, source, tensor);
        QVERIFY(!held.empty());
        const Shape& shape = c.to.collection().tensors()[static_cast<std::size_t>(tensor)].shape;
        for (const std::size_t element : ElementsOf(shape, box)) QVERIFY(held.at(element));
      };
      int last = 0;
      for (const Move& move : moves.moves) {
        const int tensor = std::visit([](const auto& m) { return m.tensor; }, move);
        QVERIFY(last <= tensor);
        last = tensor;
        if (const auto* keep = std::get_if<Keep>(&move)) {
          read(keep->device, tensor, keep->piece);
          write(keep->device, tensor, keep->piece);
        } else if (const auto* copy = std::get_if<LocalCopy>(&move)) {
          read(copy->device, tensor, copy->cell);
          write(copy->device, tensor, copy->cell);
        } else if (const auto* fetch = std::get_if<RemoteCopy>(&move)) {
          read(fetch->source, tensor, fetch->cell);
          write(fetch->device, tensor, fetch->cell);
        }
      }
      for (const StorageRead& storage : moves.reads) {
        ++lost;
        write(storage.device, storage.tensor, storage.cell);
        for (const DeviceId device : c.from.devices()) {
          const std::vector<bool> held = HeldBefore(c.from, device, storage.tensor);
          if (IsLost(c, device) || held.empty()) continue;
          const auto& specs = c.to.collection().tensors();
          const Shape& shape = specs[static_cast<std::size_t>(storage.tensor)].shape;
          for (const std::size_t element : ElementsOf(shape, storage.cell)) {
            QVERIFY(!held[element]);
          }
        }
      }
      for (int t = 0; t < std::ssize(c.to.collection().tensors()); ++t) {
        for (const DeviceId device : devices) {
          const std::vector<bool> needed = HeldBy(c.to, device, t);
          const auto& counts = written[{device, t}];
          for (std::size_t e = 0; e < needed.size(); ++e) {
            const auto found = counts.find(e);
            QCOMPARE(found == counts.end() ? 0 : found->second, needed[e] ? 1 : 0);
          }
        }
      }
      std::int64_t moved = 0;
      for (const DeviceFlow& flow : DeviceFlows(*plan)) moved += flow.bytes;
      const PlanFigures figures = FiguresOf(*plan);
      QCOMPARE(figures.bytes.host + figures.bytes.network, moved);
      QCOMPARE(figures.lost_bytes > 0, !moves.reads.empty() && figures.bytes.storage > 0);
    }
    QVERIFY(parts > 1500);
    QVERIFY(lost > 100);
  }

  void aWholeLayoutIsPlannedAsAlways() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 200; ++i) {
      const auto job = tessera::test::AnyJob(rng);
      const MixedLayout whole(job.from);
      const auto mixed = MakeMixedPlan(whole, job.to, {}, {});
      const auto outline = MakeOutline(job.from, job.to, {}, {});
      VERIFY_OK(mixed);
      QCOMPARE(mixed->outlines.size(), std::size_t{1});
      QCOMPARE(mixed->outlines.front().hash, outline->hash);
      QVERIFY(FiguresOf(*mixed).bytes == outline->bytes);
      QVERIFY(FiguresOf(*mixed).busiest_port == FiguresOf(*outline).busiest_port);
    }
  }

  void tensorsThatMoveChangeTheirPart() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 200; ++i) {
      const std::vector<Layout> layouts = AnyHistory(rng, 3);
      const std::size_t count = layouts[0].collection().tensors().size();
      std::vector<const Layout*> expected(count, &layouts[0]);
      MixedLayout mixed(layouts[0]);
      for (int round = 0; round < 4; ++round) {
        const Layout& to = layouts[1 + rng() % 2];
        const std::vector<int> tensors = SomeTensors(rng, count);
        mixed = mixed.After(to, tensors);
        for (const int tensor : tensors) expected[static_cast<std::size_t>(tensor)] = &to;
      }
      for (std::size_t t = 0; t < count; ++t) {
        QVERIFY(mixed.PartWith(static_cast<int>(t)).layout == *expected[t]);
      }
      const auto again = MixedLayout::Make(mixed.parts());
      VERIFY_OK(again);
      QVERIFY(*again == mixed);
    }
  }

  void partsHaveEachTensorOnce() {
    std::mt19937_64 rng(tessera::test::Seed());
    const Layout layout = tessera::test::AnyLayout(rng);
    const auto count = static_cast<int>(layout.collection().tensors().size());
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int> first{0}, rest(all.begin() + 1, all.end());
    const auto error = [&](std::vector<LayoutPart> parts) {
      const auto made = MixedLayout::Make(std::move(parts));
      return made ? QString() : QString::fromStdString(made.error().message);
    };
    QCOMPARE(error({}), QString("a mixed layout has no part"));
    QVERIFY(error({{layout, rest}}).contains("is in no part of a mixed layout"));
    QVERIFY(error({{layout, all}, {layout, first}}).contains("is twice in a mixed layout"));
    QVERIFY(error({{layout, {count}}}).contains("is not in 0.."));
    QVERIFY(error({{layout, {-1}}}).contains("tensor -1"));
  }
};

TESSERA_TEST_APPLESS(MixedPlanTest)
#include "mixed_plan_test.moc"
