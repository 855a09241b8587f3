// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/cell_view.h"

#include <QTest>
#include <algorithm>
#include <vector>

#include "tests/engine/cells.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::CellView;
using ptc::Box;
using ptc::Interval;
using Bytes = std::vector<std::byte>;
using Dims = std::vector<Interval>;
Q_DECLARE_METATYPE(Dims)

namespace {

constexpr std::int64_t kElementSizes[] = {1, 2, 4, 8};

/// The packed cell, element by element.
Bytes Gather(const Box& piece, const Box& cell, std::int64_t element, const Bytes& memory) {
  Bytes packed;
  test::ForEachElement(cell, [&](const std::vector<std::int64_t>& at) {
    const auto first = memory.begin() + test::IndexIn(piece, at) * element;
    packed.insert(packed.end(), first, first + element);
  });
  return packed;
}

}  // namespace

class CellViewTest : public QObject {
  Q_OBJECT
 private slots:
  void runsAreAsLongAsTheMemoryAllows_data() {
    QTest::addColumn<Dims>("piece");
    QTest::addColumn<Dims>("cell");
    QTest::addColumn<qint64>("run_bytes");
    QTest::addColumn<qint64>("num_runs");
    QTest::newRow("a scalar") << Dims{} << Dims{} << qint64{4} << qint64{1};
    QTest::newRow("the whole piece")
        << Dims{{0, 6}, {0, 5}} << Dims{{0, 6}, {0, 5}} << qint64{120} << qint64{1};
    QTest::newRow("some rows") << Dims{{0, 6}, {0, 5}} << Dims{{2, 4}, {0, 5}} << qint64{40}
                               << qint64{1};
    QTest::newRow("some columns") << Dims{{0, 6}, {0, 5}} << Dims{{0, 6}, {1, 3}} << qint64{8}
                                  << qint64{6};
    QTest::newRow("part of one row")
        << Dims{{0, 6}, {0, 5}} << Dims{{3, 4}, {1, 3}} << qint64{8} << qint64{1};
    QTest::newRow("one column") << Dims{{0, 6}, {0, 5}} << Dims{{0, 6}, {1, 2}} << qint64{4}
                                << qint64{6};
    QTest::newRow("a block between whole dims")
        << Dims{{0, 2}, {0, 6}, {0, 5}} << Dims{{0, 2}, {1, 3}, {0, 5}} << qint64{40} << qint64{2};
    QTest::newRow("a dim of one inside")
        << Dims{{0, 4}, {7, 8}, {0, 5}} << Dims{{1, 3}, {7, 8}, {0, 5}} << qint64{40} << qint64{1};
  }
  void runsAreAsLongAsTheMemoryAllows() {
    QFETCH(Dims, piece);
    QFETCH(Dims, cell);
    Bytes memory(static_cast<std::size_t>(Box::Make(piece)->num_elements() * 4));
    const CellView view(*Box::Make(piece), *Box::Make(cell), 4, memory.data());
    QTEST(static_cast<qint64>(view.run_bytes()), "run_bytes");
    QTEST(static_cast<qint64>(view.num_runs()), "num_runs");
    QCOMPARE(view.size_bytes(), view.run_bytes() * view.num_runs());
  }

  void readsWhatANaiveLoopReads() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 1000; ++i) {
      const Box piece = test::AnyBox(rng, static_cast<int>(rng() % 5), 7);
      const Box cell = test::AnyInside(rng, piece);
      const std::int64_t element = kElementSizes[rng() % 4];
      Bytes memory = test::AnyBytes(rng, piece.num_elements() * element);
      const Bytes expected = Gather(piece, cell, element, memory);
      const CellView view(piece, cell, element, memory.data());
      QCOMPARE(view.size_bytes(), std::ssize(expected));

      Bytes by_runs;
      for (std::int64_t run = 0; run < view.num_runs(); ++run) {
        by_runs.insert(by_runs.end(), view.Run(run), view.Run(run) + view.run_bytes());
      }
      QVERIFY(by_runs == expected);

      // Any range of bytes, which may begin or end inside an element.
      const auto begin = rng() % expected.size();
      Bytes part(1 + rng() % (expected.size() - begin));
      view.Read(static_cast<std::int64_t>(begin), part);
      QVERIFY(std::equal(part.begin(), part.end(),
                         expected.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }

  void writesInPartsTouchTheCellAndNothingElse() {
    std::mt19937_64 rng(test::Seed() + 1);
    for (int i = 0; i < 1000; ++i) {
      const Box piece = test::AnyBox(rng, static_cast<int>(rng() % 5), 7);
      const Box cell = test::AnyInside(rng, piece);
      const std::int64_t element = kElementSizes[rng() % 4];
      Bytes memory = test::AnyBytes(rng, piece.num_elements() * element);
      Bytes expected = memory;
      const Bytes packed = test::AnyBytes(rng, cell.num_elements() * element);
      std::ptrdiff_t from = 0;
      test::ForEachElement(cell, [&](const std::vector<std::int64_t>& at) {
        std::copy_n(packed.begin() + from, element,
                    expected.begin() + test::IndexIn(piece, at) * element);
        from += element;
      });
      const CellView view(piece, cell, element, memory.data());
      for (std::size_t done = 0; done < packed.size();) {
        const std::size_t count = 1 + rng() % (packed.size() - done);
        view.Write(static_cast<std::int64_t>(done), std::span(packed).subspan(done, count));
        done += count;
      }
      QVERIFY(memory == expected);
    }
  }

  void copiesBetweenPiecesOfDifferentShape() {
    std::mt19937_64 rng(test::Seed() + 2);
    for (int i = 0; i < 1000; ++i) {
      const Box cell = test::AnyBox(rng, static_cast<int>(rng() % 5), 6);
      const Box source = test::AnyAround(rng, cell, 3);
      const Box target = test::AnyAround(rng, cell, 3);
      const std::int64_t element = kElementSizes[rng() % 4];
      Bytes from = test::AnyBytes(rng, source.num_elements() * element);
      Bytes to = test::AnyBytes(rng, target.num_elements() * element);
      Bytes expected = to;
      test::ForEachElement(cell, [&](const std::vector<std::int64_t>& at) {
        std::copy_n(from.begin() + test::IndexIn(source, at) * element, element,
                    expected.begin() + test::IndexIn(target, at) * element);
      });
      CopyCell(CellView(target, cell, element, to.data()),
               CellView(source, cell, element, from.data()));
      QVERIFY(to == expected);
    }
  }
};
TESSERA_TEST_APPLESS(CellViewTest)
#include "cell_view_test.moc"
