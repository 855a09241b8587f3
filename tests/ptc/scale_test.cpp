// SPDX-License-Identifier: Apache-2.0
// The cost of layouts, cells and rules for 1,024 devices and 180,000 tensors, as numbers of
// allocations and of lists, which do not depend on the machine.
#include <QTest>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "ptc/layout.h"
#include "ptc/plan/placed_cells.h"
#include "ptc/rules/name_pattern.h"
#include "ptc/rules/rules.h"
#include "tests/support/test_main.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

// Replaces the global operator of the whole test program and only adds the count.
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

using namespace tessera;
using namespace tessera::ptc;

namespace {

constexpr int kLayers = 1000;
constexpr int kTensorsOfLayer = 180;
constexpr int kTensors = kLayers * kTensorsOfLayer;

template <typename Function>
std::int64_t AllocationsOf(const Function& function) {
  const std::int64_t before = allocations.load();
  function();
  return allocations.load() - before;
}

/// JSON with its quotes instead of apostrophes.
std::string Json(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

CollectionPtr ManyTensors() {
  std::vector<TensorSpec> specs;
  specs.reserve(kTensors);
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int t = 0; t < kTensorsOfLayer; ++t) {
      TensorSpec& spec = specs.emplace_back();
      spec.name = "h." + std::to_string(layer) + ".expert." + std::to_string(t) + ".weight";
      spec.dtype = DType::kBF16;
      spec.shape = {64, 32};
      spec.place = StagePlace::kLayer;
      spec.layer = layer;
      spec.rule.dims.resize(2);
      spec.rule.dims[static_cast<std::size_t>(t % 2)].axes = {Axis::kTp};
    }
  }
  return *Collection::Make(std::move(specs), kLayers);
}

/// 1,024 devices in another order than that of ranks.
DeviceMesh Mesh1024(const char* shape) {
  std::vector<DeviceId> devices;
  for (std::int32_t d = 0; d < 1024; ++d) devices.push_back({d % 128, 7 - d / 128});
  return *DeviceMesh::Make(*ParseMeshShape(shape), std::move(devices));
}

}  // namespace

class ScaleTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() { tensors_ = ManyTensors(); }
  void cleanupTestCase() { tensors_.reset(); }

  // A layout that is valid formats no error text and stores nothing per tensor.
  void aLayoutAllocatesNothingPerTensor() {
    DeviceMesh mesh = Mesh1024("dp=16,tp=8,pp=8");
    const std::int64_t count =
        AllocationsOf([&] { QVERIFY(Layout::Make(std::move(mesh), tensors_).has_value()); });
    QVERIFY2(count < 100, qPrintable(QString::number(count)));
  }

  void theHashIsComputedOnceForAllCopies() {
    const Layout layout = *Layout::Make(Mesh1024("dp=16,tp=8,pp=8"), tensors_);
    const Layout copy = layout;
    const std::uint64_t hash = layout.hash();
    std::uint64_t again = 0;
    QCOMPARE(AllocationsOf([&] { again = copy.hash(); }), 0);
    QCOMPARE(again, hash);
    QVERIFY(Layout::Make(Mesh1024("dp=8,tp=8,pp=16"), tensors_)->hash() != hash);
  }

  void everyDeviceIsFoundInALargeMesh() {
    std::vector<DeviceId> devices;
    for (std::int32_t d = 65535; d >= 0; --d) devices.push_back({d % 8192, d / 8192});
    const DeviceMesh mesh = *DeviceMesh::Make(*ParseMeshShape("dp=65536"), devices);
    std::int64_t found = 0;
    const std::int64_t count = AllocationsOf([&] {
      for (std::size_t rank = 0; rank < devices.size(); ++rank) {
        found += mesh.RankOf(devices[rank]) == static_cast<int>(rank);
        found += !mesh.RankOf({devices[rank].node, devices[rank].index + 8});
      }
    });
    QCOMPARE(found, 2 * std::int64_t{65536});
    QCOMPARE(count, 0);
  }

  // Geometry once per kind of tensors, devices once per stage and part: not for each of 184 million
  // pairs of tensors and devices.
  void cellsAreComputedByKindAndPart() {
    const Layout layout = *Layout::Make(Mesh1024("dp=16,tp=8,pp=8"), tensors_);
    const std::int64_t made =
        AllocationsOf([&] { QCOMPARE(PlacedCells(layout, layout).kinds().kinds.size(), 2U); });
    QVERIFY2(made < 20 * std::int64_t{kTensors}, qPrintable(QString::number(made)));
    const PlacedCells cells(layout, layout);
    // Eight stages of eight parts for each of two kinds, listed for holders and for needers.
    QVERIFY2(cells.num_lists() <= 4 * 64, qPrintable(QString::number(cells.num_lists())));
    std::int64_t visited = 0;
    std::int64_t holders_of_all = 0;
    const std::int64_t count = AllocationsOf([&] {
      for (int t = 0; t < kTensors; ++t) {
        cells.ForEach(t, [&](const Box&, const auto& holders, const auto&) {
          ++visited;
          holders_of_all += std::ssize(holders);
        });
      }
    });
    QCOMPARE(count, 0);
    QCOMPARE(visited, 8 * std::int64_t{kTensors});
    QCOMPARE(holders_of_all, 16 * visited);
  }

  void matchingANameAllocatesNothing() {
    const NamePattern pattern = *NamePattern::Parse("**.{layer}.*.{expert}.weight");
    std::int64_t matched = 0;
    const std::int64_t count = AllocationsOf([&] {
      for (const TensorSpec& spec : tensors_->tensors()) {
        const auto match = pattern.Fit(spec.name);
        matched += match && match->layer && match->expert;
      }
    });
    QCOMPARE(matched, std::int64_t{kTensors});
    const NamePattern fitting = *NamePattern::Parse("*.{layer}.*.{expert}.w*");
    const std::int64_t of_fitting = AllocationsOf([&] {
      for (const TensorSpec& spec : tensors_->tensors()) {
        const auto match = fitting.Fit(spec.name);
        matched += match && match->layer == spec.layer && match->expert;
      }
    });
    QCOMPARE(matched, 2 * std::int64_t{kTensors});
    QCOMPARE(count + of_fitting, 0);
  }

  // Strings and vectors of the specs themselves, and a bounded number beside them.
  void rulesAllocateLittlePerTensor() {
    std::string list;
    for (int t = 0; t < kTensorsOfLayer; ++t) {
      list += t == 0 ? "" : ",";
      list += "{'name':'h.{layer}.expert." + std::to_string(t) +
              ".weight','dtype':'bf16','shape':[64,32]}";
    }
    const NamedText tensors{"t.json", Json("{'layers':1000,'tensors':[" + list + "]}")};
    const NamedText rules{
        "r.json",
        Json("{'rules':[{'match':'h.{layer}.norm','cut':'replicate','optional':true},"
             "{'match':'h.{layer}.expert.{expert}.bias','cut':'replicate','optional':true},"
             "{'match':'h.{layer}.**','cut':'colwise'}]}")};
    std::size_t ruled = 0;
    const std::int64_t count = AllocationsOf([&] {
      const auto report = CheckRules(tensors, rules, false);
      QVERIFY(report && report->ok());
      ruled = report->tensors.size();
    });
    QCOMPARE(ruled, std::size_t{kTensors});
    QVERIFY2(count < 40 * std::int64_t{kTensors}, qPrintable(QString::number(count)));
  }

 private:
  CollectionPtr tensors_;
};

TESSERA_TEST_APPLESS(ScaleTest)
#include "scale_test.moc"
