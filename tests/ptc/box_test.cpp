// SPDX-License-Identifier: Apache-2.0
// First, because moc 6.4 cannot parse <concepts>, which <array> begins with, on its own.
#include <QTest>
//
#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "ptc/box.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using Dims = std::vector<Interval>;

static_assert(std::is_trivially_copyable_v<Box>);
static_assert(!std::is_default_constructible_v<Box>, "no box is empty");

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Box B(const Dims& dims) { return *Box::Make(dims); }

/// Calls visit(coordinates) for each element in row-major order.
template <typename Visit>
void ForEachElement(const Box& box, Visit visit) {
  std::vector<std::int64_t> at;
  for (int d = 0; d < box.rank(); ++d) at.push_back(box[d].begin);
  while (true) {
    visit(at);
    int d = box.rank() - 1;
    for (; d >= 0; --d) {
      auto& x = at[static_cast<std::size_t>(d)];
      if (++x < box[d].end) break;
      x = box[d].begin;
    }
    if (d < 0) return;
  }
}

bool Has(const Box& box, const std::vector<std::int64_t>& at) {
  for (int d = 0; d < box.rank(); ++d) {
    const std::int64_t x = at[static_cast<std::size_t>(d)];
    if (x < box[d].begin || x >= box[d].end) return false;
  }
  return true;
}

}  // namespace

class BoxTest : public QObject {
  Q_OBJECT
 private slots:
  void makeRejects_data() {
    QTest::addColumn<Dims>("dims");
    QTest::newRow("empty interval") << Dims{{0, 4}, {3, 3}};
    QTest::newRow("end before begin") << Dims{{4, 1}};
    QTest::newRow("negative begin") << Dims{{-1, 4}};
    QTest::newRow("rank above kMaxRank") << Dims(kMaxRank + 1, Interval{0, 1});
    QTest::newRow("count overflows") << Dims(2, Interval{0, kMax});
  }
  void makeRejects() {
    QFETCH(Dims, dims);
    const auto box = Box::Make(dims);
    QVERIFY(!box);
    QCOMPARE(box.error().code, tessera::ErrorCode::kInvalidArgument);
  }

  void numElementsRejects_data() {
    QTest::addColumn<Shape>("shape");
    QTest::newRow("negative size") << Shape{4, -1};
    QTest::newRow("negative size beside a zero") << Shape{0, -1};
    QTest::newRow("rank above kMaxRank") << Shape(kMaxRank + 1, 1);
    QTest::newRow("product overflows") << Shape{kMax, 2};
  }
  void numElementsRejects() {
    QFETCH(Shape, shape);
    const auto count = NumElements(shape);
    QVERIFY(!count);
    QCOMPARE(count.error().code, tessera::ErrorCode::kInvalidArgument);
  }

  void numElementsCounts() {
    QCOMPARE(*NumElements({}), 1);
    QCOMPARE(*NumElements({3, 0, 5}), 0);
    QCOMPARE(*NumElements({kMax, 2, 0}), 0);
    QCOMPARE(*NumElements({3, 4, 5}), 60);
    QCOMPARE(*NumElements({kMax}), kMax);
  }

  void scalarIsOneElement() {
    QCOMPARE(Box::Scalar().rank(), 0);
    QCOMPARE(Box::Scalar().num_elements(), 1);
    QCOMPARE(*Box::Whole({}), Box::Scalar());
    QCOMPARE(Intersect(Box::Scalar(), Box::Scalar()), std::optional(Box::Scalar()));
    QVERIFY(Contains(Box::Scalar(), Box::Scalar()));
    QVERIFY(Subtract(Box::Scalar(), Box::Scalar()).empty());
    QCOMPARE(ContiguousOffset(Box::Scalar(), Box::Scalar()), std::optional<std::int64_t>(0));
  }

  void wholeOfAnEmptyShapeIsNothing() {
    QVERIFY(!Box::Whole({4, 0}));
    QCOMPARE(*Box::Whole({4, 2}), B({{0, 4}, {0, 2}}));
  }

  void textForms() {
    QCOMPARE(ToString(B({{0, 512}, {3, 256}})), "[0:512,3:256]");
    QCOMPARE(ToString(Box::Scalar()), "[]");
    QCOMPARE(ToString(Shape{3, 256}), "[3,256]");
    QCOMPARE(ToString(Shape{}), "[]");
    QCOMPARE(B({{2, 5}, {0, 7}}).shape(), (Shape{3, 7}));
  }

  void orderIsLexicographic() {
    QVERIFY(B({{0, 4}, {0, 2}}) < B({{0, 4}, {2, 4}}));
    QVERIFY(B({{0, 4}, {2, 4}}) < B({{4, 8}, {0, 2}}));
    QVERIFY(B({{0, 3}}) < B({{0, 4}}));
  }

  void subtractOrderIsFixed() {
    const std::vector<Box> expected{B({{0, 1}, {0, 4}}), B({{3, 4}, {0, 4}}), B({{1, 3}, {0, 1}}),
                                    B({{1, 3}, {3, 4}})};
    QCOMPARE(Subtract(B({{0, 4}, {0, 4}}), B({{1, 3}, {1, 3}})), expected);
  }

  // The pieces must tile `from` exactly: inside it, disjoint from each other and from `hole`,
  // no element lost. Given disjointness, equal counts prove coverage.
  void subtractTilesExactly() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 2000; ++i) {
      const int rank = static_cast<int>(rng() % 4);
      const Box from = tessera::test::AnyBox(rng, rank, 6);
      const Box hole = tessera::test::AnyBox(rng, rank, 6);
      const std::vector<Box> pieces = Subtract(from, hole);
      const auto overlap = Intersect(from, hole);
      std::int64_t count = overlap ? overlap->num_elements() : 0;
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        QCOMPARE(Intersect(pieces[p], from), std::optional(pieces[p]));
        QVERIFY(!Intersect(pieces[p], hole));
        for (std::size_t q = 0; q < p; ++q) QVERIFY(!Intersect(pieces[p], pieces[q]));
        count += pieces[p].num_elements();
      }
      QCOMPARE(count, from.num_elements());
      QVERIFY(std::ssize(pieces) <= std::max(1, 2 * rank));
    }
  }

  // Several holes out of several boxes leave the elements that are in no hole, each once.
  void subtractingOneAfterAnotherLeavesWhatNoneHas() {
    std::mt19937_64 rng(tessera::test::Seed() + 4);
    for (int i = 0; i < 1000; ++i) {
      const int rank = static_cast<int>(rng() % 4);
      const Box from = tessera::test::AnyBox(rng, rank, 6);
      std::vector<Box> holes;
      for (auto n = rng() % 4; n > 0; --n) holes.push_back(tessera::test::AnyBox(rng, rank, 6));
      std::vector<Box> rest = {from};
      for (const Box& hole : holes) rest = Subtract(rest, hole);
      ForEachElement(from, [&](const auto& at) {
        const auto has = [&](const Box& box) { return Has(box, at); };
        QCOMPARE(std::count_if(rest.begin(), rest.end(), has),
                 std::any_of(holes.begin(), holes.end(), has) ? 0 : 1);
      });
      for (const Box& box : rest) QVERIFY(Contains(from, box));
    }
    QVERIFY(Subtract(std::vector<Box>{}, Box::Scalar()).empty());
  }

  void intersectAndContainsAgreeWithElements() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 2000; ++i) {
      const int rank = static_cast<int>(rng() % 4);
      const Box a = tessera::test::AnyBox(rng, rank, 5);
      const Box b = tessera::test::AnyBox(rng, rank, 5);
      std::int64_t common = 0;
      ForEachElement(a, [&](const auto& at) { common += Has(b, at) ? 1 : 0; });
      const auto both = Intersect(a, b);
      QCOMPARE(both ? both->num_elements() : 0, common);
      QCOMPARE(both, Intersect(b, a));
      QCOMPARE(Contains(b, a), common == a.num_elements());
    }
  }

  // The memory positions of the elements of inner in row-major outer, listed one by one.
  void contiguousOffsetAgreesWithElements() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    int contiguous = 0;
    for (int i = 0; i < 4000; ++i) {
      const int rank = static_cast<int>(rng() % 4);
      const Box outer = tessera::test::AnyBox(rng, rank, 4);
      const auto inner = Intersect(outer, tessera::test::AnyBox(rng, rank, 4));
      if (!inner) continue;
      std::vector<std::int64_t> positions;
      std::int64_t position = 0;
      ForEachElement(outer, [&](const auto& at) {
        if (Has(*inner, at)) positions.push_back(position);
        ++position;
      });
      const bool is_range = positions.back() - positions.front() + 1 == inner->num_elements();
      const auto offset = ContiguousOffset(outer, *inner);
      QCOMPARE(offset.has_value(), is_range);
      if (offset) QCOMPARE(*offset, positions.front());
      contiguous += is_range ? 1 : 0;
    }
    QVERIFY(contiguous > 100);
  }
};

TESSERA_TEST_APPLESS(BoxTest)
#include "box_test.moc"
